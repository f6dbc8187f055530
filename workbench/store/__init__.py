"""The cache: one SQLite file with every model reply, query execution and result."""

from workbench.store.store import Store, home

__all__ = ["Store", "home"]
