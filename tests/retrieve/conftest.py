"""A lab on one database file, whose model has scripted replies."""

import sqlite3
from contextlib import ExitStack, closing

import pytest

from workbench.lab import Lab
from workbench.llm.cache import Cache
from workbench.llm.client import Client
from workbench.llm.send import scripted
from workbench.sql.executor import Executor


@pytest.fixture
def database(tmp_path):
    """Makes a database file of a script, which replaces the one before."""

    def make(script):
        path = tmp_path / "own.sqlite"
        path.unlink(missing_ok=True)
        with closing(sqlite3.connect(path)) as connection:
            connection.executescript(script)
        return path

    return make


@pytest.fixture
def opened(tmp_path):
    """Makes a lab; `lab.client.send` is its model."""
    with ExitStack() as resources:

        def make(path=None, replies=(), **options):
            store = resources.enter_context(Cache(tmp_path / "lab" / "cache.sqlite"))
            executor = resources.enter_context(Executor(store, workers=1))
            client = Client(store, send=scripted(replies), retries=0, **options)
            return Lab(client, executor, lambda _: path)

        yield make
