"""Spider (dev, train) as unpacked from its public archive.

Spider's items have no ids: an item's place in the file is its id. Its exact match is defined on the
schemas of tables.json, whose foreign keys are not always those that the SQLite files declare.
"""

from pathlib import Path
from typing import Any

from workbench.benchmarks.benchmark import Benchmark, find, read_json, text_field
from workbench.errors import BadInputError
from workbench.types import Column, ForeignKey, Gold, Question, Schema, Table

_FILES = {
    "spider-dev": (("dev.json",), ("database",)),
    "spider-train": (("train_spider.json",), ("database",)),
}


def load_spider(root: Path, split: str = "spider-dev") -> Benchmark:
    """The questions of a split, in the file's order."""
    names, folders = _FILES[split]
    path = find(root, names, f"Spider's {split}")
    databases = find(path.parent, folders, "Spider's databases")
    tables = read_json(find(path.parent, ("tables.json",), "Spider's tables.json"))
    items = read_json(path)
    if not isinstance(items, list) or not items:
        raise BadInputError(f"{path}: expected a list of questions")
    questions, golds = [], {}
    for number, item in enumerate(items):
        key, db_id = str(number), text_field(item, number, path, "db_id")
        questions.append(Question(key, db_id, text_field(item, number, path, "question")))
        golds[key] = Gold(key, text_field(item, number, path, "query"))
    schemas = {entry["db_id"]: schema_from_tables_json(entry) for entry in tables}
    if unknown := {question.db_id for question in questions} - set(schemas):
        raise BadInputError(f"tables.json does not describe {', '.join(sorted(unknown))}")
    return Benchmark(split, "spider", databases, tuple(questions), golds, schemas)


def schema_from_tables_json(entry: dict[str, Any]) -> Schema:
    """One database of tables.json. Column 0 there is `*`, which is no column of ours."""
    names: list[str] = entry["table_names_original"]
    where: list[tuple[int, str]] = [tuple(pair) for pair in entry["column_names_original"]]
    types: list[str] = entry["column_types"]
    # A composite primary key is a list among the numbers in some releases.
    keys = [k for key in entry["primary_keys"] for k in (key if isinstance(key, list) else [key])]
    return Schema(
        entry["db_id"],
        tuple(
            Table(
                name,
                tuple(
                    Column(column, kind)
                    for (table, column), kind in zip(where, types, strict=True)
                    if table == number
                ),
                primary_key=tuple(where[k][1] for k in keys if where[k][0] == number),
                foreign_keys=tuple(
                    ForeignKey((where[a][1],), names[where[b][0]], (where[b][1],))
                    for a, b in entry["foreign_keys"]
                    if where[a][0] == number
                ),
            )
            for number, name in enumerate(names)
        ),
    )
