"""`workbench data` lists and checks benchmarks; `workbench init` copies the notebooks."""

import shutil
import sys
from pathlib import Path

import click

from workbench.benchmarks.load import BENCHMARKS, check, lacking, open_benchmark
from workbench.cli import options
from workbench.errors import BadInputError
from workbench.llm.cache import Cache
from workbench.sql.executor import Executor
from workbench.study.experiment import shipped


@click.group(invoke_without_command=True)
@click.pass_context
def data(context: click.Context) -> None:
    """List the benchmarks, or check one."""
    if not context.invoked_subcommand:
        for name, found in BENCHMARKS.items():
            place = f"unpack {found.url}, and give --root" if found.url else "comes with the workbench"  # fmt: skip
            print(f"{name:14} {found.questions:6,} questions, EX as {found.sense}; {place}")


@data.command("check")
@click.argument("benchmark")
@options.root
def check_(benchmark: str, root: Path | None) -> None:
    """Run every gold query of a benchmark and read every description, or say which files a folder lacks.

    BENCHMARK is a name, a JSON file of your own with --root for its databases, or the folder where benchmarks were
    unpacked. The exit code is 1 where something is wrong.
    """
    if Path(benchmark).is_dir():
        public = [name for name, found in BENCHMARKS.items() if found.url]
        lacks = {name: lacking(name, Path(benchmark)) for name in public}
        for name, wrong in lacks.items():
            print(f"{name:14} {wrong or 'is complete'}")
        sys.exit(all(lacks.values()))
    with Cache() as store, Executor(store) as executor:
        opened = open_benchmark(benchmark, root)
        complaints = list(check(opened, executor))
    databases = {question.db_id for question in opened.questions}
    print(f"{len(opened.questions)} questions, {len(databases)} databases", *complaints, sep="\n")
    sys.exit(bool(complaints) or not all(opened.has(question.db_id) for question in opened.every))


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
