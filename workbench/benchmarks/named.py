"""The table of benchmarks. A new benchmark is a new record, and a loader if its files have a form of their own."""

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from workbench.benchmarks.benchmark import Benchmark, Sense
from workbench.benchmarks.bird import load_bird
from workbench.benchmarks.bundled import load_bundled
from workbench.benchmarks.items import read_items, read_questions
from workbench.benchmarks.spider import load_spider
from workbench.errors import BadInputError


@dataclass(frozen=True, slots=True)
class BenchmarkRecord:
    """The facts about a benchmark that are known before it is opened.

    `load` takes the folder where it was unpacked, and its name. `questions` is its published number of questions,
    `train` the benchmark whose questions may be learned from, and `sense` the sense of EX of its own
    leaderboard. `url` is the address of its files; a benchmark without one comes with the workbench.
    """

    name: str
    load: Callable[[Path, str], Benchmark]
    questions: int
    train: str
    sense: Sense = "bird"
    url: str = ""
    alias: str = ""


_bird = partial(BenchmarkRecord, train="bird-train", url="https://bird-bench.github.io")
_spider = partial(
    BenchmarkRecord,
    train="spider-train",
    sense="spider",
    url="https://yale-lily.github.io/spider",
)
_spider_test = partial(
    load_spider,
    files=("test.json",),
    databases="test_database",
    tables=("test_tables.json", "tables.json"),
)
_spider_train = partial(load_spider, files=("train_spider.json", "train_others.json"))


def _bundled(_root: Path, name: str) -> Benchmark:
    return load_bundled(name.removeprefix("bundled-"))


_RECORDS = (
    _bird("bird-dev", load_bird, 1534, alias="bird"),
    _bird("bird-mini-dev", partial(load_bird, file="mini_dev_sqlite.json"), 500, alias="mini-dev"),
    _bird("bird-train", partial(load_bird, file="train.json", databases="train_databases"), 9428),
    _spider("spider-dev", load_spider, 1034, alias="spider"),
    _spider("spider-test", _spider_test, 2147),
    _spider("spider-train", _spider_train, 8659),
    BenchmarkRecord("bundled-dev", _bundled, 278, "bundled-train", alias="bundled"),
    BenchmarkRecord("bundled-train", _bundled, 260, "bundled-train"),
)
BENCHMARKS: Mapping[str, BenchmarkRecord] = {record.name: record for record in _RECORDS}


def benchmark_name(name: str) -> str:
    """The name in the table for a name or an alias, or the path if a JSON file is given; "" for an unknown name."""
    if name.endswith(".json"):
        return name
    return next((r.name for r in _RECORDS if name and name in {r.name, r.alias}), "")


def open_benchmark(name: str, root: str | Path | None = None) -> Benchmark:
    """The benchmark of that name, whose files are in `root`; a bundled benchmark needs no `root`.

    A name that ends in .json is the path of a user's own benchmark, and `root` the folder of its databases.
    Questions about missing databases are left out, with a warning that names the databases.
    """
    root = None if root is None else Path(root)
    if name.endswith(".json"):
        return _with_databases(_own(Path(name), root))
    record = BENCHMARKS.get(benchmark_name(name))
    if not record:
        raise BadInputError(
            f"no benchmark {name!r}; there are {', '.join(BENCHMARKS)}, or give a JSON file of your own, NAME.json"
        )
    if record.url and root is None:
        raise BadInputError(f"{name} is not bundled: give --root, the folder where it was unpacked")
    return _with_databases(replace(record.load(root or Path(), record.name), sense=record.sense))


def _own(path: Path, databases: Path | None) -> Benchmark:
    """The questions of a user's file; `databases`, or a folder in it, holds DB/DB.sqlite for each database.

    The items have the fields of BIRD (`question_id`, `db_id`, `question`, `evidence`, `SQL`, `difficulty`) or of
    Spider (`db_id`, `question`, `query`); the fields decide the benchmark's sense of EX. The published variants of
    Spider are read without changes: Spider-Syn, Spider-DK, Spider-Realistic, and the files of examples of KaggleDBQA.
    """
    if databases is None:
        raise BadInputError(f"{path}: give --root, the folder with DB/DB.sqlite for each database")
    items = read_items(path)
    questions, golds = read_questions(items, path)
    folders = [databases, *sorted(folder for folder in databases.glob("*") if folder.is_dir())]
    filled = [folder for folder in folders if next(folder.glob("*/*.sqlite"), None)]
    if not filled:
        raise BadInputError(f"{databases}: no DB/DB.sqlite in this folder or in a folder in it")
    sense: Sense = "spider" if all("query" in item for item in items) else "bird"
    return Benchmark(path.stem, sense, filled[0], questions, golds)


def _with_databases(opened: Benchmark) -> Benchmark:
    """The benchmark without the questions whose databases are missing."""
    every = opened.questions
    missing = [db_id for db_id in sorted({q.db_id for q in every}) if not opened.has(db_id)]
    if not missing:
        return opened
    answerable = tuple(question for question in every if question.db_id not in missing)
    if not answerable:
        raise BadInputError(
            f"{opened.name}: none of its databases is in {opened.databases}; unpack them answerable"
        )
    warnings.warn(
        f"{opened.name}: {len(every) - len(answerable):,} of {len(every):,} questions are left out: in"
        f" {opened.databases} is no database {', '.join(missing)}",
        stacklevel=2,
    )
    return replace(opened, questions=answerable, every=every)
