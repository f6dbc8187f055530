"""The records that all packages share. They are frozen, and this package imports no other.

Records of databases are in `schema`, records of model calls in `calls`. The others are here, in the order in
which a system makes them for a question: question, context, execution, candidate, selection.
"""

from dataclasses import dataclass, field
from typing import Literal, get_args

from workbench.types.calls import Completion as Completion
from workbench.types.calls import Fault as Fault
from workbench.types.calls import Message as Message
from workbench.types.calls import Request as Request
from workbench.types.calls import Usage as Usage
from workbench.types.schema import Column as Column
from workbench.types.schema import ForeignKey as ForeignKey
from workbench.types.schema import Row as Row
from workbench.types.schema import Schema as Schema
from workbench.types.schema import Table as Table
from workbench.types.schema import Value as Value
from workbench.types.schema import lower_name as lower_name


@dataclass(frozen=True, slots=True)
class Question:
    """A benchmark's question without its gold query: all that a system may see.

    `db_id` names the database. `evidence` is BIRD's word for a hint that comes with the question.
    """

    id: str
    db_id: str
    text: str
    evidence: str = ""


@dataclass(frozen=True, slots=True)
class Gold:
    """A question's gold query. It has a type of its own, so that giving it to a step is a type error.

    `difficulty` is the benchmark's label, such as "simple"; "" if it has none.
    """

    question_id: str
    sql: str
    difficulty: str = ""


@dataclass(frozen=True, slots=True)
class ValueMatch:
    """A database value that resembles `keyword`, a keyword of the question.

    `edit` and `semantic` are similarities from 0 to 1, of spelling and of meaning.
    """

    table: str
    column: str
    value: str
    keyword: str
    edit: float
    semantic: float


@dataclass(frozen=True, slots=True)
class DescriptionMatch:
    """A column's description that resembles the question; `score` is their similarity, from 0 to 1."""

    table: str
    column: str
    text: str
    score: float


@dataclass(frozen=True, slots=True)
class Example:
    """A question with its SQL, as an example in a prompt; never one about an evaluated database."""

    question: str
    sql: str
    hint: str = ""


@dataclass(frozen=True, slots=True)
class Context:
    """All that a prompt may show for a question. Retrieval and pruning make it, and generators read it."""

    question: Question
    schema: Schema
    values: tuple[ValueMatch, ...] = ()
    descriptions: tuple[DescriptionMatch, ...] = ()
    examples: tuple[Example, ...] = ()


_DAY = 86_400
Status = Literal["ok", "empty", "error", "denied", "timeout", "too_large"]

Suspect = Literal["failed", "empty", "nulls"]
"""Which results are suspect. "failed": those of failed queries. "empty": also those without rows. "nulls": also
those whose rows hold only NULL, as an aggregate over no rows gives."""
SUSPECT: tuple[str, ...] = get_args(Suspect)


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of one query: its seconds, and the rows and bytes of its result.

    An execution's cache key includes them, so a time-out is cached with its limit.
    """

    seconds: float = 30.0
    rows: int = 100_000
    bytes: int = 16_000_000

    def __post_init__(self) -> None:
        if not 0 < self.seconds <= _DAY:  # also refuses NaN
            raise ValueError(f"seconds is {self.seconds:g}: it must be above 0 and at most {_DAY}")
        if self.rows < 0 or self.bytes < 0:
            raise ValueError(f"rows is {self.rows} and bytes {self.bytes}: neither can be below 0")


@dataclass(frozen=True, slots=True)
class Execution:
    """The result of running a query.

    `status` is "ok" with rows and "empty" without; every other status is a failure that `error` describes.
    `row_count` is the number of `rows`; with `truncated`, the query has more. Two complete results have the
    same `fingerprint` exactly if their sets of rows are equal, which is BIRD's execution accuracy; it is ""
    for an incomplete result. `transient` marks a failure that may pass, such as a locked database.
    Comparisons of executions ignore `seconds`.
    """

    status: Status
    columns: tuple[str, ...] = ()
    rows: tuple[Row, ...] = ()
    row_count: int = 0
    fingerprint: str = ""
    error: str = ""
    seconds: float = field(default=0.0, compare=False)
    truncated: bool = False
    transient: bool = False

    @property
    def is_complete(self) -> bool:
        """Whether the query ran to its end, with rows or without."""
        return self.status in {"ok", "empty"}

    def is_suspect(self, suspect: Suspect) -> bool:
        """Whether `suspect` covers this result."""
        if self.status == "empty":
            return suspect != "failed"
        only_nulls = bool(self.rows) and all(cell is None for row in self.rows for cell in row)
        return self.status != "ok" or (suspect == "nulls" and only_nulls)


@dataclass(frozen=True, slots=True)
class Candidate:
    """A query that a generator made.

    `sample` numbers the generator's candidates for a question. `reasoning` is the model's text before the
    SQL. `call_keys` are the cache keys of the model calls behind the candidate. `problem` says why there is
    no SQL; "" where there is.
    """

    sql: str
    generator: str
    sample: int = 0
    reasoning: str = ""
    call_keys: tuple[str, ...] = ()
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Trial:
    """A candidate, its execution if it was run, and the trial from which it was repaired, if any."""

    candidate: Candidate
    execution: Execution | None = None
    repaired_from: "Trial | None" = None

    @property
    def history(self) -> tuple["Trial", ...]:
        """The trial and all trials from which it was repaired, the oldest first."""
        trials = [self]
        while before := trials[-1].repaired_from:
            trials.append(before)
        return tuple(reversed(trials))


@dataclass(frozen=True, slots=True)
class Comparison:
    """A judge's preference between two trials.

    `first` and `second` are the trials' indices in the order in which the judge saw them; `winner` is one of
    the two, None if the judge's reply names neither.
    """

    first: int
    second: int
    winner: int | None


@dataclass(frozen=True, slots=True)
class Selection:
    """The trial that a selector chose, and why.

    `chosen` is its index in `trials`, None if there are no trials. `selector` is the selector's name. `scores` has
    its score of each trial, in their order, and `comparisons` the judge's preferences that it used.
    """

    question_id: str
    trials: tuple[Trial, ...]
    chosen: int | None
    selector: str
    scores: tuple[float, ...] = ()
    comparisons: tuple[Comparison, ...] = ()
    call_keys: tuple[str, ...] = ()

    @property
    def trial(self) -> Trial | None:
        """The chosen trial, or None."""
        return None if self.chosen is None else self.trials[self.chosen]

    @property
    def sql(self) -> str:
        """The chosen query, "" if there is none."""
        return self.trial.candidate.sql if self.trial else ""
