"""Open a benchmark: BIRD and Spider as unpacked from their public archives, the bundled one, or a user's own file.

The items of BIRD's train split and of Spider have no ids: their positions are their ids. Spider's train split is, as in
the release, the 7,000 items of train_spider.json followed by the 1,659 of train_others.json. Spider's exact match is
defined on the schemas of tables.json, whose foreign keys are not always those that the SQLite files declare.
"""

import json
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from workbench.benchmarks.benchmark import Benchmark, Item, Sense, read_items, read_text
from workbench.errors import BadInputError, fault
from workbench.types import Column, ForeignKey, Gold, Question, Schema, Table

_PACKAGE = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class Release:
    """What is known of a benchmark before it is opened.

    `questions` is its published number of questions, `train` the benchmark whose questions may be learned from, and
    `sense` the sense of EX of its own leaderboard. `url` is the address of its files; a benchmark without one comes
    with the workbench. `ids` is a packaged file with the ids of the questions, where they are some of the file's.
    """

    files: tuple[str, ...]
    databases: str
    questions: int
    train: str
    url: str = ""
    sense: Sense = "bird"
    tables: tuple[str, ...] = ()
    ids: str = ""


_bird = partial(Release, train="bird-train", url="https://bird-bench.github.io")
_spider = partial(
    Release,
    train="spider-train",
    url="https://yale-lily.github.io/spider",
    sense="spider",
    tables=("tables.json",),
)
_bundled = partial(Release, train="bundled-train")
_TRAIN_FILES = ("train_spider.json", "train_others.json")
_TEST_TABLES = ("test_tables.json", "tables.json")
BENCHMARKS: Mapping[str, Release] = {
    "bird-dev": _bird(("dev.json",), "dev_databases", 1534),
    "bird-sds": _bird(("dev.json",), "dev_databases", 147, ids="chess_sds.json"),
    "bird-mini-dev": _bird(("mini_dev_sqlite.json",), "dev_databases", 500),
    "bird-train": _bird(("train.json",), "train_databases", 9428),
    "spider-dev": _spider(("dev.json",), "database", 1034),
    "spider-test": _spider(("test.json",), "test_database", 2147, tables=_TEST_TABLES),
    "spider-train": _spider(_TRAIN_FILES, "database", 8659),
    "bundled-dev": _bundled(("dev.json",), "dev_databases", 278),
    "bundled-train": _bundled(("train.json",), "train_databases", 260),
}
ALIASES = {
    "bird": "bird-dev", "mini-dev": "bird-mini-dev", "spider": "spider-dev", "bundled": "bundled-dev",
}  # fmt: skip


def benchmark_name(name: str) -> str:
    """The name in the table for a name or an alias, or the path if a JSON file is given; "" for an unknown name."""
    own = ALIASES.get(name, name)
    return own if own in BENCHMARKS or name.endswith(".json") else ""


def open_benchmark(name: str, root: str | Path | None = None) -> Benchmark:
    """The benchmark of that name, whose files are in `root`; a bundled benchmark needs no `root`.

    A name that ends in .json is the path of a user's own benchmark, and `root` the folder of its databases.
    Questions about missing databases are left out, with a warning that names the databases.
    """
    own = benchmark_name(name)
    if not own:
        raise BadInputError(
            f"no benchmark {name!r}; there are {', '.join(BENCHMARKS)}, or give a JSON file of your own, NAME.json"
        )
    if root is None and (own not in BENCHMARKS or BENCHMARKS[own].url):
        raise BadInputError(
            f"{name} is not bundled: give --root, the folder where it was unpacked, or the databases of a file of"
            " your own"
        )
    if own in BENCHMARKS:
        bundled = _PACKAGE / "bundled_data" / own.removeprefix("bundled-")
        return _with_databases(_released(own, BENCHMARKS[own], Path(root or bundled)))
    return _with_databases(_own(Path(name), Path(root or "")))


def _released(name: str, release: Release, root: Path) -> Benchmark:
    path, folder = _locate(root, release.files[0], release.databases, name)
    questions, golds = _read_questions(path, *map(path.with_name, release.files[1:]))
    described = [file for table in release.tables if (file := path.with_name(table)).is_file()]
    schemas = {}
    if release.tables:
        source = described[0] if described else path.with_name(release.tables[-1])
        schemas = _schemas(source)
        if unknown := {question.db_id for question in questions} - set(schemas):
            raise BadInputError(f"{source.name} does not describe {', '.join(sorted(unknown))}")
    whole = Benchmark(name, release.sense, folder, questions, golds, schemas)
    if not release.ids:
        return whole
    ids = set(map(str, json.loads((_PACKAGE / release.ids).read_text())))
    if missing := ids - set(golds):
        raise BadInputError(
            f"{path}: {len(missing)} of the {len(ids)} questions of {name} are not in it; give the release of BIRD's dev"
            " set with question ids"
        )
    return replace(whole, questions=tuple(q for q in questions if q.id in ids), every=questions)


