import sqlite3
from contextlib import closing

import pytest


@pytest.fixture
def database(tmp_path):
    """Makes a database file of a script, or of columns by name, all in the table `t`."""

    def make(script="", file="shop", **columns):
        path = tmp_path / f"{file}.sqlite"
        path.unlink(missing_ok=True)
        with closing(sqlite3.connect(path)) as connection:
            connection.executescript(script)
            for column, cells in columns.items():
                connection.execute(f"CREATE TABLE t_{column} ({column} TEXT)")
                connection.executemany(f"INSERT INTO t_{column} VALUES (?)", [(c,) for c in cells])
            connection.commit()
        return path

    return make
