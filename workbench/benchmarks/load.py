"""Open and check a benchmark: BIRD and Spider as unpacked from their archives, the bundled one, or a user's own file.

An item without an id, as in BIRD's train split and in Spider, has its position as id. Spider's exact match is defined
on the schemas of tables.json, whose foreign keys are not always those that the SQLite files declare. The bundled
benchmark has eight databases written for this project, in BIRD's layout.
"""

import json
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from workbench.benchmarks.benchmark import Benchmark, Item, Sense, read_items
from workbench.errors import BadInputError, fault
from workbench.sql.executor import Executor
from workbench.sql.schema import describe, read_schema
from workbench.types import Column, ForeignKey, Gold, Question, Schema, Table

_DATA = Path(__file__).with_name("bundled_data")


@dataclass(frozen=True, slots=True)
class Release:
    """A benchmark as it is known before its files are read; one without `url` comes with the workbench.

    `questions` is their published number; `train` names the benchmark whose questions may serve as examples.
    """

    files: tuple[str, ...]
    databases: str
    questions: int
    train: str
    url: str = ""
    sense: Sense = "bird"
    tables: tuple[str, ...] = ()


_BIRD = ("bird-train", "https://bird-bench.github.io")
_SPIDER: tuple[str, str, Sense] = ("spider-train", "https://yale-lily.github.io/spider", "spider")
_TRAIN = ("train_spider.json", "train_others.json")
BENCHMARKS = {
    "bird-dev": Release(("dev.json",), "dev_databases", 1534, *_BIRD),
    "bird-sds": Release(("dev.json",), "dev_databases", 147, *_BIRD),
    "bird-mini-dev": Release(("mini_dev_sqlite.json",), "dev_databases", 500, *_BIRD),
    "bird-train": Release(("train.json",), "train_databases", 9428, *_BIRD),
    "spider-dev": Release(("dev.json",), "database", 1034, *_SPIDER, ("tables.json",)),
    "spider-test": Release(("test.json",), "test_database", 2147, *_SPIDER, ("test_tables.json", "tables.json")),
    "spider-train": Release(_TRAIN, "database", 8659, *_SPIDER, ("tables.json",)),
    "bundled-dev": Release(("dev.json",), "dev_databases", 278, "bundled-train"),
    "bundled-train": Release(("train.json",), "train_databases", 260, "bundled-train"),
}  # fmt: skip
_ALIASES = {"bird": "bird-dev", "mini-dev": "bird-mini-dev", "spider": "spider-dev", "bundled": "bundled-dev"}  # fmt: skip


def benchmark_name(name: str) -> str:
    """The name in BENCHMARKS of a name or an alias; the path of a JSON file as it is; "" for another name."""
    own = _ALIASES.get(name, name)
    return own if own in BENCHMARKS or name.endswith(".json") else ""


def open_benchmark(name: str, root: str | Path | None = None) -> Benchmark:
    """The benchmark of that name, whose files are in `root`; a bundled benchmark needs no `root`.

    A name that ends in .json is the path of a user's own benchmark in BIRD's or Spider's fields, and `root` the folder
    of its databases. Questions about missing databases are left out, with a warning that names the databases.

    >>> benchmark = wb.open_benchmark("bundled-dev")
    >>> len(benchmark.questions), benchmark.questions[13].text
    (278, 'How many ships does Hansen & Sons own?')
    """
    own = benchmark_name(name)
    release = BENCHMARKS.get(own)
    if not own:
        given = f"no benchmark {name!r}; there are {', '.join(BENCHMARKS)}"
        raise BadInputError(f"{given}, or give a JSON file of your own, NAME.json")
    if root is None and (not release or release.url):
        raise BadInputError(f"{name} is not bundled: give --root, the folder where it was unpacked")
    folder = Path(root or _DATA / own.removeprefix("bundled-"))
    opened = _released(own, release, folder) if release else _own(Path(name), folder)
    asked = opened.questions
    there = tuple(question for question in asked if opened.has(question.db_id))
    if left := len(asked) - len(there):
        missing = sorted({q.db_id for q in asked} - {q.db_id for q in there})
        said = f"{opened.name}: {left:,} of {len(asked):,} questions are left out: in"
        said += f" {opened.databases} is no database {', '.join(missing)}"
        if not there:
            raise BadInputError(said)
        warnings.warn(said, stacklevel=2)
        opened = replace(opened, questions=there, every=opened.every or asked)
    return opened


def _released(name: str, release: Release, root: Path) -> Benchmark:
    path, folder = _locate(root, release, name)
    questions, golds = _read_questions(path, *map(path.with_name, release.files[1:]))
    opened = Benchmark(name, release.sense, folder, questions, golds)
    if release.tables:
        tables = [path.with_name(table) for table in release.tables]
        source = next(filter(Path.is_file, tables), tables[-1])
        opened = replace(opened, schemas=_schemas(source))
        if unknown := {question.db_id for question in questions} - {*opened.schemas}:
            raise BadInputError(f"{source.name} does not describe {', '.join(sorted(unknown))}")
    if name == "bird-sds":
        ids = set(map(str, json.loads(Path(__file__).with_name("chess_sds.json").read_text())))
        if missing := len(ids - {*golds}):
            raise BadInputError(f"{path} lacks {missing} of the {len(ids)} questions of {name}")
        sample = tuple(question for question in questions if question.id in ids)
        opened = replace(opened, questions=sample, every=questions)
    return opened