def _own(path: Path, databases: Path) -> Benchmark:
    """The questions of a user's file; `databases`, or a folder in it, holds DB/DB.sqlite for each database.

    The items have the fields of BIRD (`question_id`, `db_id`, `question`, `evidence`, `SQL`, `difficulty`) or of
    Spider (`db_id`, `question`, `query`); the fields decide the benchmark's sense of EX.
    """
    questions, golds = _read_questions(path)
    folders = [databases, *sorted(folder for folder in databases.glob("*") if folder.is_dir())]
    filled = [folder for folder in folders if next(folder.glob("*/*.sqlite"), None)]
    if not filled:
        raise BadInputError(f"{databases}: no DB/DB.sqlite in this folder or in a folder in it")
    spider = all("query" in item for item in json.loads(read_text(path)))
    return Benchmark(path.stem, "spider" if spider else "bird", filled[0], questions, golds)


def _read_questions(*paths: Path) -> tuple[tuple[Question, ...], dict[str, Gold]]:
    """The questions of the files and their gold queries by id."""
    questions: list[Question] = []
    golds: dict[str, Gold] = {}
    for path in paths:
        for number, item in enumerate(read_items(path, Item)):
            key = str(len(questions) if item.question_id is None else item.question_id)
            if key in golds:
                raise BadInputError(f"{path}, item {number}: question_id {key} occurs twice")
            questions.append(Question(key, item.db_id, item.text, item.evidence or ""))
            golds[key] = Gold(key, item.sql, item.difficulty or "")
    return tuple(questions), golds


def _with_databases(opened: Benchmark) -> Benchmark:
    """The benchmark without the questions whose databases are missing."""
    asked = opened.questions
    missing = [db_id for db_id in sorted({q.db_id for q in asked}) if not opened.has(db_id)]
    if not missing:
        return opened
    answerable = tuple(question for question in asked if question.db_id not in missing)
    if not answerable:
        raise BadInputError(
            f"{opened.name}: none of its databases is in {opened.databases}; unpack them there"
        )
    warnings.warn(
        f"{opened.name}: {len(asked) - len(answerable):,} of {len(asked):,} questions are left out: in"
        f" {opened.databases} is no database {', '.join(missing)}",
        stacklevel=3,
    )
    return replace(opened, questions=answerable, every=opened.every or asked)


def _locate(root: Path, file: str, folder: str, what: str) -> tuple[Path, Path]:
    """A benchmark's file and the folder of databases beside it, searched in `root` and up to two folders below.

    A file of this name without databases beside it may belong to another benchmark, so it is passed over.
    """
    if not root.is_dir():
        raise BadInputError(f"{root}: no such folder; give the one where {what} was unpacked")
    paths = [path for depth in ("", "*/", "*/*/") for path in sorted(root.glob(depth + file))]
    found = [(path, inside) for path in paths if (inside := _databases(path.parent / folder))]
    nearest = [pair for pair in found if len(pair[0].parts) == len(found[0][0].parts)]
    if len(nearest) > 1:
        places = " and ".join(str(path.parent) for path, _ in nearest)
        raise BadInputError(f"{root}: it contains {what} twice; give one of {places}")
    if not nearest:
        seen = f"{paths[0]} has no folder {folder} with databases beside it" if paths else ""
        seen = seen or f"no {file} in {root} or up to two folders below it"
        raise BadInputError(f"{what}: {seen}; unpack {what} there")
    return nearest[0]


def _databases(folder: Path) -> Path | None:
    """The folder that holds `DB/DB.sqlite`: this one, or a folder of the same name in it, as some tools unpack."""
    places = (folder, folder / folder.name)
    return next((place for place in places if next(place.glob("*/*.sqlite"), None)), None)


def _schemas(path: Path) -> dict[str, Schema]:
    schemas = {}
    for number, entry in enumerate(read_items(path, dict[str, Any])):
        try:
            schema = schema_from_tables_json(entry)
        except (KeyError, IndexError, TypeError, ValueError) as error:
            raise BadInputError(
                f"{path}, item {number}: not a schema in Spider's form ({fault(error)})"
            ) from error
        schemas[schema.db_id] = schema
    return schemas


def schema_from_tables_json(entry: dict[str, Any]) -> Schema:
    """The schema of one database in tables.json, whose column 0 is `*` and is left out."""
    names: list[str] = entry["table_names_original"]
    where: list[tuple[int, str]] = [tuple(pair) for pair in entry["column_names_original"]]
    typed = list(zip(where, entry["column_types"], strict=True))
    # A composite primary key is a list among the numbers in some releases.
    keys = [k for key in entry["primary_keys"] for k in (key if isinstance(key, list) else [key])]
    links = [(where[a], where[b]) for a, b in entry["foreign_keys"]]
    tables = [
        Table(
            name,
            tuple(Column(column, kind) for (table, column), kind in typed if table == number),
            primary_key=tuple(where[key][1] for key in keys if where[key][0] == number),
            foreign_keys=tuple(
                ForeignKey((column,), names[other], (ref,))
                for (table, column), (other, ref) in links
                if table == number
            ),
        )
        for number, name in enumerate(names)
    ]
    return Schema(entry["db_id"], tuple(tables))
