"""Test-suite accuracy: a query is right if it equals gold on the benchmark's database and on generated databases.

Zhong, Yu and Klein (2020) draw a thousand databases at random and keep those that tell gold from its mutants. Here
a search makes a database for each mutant that the databases so far do not tell from gold (`differ.search`), for
any benchmark. As in their suites, only columns that hold NULL in real rows get NULL. Unlike in their suites, a
database on which gold has several results, for example because rows tie at its LIMIT, is left out: a right query
could return another of these results.
"""

import itertools
import os
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import orjson
import pandas as pd

from workbench.benchmarks.benchmark import Benchmark, Sense
from workbench.canonical import content_hash
from workbench.db.execute import Executor
from workbench.db.sandbox.small import SmallDatabase
from workbench.db.sql.derived.mutants import Mutant, mutants
from workbench.differ.pair import Pair
from workbench.differ.rules import schema_of
from workbench.differ.search import needed_rules, tell_apart
from workbench.evaluate.ex import equal, spider_text
from workbench.store import home
from workbench.types import Limits, Question

_VERSION = 3  # a part of the cache key; raise it if suites change
_LIMITS = Limits(seconds=30.0, rows=20_000, bytes=2_000_000)


@dataclass(frozen=True, slots=True)
class Suite:
    """Makes the databases of a question's suite from its gold query, or reads them from the cache.

    `mutants` is the number of mutants of gold, taken from all kinds in turn, for which a database is searched;
    `tries` is the most databases tried for one mutant, and `seed` the seed of the search.
    """

    mutants: int = 12
    tries: int = 96
    seed: int = 0

    def __call__(
        self, benchmark: Benchmark, question: Question, executor: Executor
    ) -> list[SmallDatabase]:
        database = benchmark.database(question.db_id)
        sense = benchmark.sense
        gold = _text(benchmark.golds[question.id].sql, sense)
        content = executor.fingerprints([database])[database]
        key = content_hash("suite", [_VERSION, self, sense, gold, content])
        file = home() / "suites" / f"{key.removeprefix('suite:')}.json"
        if file.is_file():
            return [SmallDatabase.from_json(one) for one in orjson.loads(file.read_bytes())]
        made = self._made(database, gold, sense, executor)
        file.parent.mkdir(parents=True, exist_ok=True)
        draft = file.with_suffix(f".{os.getpid()}.draft")
        draft.write_bytes(orjson.dumps([one.as_json() for one in made]))
        draft.replace(file)
        return made

    def _made(
        self, database: Path, gold: str, sense: Sense, executor: Executor
    ) -> list[SmallDatabase]:
        search = partial(tell_apart, tries=self.tries, seed=self.seed, nulls=False, shrink=False)
        made: list[SmallDatabase] = []
        for mutant in _of_all_kinds(mutants(gold, schema_of(database)), self.mutants):
            queries = (gold, mutant.sql)
            # A mutant that an earlier database of the suite tells apart needs no database of its own.
            told = executor.execute_in_memory(made, queries, _LIMITS)
            if any(answer and not equal(answer[1], answer[0], gold, sense) for answer in told):
                continue
            outcome = search(database, *queries, executor, sense)
            if outcome.database:
                pair = Pair(*queries, sense, needed_rules(database, queries), executor)
                rows = {name: list(content) for name, content in outcome.database.rows.items()}
                if pair.first_is_certain(rows):
                    made.append(outcome.database)
        return made


def suite_verdicts(
    suite: Suite,
    benchmark: Benchmark,
    question: Question,
    queries: Collection[str],
    executor: Executor,
) -> dict[str, bool]:
    """Whether each query equals gold, in the benchmark's sense, on all databases of the question's suite."""
    sense = benchmark.sense
    databases = suite(benchmark, question, executor)
    gold = _text(benchmark.golds[question.id].sql, sense)
    texts = [gold, *(_text(sql, sense) for sql in queries)]
    answers = executor.execute_in_memory(databases, texts, _LIMITS) if databases else []
    return {
        sql: all(
            answer is None or equal(answer[number], answer[0], gold, sense) for answer in answers
        )
        for number, sql in enumerate(queries, 1)
    }


def on_suites(
    suite: Suite,
    benchmark: Benchmark,
    verdicts: pd.DataFrame,
    executor: Executor,
    progress: Callable[[int, int], None] | None = None,
) -> "pd.Series[float]":
    """For each verdict, 1 if the query is right on the benchmark's database and on all databases of the suite, else 0.

    Only queries that are right on the benchmark's database run on the suite.
    """
    right = verdicts[verdicts[f"ex_{benchmark.sense}"] > 0]
    by_question = {
        str(name): list(sqls.unique()) for name, sqls in right.groupby("question_id")["sql"]
    }
    asked = [question for question in benchmark.questions if question.id in by_question]
    accepted: set[tuple[str, str]] = set()
    for done, question in enumerate(asked, 1):
        equal = suite_verdicts(suite, benchmark, question, by_question[question.id], executor)
        accepted |= {(question.id, sql) for sql, is_equal in equal.items() if is_equal}
        if progress:
            progress(done, len(asked))
    pairs = zip(verdicts["question_id"], verdicts["sql"], strict=True)
    return pd.Series([float(pair in accepted) for pair in pairs], verdicts.index)


def _text(sql: str, sense: Sense) -> str:
    return spider_text(sql) if sense == "spider" else sql


def _of_all_kinds(given: list[Mutant], count: int) -> list[Mutant]:
    """`count` of the mutants: the first of each kind before the second of any kind."""
    places: dict[str, Iterator[int]] = defaultdict(itertools.count)  # by kind
    return sorted(given, key=lambda mutant: next(places[mutant.kind]))[:count]