def _own(path: Path, root: Path) -> Benchmark:
    questions, golds = _read_questions(path)
    folders = [root, *sorted(folder for folder in root.glob("*") if folder.is_dir())]
    filled = [folder for folder in folders if next(folder.glob("*/*.sqlite"), None)]
    if not filled:
        raise BadInputError(f"{root}: no DB/DB.sqlite in this folder or in a folder in it")
    spider = all("query" in item for item in read_items(path, dict[str, Any]))
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


def _locate(root: Path, release: Release, name: str) -> tuple[Path, Path]:
    """The file and the folder of databases beside it, in `root` or at most two folders below.

    A file without these databases may be another benchmark's, so it is passed over. Some tools unpack a folder into one
    of its own name.
    """
    file, folder = release.files[0], release.databases
    for depth in ("", "*/", "*/*/"):
        found = {
            path: inside
            for path in sorted(root.glob(depth + file))
            for inside in (path.parent / folder / folder, path.parent / folder)
            if next(inside.glob("*/*.sqlite"), None)
        }
        if len(found) > 1:
            several = " and ".join(str(path.parent) for path in found)
            raise BadInputError(f"{root}: it contains {name} twice; give one of {several}")
        if found:
            return found.popitem()
    if not root.is_dir():
        raise BadInputError(f"{root}: no such folder; give the one where {name} was unpacked")
    beside = f"no {file} with databases in {folder} beside it"
    raise BadInputError(f"{name}: {beside} in {root} or up to two folders below; unpack it there")


def _schemas(path: Path) -> dict[str, Schema]:
    schemas = {}
    for number, entry in enumerate(read_items(path, dict[str, Any])):
        try:
            schemas[entry["db_id"]] = Schema(entry["db_id"], tuple(_tables(entry)))
        except (KeyError, IndexError, TypeError, ValueError) as error:
            wrong = f"{path}, item {number}: not a schema in Spider's form ({fault(error)})"
            raise BadInputError(wrong) from error
    return schemas


def _tables(entry: dict[str, Any]) -> Iterator[Table]:
    """The tables of one database in tables.json, whose column 0 is `*` and is left out."""
    names: list[str] = entry["table_names_original"]
    where: list[tuple[int, str]] = [tuple(pair) for pair in entry["column_names_original"]]
    typed = list(zip(where, entry["column_types"], strict=True))
    # A composite primary key is a list among the numbers in some releases.
    keys = [k for key in entry["primary_keys"] for k in (key if isinstance(key, list) else [key])]
    links = [(*where[a], *where[b]) for a, b in entry["foreign_keys"]]
    for number, name in enumerate(names):
        columns = tuple(Column(column, kind) for (at, column), kind in typed if at == number)
        primary = tuple(where[key][1] for key in keys if where[key][0] == number)
        foreign = (ForeignKey((c,), names[to], (ref,)) for at, c, to, ref in links if at == number)
        yield Table(name, columns, primary, tuple(foreign))


def lacking(name: str, folder: Path) -> str:
    """The error with which `open_benchmark` refuses the folder, which names what is missing; "" if it is complete."""
    with warnings.catch_warnings(record=True, action="always") as told:
        try:
            benchmark = open_benchmark(name, folder)
        except BadInputError as error:
            return str(error)
    named = sorted({q.db_id for q in benchmark.questions if benchmark.sense == "bird"})
    bare = [db for db in named if not (benchmark.databases / db / "database_description").is_dir()]
    left = [f"no database_description of {', '.join(bare)}"] if bare else []
    return "; ".join([*(str(warning.message) for warning in told), *left])


def check(benchmark: Benchmark, executor: Executor) -> Iterator[str]:
    """A line for each failing gold query, each repeated question, and each unreadable part of a database."""
    asked: dict[tuple[str, str], str] = {}
    jobs = [(benchmark.database(q.db_id), benchmark.golds[q.id].sql) for q in benchmark.questions]
    for question, ran in zip(benchmark.questions, executor.execute_many(jobs), strict=True):
        if ran.status != "ok":
            yield f"question {question.id}: the gold query gives {ran.error or 'no rows'}"
        text = " ".join(question.text.casefold().split())
        if (first := asked.setdefault((question.db_id, text), question.id)) != question.id:
            yield f"question {question.id}: the same as {first}"
    for path in dict.fromkeys(path for path, _ in jobs):
        folder, schema = path.parent / "database_description", read_schema(path)
        schema = describe(schema, folder) if folder.is_dir() else schema
        yield from (f"database {schema.db_id}: {line}" for line in schema.skipped)


def bundled_splits() -> dict[str, str]:
    """The split of each bundled database, dev or train, by the name of the database."""
    files = sorted(_DATA.glob("*/*_databases/*/*.sqlite"))
    return {file.stem: file.relative_to(_DATA).parts[0] for file in files}


@dataclass(frozen=True, slots=True)
class Flaw:
    """A fault that a bundled question has on purpose, as real benchmarks have them; `sql` is right where a query can be."""

    question_id: str
    kind: str
    note: str
    sql: str = ""


def known_flaws(benchmark: Benchmark) -> tuple[Flaw, ...]:
    """The flaws of a bundled benchmark's questions; () for another benchmark."""
    if benchmark.name not in {"bundled-dev", "bundled-train"}:
        return ()
    file = _DATA / benchmark.name.removeprefix("bundled-") / "flaws.json"
    return tuple(Flaw(**one) for one in json.loads(file.read_text("utf-8")))
