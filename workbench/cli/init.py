"""`workbench init`: the notebooks and experiments as files of one's own."""

import shutil
from pathlib import Path

import click

from workbench.errors import BadInputError
from workbench.study.experiment import shipped


@click.command()
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path))
def init(folder: Path) -> None:
    """Copy the notebooks and the experiments that come with the workbench into FOLDER.

    There, `workbench reproduce embedded` runs them, and `jupyter lab` opens them. Nothing is overwritten.
    """
    parts = ("notebooks", "experiments")
    if there := [name for name in parts if (folder / name).exists()]:
        raise BadInputError(f"{folder} has {' and '.join(there)}: name another folder")
    for name in parts:
        shutil.copytree(shipped(name), folder / name, ignore=shutil.ignore_patterns("__*__*", ".*"))
    print(f"{folder}: notebooks and experiments; in it, run `workbench reproduce embedded`")
