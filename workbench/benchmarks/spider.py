"""Spider (dev, test, train) as unpacked from its public archive.

Spider's items have no ids: the position of an item in its file is its id. The train split is, as in the release,
the 7,000 items of train_spider.json followed by the 1,659 of train_others.json, which come from six older
datasets; ids below 7,000 are those of train_spider.json alone.

Spider's exact match is defined on the schemas of tables.json, whose foreign keys are not always those
that the SQLite files declare. The test split has databases of its own in test_database, and releases differ in
whether their schemas stand in test_tables.json or in tables.json.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from workbench.benchmarks.benchmark import Benchmark, locate
from workbench.benchmarks.items import filled_field, read_items
from workbench.errors import BadInputError, fault
from workbench.types import Column, ForeignKey, Gold, Question, Schema, Table


def load_spider(
    root: Path,
    name: str = "spider-dev",
    files: Sequence[str] = ("dev.json",),
    databases: str = "database",
    tables: Sequence[str] = ("tables.json",),
) -> Benchmark:
    """The questions of one split, in the order of its files; its schemas are in the first file of `tables` that exists."""
    first, *others = files
    path, folder = locate(root, first, databases, f"Spider's {name}")
    questions: list[Question] = []
    golds: dict[str, Gold] = {}
    for source in (path, *map(path.with_name, others)):
        for number, item in enumerate(read_items(source)):
            key = str(len(questions))
            db_id = filled_field(item, number, source, "db_id")
            questions.append(Question(key, db_id, filled_field(item, number, source, "question")))
            golds[key] = Gold(key, filled_field(item, number, source, "query"))
    described = [found for table in tables if (found := path.with_name(table)).is_file()]
    source = next(iter(described), path.with_name(tables[-1]))
    schemas = _schemas(source)
    if unknown := {question.db_id for question in questions} - set(schemas):
        raise BadInputError(f"{source.name} does not describe {', '.join(sorted(unknown))}")
    return Benchmark(name, "spider", folder, tuple(questions), golds, schemas)


def _schemas(path: Path) -> dict[str, Schema]:
    schemas = {}
    for number, entry in enumerate(read_items(path)):
        try:
            schema = schema_from_tables_json(entry)
        except (KeyError, IndexError, TypeError, ValueError) as error:
            raise BadInputError(
                f"{path.name}, item {number}: not a schema in Spider's form ({fault(error)})"
            ) from error
        schemas[schema.db_id] = schema
    return schemas


def schema_from_tables_json(entry: dict[str, Any]) -> Schema:
    """The schema of one database in tables.json, whose column 0 is `*` and is left out."""
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
