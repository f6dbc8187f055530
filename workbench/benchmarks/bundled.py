"""The benchmark that comes with the workbench, kept as text and built into SQLite at first use.

`bundled_data/SPLIT` mirrors BIRD's layout, with `schema.sql` and one CSV a table in place of each SQLite
file. An empty field is NULL. What is built lies under the workbench's home in a folder named after the
text it was built from, and appears there whole or not at all.
"""

import csv
import hashlib
import shutil
import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path

from workbench.benchmarks.benchmark import Benchmark
from workbench.benchmarks.bird import load_bird
from workbench.db.quoting import quote
from workbench.store import home

_SOURCE = Path(__file__).with_name("bundled_data")


def load_bundled(split: str = "dev") -> Benchmark:
    """The questions of a split over databases of our own invention, in BIRD's layout."""
    return load_bird(_built(_SOURCE / split), "bird-dev", name=f"bundled-{split}")


def _built(source: Path) -> Path:
    files = sorted(path for path in source.rglob("*") if path.is_file())
    digest = hashlib.sha256()
    for path in files:
        digest.update(f"{path.relative_to(source)}\n".encode() + path.read_bytes())
    target = home() / "bundled" / f"{source.name}-{digest.hexdigest()[:16]}"
    if target.is_dir():
        return target
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent) as folder:
        draft = Path(folder) / "draft"
        shutil.copytree(source, draft)
        for schema in sorted(draft.glob("dev_databases/*/schema.sql")):
            _build(schema.parent)
        if not target.is_dir():  # another process may have been faster
            draft.rename(target)
    return target


def _build(folder: Path) -> None:
    """Turn a folder's schema.sql and CSVs into its SQLite file."""
    with closing(
        sqlite3.connect(folder / f"{folder.name}.sqlite", isolation_level=None)
    ) as database:
        database.executescript((folder / "schema.sql").read_text(encoding="utf-8"))
        database.execute("BEGIN")
        for path in sorted(folder.glob("*.csv")):
            with path.open(encoding="utf-8", newline="") as file:
                header, *rows = csv.reader(file)
            columns = ", ".join(map(quote, header))
            database.executemany(
                f"INSERT INTO {quote(path.stem)} ({columns}) VALUES ({', '.join('?' * len(header))})",
                ([field or None for field in row] for row in rows),
            )
            path.unlink()
        database.execute("COMMIT")
    (folder / "schema.sql").unlink()
