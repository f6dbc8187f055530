"""`workbench index`: build the value indexes of databases before a question needs them."""

import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from workbench.cli import options
from workbench.db.execute import Executor
from workbench.store import Store

if TYPE_CHECKING:
    from workbench.retrieve.index.values import IndexKind


@click.command()
@click.argument("databases", type=click.Path(path_type=Path), nargs=-1, required=True)
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
    help="Folder for the indexes. Default: in WORKBENCH_HOME.",
)
@options.cluster
def index(databases: tuple[Path, ...], kind: str, folder: Path | None, cluster: str) -> None:
    """Index the text values of databases.

    DATABASES are SQLite files. Prints which columns are left out, and why.
    """
    from workbench.retrieve.index.minhash import MinHash  # noqa: PLC0415  numpy: a tenth of a second
    from workbench.retrieve.index.trigram import Trigram  # noqa: PLC0415
    from workbench.retrieve.index.values import build_index, open_index  # noqa: PLC0415

    chosen = MinHash() if kind == "minhash" else Trigram()

    def built_here() -> Iterator[tuple[Path, Path]]:
        for database in databases:
            with options.progress_bar("values") as progress:
                yield database, build_index(database, chosen, folder, progress)

    started = time.monotonic()
    for database, path in _built(cluster, databases, chosen, folder) if cluster else built_here():
        seconds = time.monotonic() - started
        found = open_index(database, chosen, folder)
        print("\n".join(f"left out: {line}" for line in found.skipped))
        print(
            f"{path}: {len(found):,} values of {len(found.columns)} columns, "
            f"{path.stat().st_size / 1e6:,.1f} MB, in {seconds:.1f} s"
        )
        started = time.monotonic()


def _built(
    cluster: str, databases: tuple[Path, ...], kind: "IndexKind", folder: Path | None
) -> Iterator[tuple[Path, Path]]:
    """Each database and its index, built by a worker of the cluster."""
    from workbench.cluster.jobs.indexes import build_on_worker  # noqa: PLC0415
    from workbench.cluster.opening import open_cluster  # noqa: PLC0415  Dask, an extra
    from workbench.lab import Lab  # noqa: PLC0415  as above
    from workbench.llm.client import Client  # noqa: PLC0415
    from workbench.retrieve.index.values import keep_index  # noqa: PLC0415

    paths = {str(database.absolute()): database for database in databases}
    with Store() as store, Executor(store) as executor, open_cluster(cluster) as opened:
        lab = Lab(Client(store), executor, paths.__getitem__)
        build = partial(build_on_worker, kind=kind)
        for name, content in opened.each(build, paths, lab, name=lambda name: ("index", name)):
            yield paths[name], keep_index(paths[name].absolute(), kind, bytes(content), folder)
