"""A run in the cache, with its questions, its candidates, and the verdict on each candidate."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from workbench.benchmarks.benchmark import Benchmark
from workbench.db.execute import Executor
from workbench.errors import BadInputError
from workbench.evaluate.ex import ex_verdicts
from workbench.store import Store
from workbench.study.trace import TracedCandidate, candidates_by_question
from workbench.types import Gold, Question

_LISTED = 8  # runs that an error names


@dataclass(frozen=True, slots=True)
class StoredRun:
    """A row of the table `runs`; `system` is the `repr` of the system."""

    id: str
    name: str
    benchmark: str
    system: str
    created: float


@dataclass(frozen=True, slots=True)
class Answered:
    """A question of a run with its final candidates and the verdict on each, in the benchmark's sense of EX."""

    question: Question
    gold: Gold
    difficulty: str
    candidates: tuple[TracedCandidate, ...]
    correct: tuple[bool, ...]

    @property
    def chosen(self) -> int | None:
        """The index of the chosen candidate; None if the question has no answer."""
        return next((n for n, one in enumerate(self.candidates) if one.chosen), None)

    def records(self) -> list[dict[str, Any]]:
        """Each candidate with its verdict, as a record of the exported files."""
        names = ("generator", "sample", "sql", "status", "chosen", "calls")
        return [
            {name: getattr(one, name) for name in names} | {"correct": correct}
            for one, correct in zip(self.candidates, self.correct, strict=True)
        ]


def stored_run(name: str, store: Store) -> StoredRun:
    """The run of that id, or the only run of that name, which may be shortened and spelt as in a table."""
    columns = "id, name, benchmark, system, created"
    runs = [
        StoredRun(*row) for row in store.read(f"SELECT {columns} FROM runs ORDER BY created DESC")
    ]
    found = [run for run in runs if name in {run.id, run.name}]
    if not found and _plain(name):
        found = [run for run in runs if _plain(run.name).startswith(_plain(name))]
    if len(found) == 1:
        return found[0]
    sizes = dict(store.read("SELECT id, json_array_length(selections) FROM runs"))
    possible = found or runs
    listed = ", ".join(
        f"{run.id} ({run.name}, {sizes[run.id]} questions)" for run in possible[:_LISTED]
    )
    if len(possible) > _LISTED:
        listed += f"; these are the newest {_LISTED} of {len(possible)}, and the .json beside a figure has the ids of its runs"
    why = f"{len(found)} runs have the name {name!r}" if found else f"there is no run {name!r}"
    raise BadInputError(
        f"{why} in {store.path}: give the id of one, such as {listed}" if listed else why
    )


def _plain(name: str) -> str:
    """The letters and digits of a name: `CHASE-SQL` in a table is `chase_sql` in the cache."""
    return "".join(filter(str.isalnum, name)).lower()


def answers(
    run: StoredRun, benchmark: Benchmark, executor: Executor, store: Store
) -> Iterator[Answered]:
    """Every question of a run, in the order in which it was asked."""
    rows = [(row, tuple(candidates)) for row, candidates in candidates_by_question(run.id, store)]
    questions = {question.id: question for question in benchmark.every or benchmark.questions}
    for row, _ in rows:
        found = questions.get(row.question_id)
        if found is None or found.db_id != row.db_id:
            raise BadInputError(
                f"run {run.id} is of another {run.benchmark}: {benchmark.name} in {benchmark.databases} has no question"
                f" {row.question_id!r} on {row.db_id}"
            )
    pairs = [(one.question_id, one.sql) for _, candidates in rows for one in candidates]
    distinct = list(dict.fromkeys(pairs))
    correct = dict(zip(distinct, ex_verdicts(benchmark, distinct, executor), strict=True))
    for row, candidates in rows:
        key = row.question_id
        verdicts = tuple(correct[key, one.sql] for one in candidates)
        yield Answered(questions[key], benchmark.golds[key], row.difficulty, candidates, verdicts)
