"""Build value indexes on workers; the driver keeps them."""

from workbench.lab import Lab
from workbench.retrieve.index.values import IndexKind, build_index


def build_on_worker(database: str, lab: Lab, *, kind: IndexKind) -> bytes:
    """The content of the index file of a database, built on a worker."""
    folder = lab.client.store.path.parent / "indexes"
    return build_index(lab.database(database), kind, folder).read_bytes()
