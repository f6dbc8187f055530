"""The benchmark that comes with the workbench, kept as text and built into SQLite at first use.

`bundled_data/SPLIT` mirrors BIRD's layout, with `schema.sql` and one CSV a table in place of each SQLite
file. An empty field is NULL. The databases are built in the workbench's home, in a folder named after a hash
of the text, which is moved into place when it is complete. Training uses the questions of the split train, evaluation
those of dev; `flaws.json` lists the few questions that are flawed on purpose.
"""

import csv
import hashlib
import sqlite3
import tempfile
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from workbench.benchmarks.benchmark import Benchmark
from workbench.benchmarks.bird import load_bird
from workbench.benchmarks.items import read_items, text_field
from workbench.errors import BadInputError, StoreError
from workbench.sql.schema_text import quote
from workbench.store import home

_SOURCE = Path(__file__).with_name("bundled_data")


def load_bundled(split: str = "dev") -> Benchmark:
    """The questions of a split, on databases written for this project in BIRD's layout."""
    source = _source(split)
    try:
        return load_bird(_built(source), f"bundled-{split}", f"{split}.json", f"{split}_databases")
    except (OSError, sqlite3.OperationalError) as error:
        raise StoreError(
            f"no bundled databases could be built in {home()}: {error}; set WORKBENCH_HOME to another"
            " folder"
        ) from error


def bundled_splits() -> dict[str, str]:
    """The split of each bundled database, by name; nothing is built."""
    return {
        folder.name: split
        for split in ("dev", "train")
        for folder in sorted((_SOURCE / split / f"{split}_databases").iterdir())
    }


@dataclass(frozen=True, slots=True)
class Flaw:
    """The deliberate fault of a question, and the right query, or "" if no query can be right."""

    question_id: str
    kind: str
    note: str
    sql: str = ""


def load_flaws(split: str = "dev") -> tuple[Flaw, ...]:
    """The questions of a split that are flawed on purpose, in the ways of real benchmarks."""
    path = _source(split) / "flaws.json"
    fields = ("question_id", "flaw", "note", "SQL")
    return tuple(
        Flaw(*(text_field(item, number, path, field) for field in fields))
        for number, item in enumerate(read_items(path))
    )


def _source(split: str) -> Path:
    splits = sorted(path.name for path in _SOURCE.iterdir() if path.is_dir())
    if split not in splits:
        raise BadInputError(f"no bundled split {split!r}; there are {', '.join(splits)}")
    return _SOURCE / split


def _built(source: Path) -> Path:
    """The folder built from the source, named after a hash of the texts and of this module."""
    texts = {
        path.relative_to(source).as_posix(): path.read_bytes()
        for path in sorted(source.rglob("*"))
        if path.is_file()
    }
    digest = hashlib.sha256(Path(__file__).read_bytes())
    for name, text in texts.items():
        digest.update(f"{name}\n{len(text)}\n".encode() + text)
    target = home() / "bundled" / f"{source.name}-{digest.hexdigest()[:16]}"
    if target.is_dir():
        return target
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent) as folder:
        draft = Path(folder) / "draft"
        for name, text in texts.items():
            (draft / name).parent.mkdir(parents=True, exist_ok=True)
            (draft / name).write_bytes(text)
        for schema in sorted(draft.glob("*/*/schema.sql")):
            _build(schema.parent)
        try:
            draft.rename(target)
        except OSError:
            if not target.is_dir():  # else another process was faster
                raise
    return target


def _build(folder: Path) -> None:
    """Turn a folder's schema.sql and CSVs into its SQLite file."""
    with closing(
        sqlite3.connect(folder / f"{folder.name}.sqlite", isolation_level=None)
    ) as database:
        # Tables and rows are written in one transaction, since each transaction waits for the disk.
        database.executescript("BEGIN;\n" + (folder / "schema.sql").read_text(encoding="utf-8"))
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
