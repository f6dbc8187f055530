"""`workbench index`: build the value index of a database before a question needs it."""

import time
from pathlib import Path

import click

from workbench.cli import options


@click.command()
@click.argument("database", type=click.Path(path_type=Path))
@click.option(
    "--kind",
    type=click.Choice(["trigram", "minhash"]),
    default="trigram",
    show_default=True,
    help="minhash is the papers' method, with CHESS's parameters.",
)
@click.option(
    "--folder",
    type=click.Path(path_type=Path, file_okay=False),
    help="Folder for the index. Default: in WORKBENCH_HOME.",
)
def index(database: Path, kind: str, folder: Path | None) -> None:
    """Index the text values of a database.

    DATABASE is an SQLite file. Prints which columns are left out, and why.
    """
    from workbench.retrieve.index.minhash import MinHash  # noqa: PLC0415  numpy: a tenth of a second
    from workbench.retrieve.index.trigram import Trigram  # noqa: PLC0415
    from workbench.retrieve.index.values import build_index, open_index  # noqa: PLC0415

    chosen = MinHash() if kind == "minhash" else Trigram()
    started = time.monotonic()
    with options.progress_bar("values") as progress:
        path = build_index(database, chosen, folder, progress)
    seconds = time.monotonic() - started
    found = open_index(database, chosen, folder)
    print("\n".join(f"left out: {line}" for line in found.skipped))
    print(
        f"{path}: {len(found):,} values of {len(found.columns)} columns, "
        f"{path.stat().st_size / 1e6:,.1f} MB, in {seconds:.1f} s"
    )
