"""The records that everything else passes around. Frozen, few, and importing nothing of ours.

They stand in the order in which a question meets them: what is asked, what is known, what came of it.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

Value = None | int | float | str | bytes
Row = tuple[Value, ...]


def fold(name: str) -> str:
    """A name as SQLite compares it: case counts for nothing in ASCII and for everything elsewhere."""
    return name.lower() if name.isascii() else name.translate(_LOWER)


_LOWER = {ord(letter): letter.lower() for letter in "ABCDEFGHIJKLMNOPQRSTUVWXYZ"}


@dataclass(frozen=True, slots=True)
class Question:
    """What a system may see of a benchmark item. `evidence` is BIRD's word for the hint."""

    id: str
    db_id: str
    text: str
    evidence: str = ""


@dataclass(frozen=True, slots=True)
class Gold:
    """What only `evaluate` and `train` may see of it: a type of its own, so that a leak is a type error."""

    question_id: str
    sql: str
    difficulty: str = ""


@dataclass(frozen=True, slots=True)
class Column:
    """A column, with what a prompt may say about it: descriptions from the catalog, values as examples."""

    name: str
    type: str = ""
    description: str = ""
    value_description: str = ""
    examples: tuple[Value, ...] = ()


@dataclass(frozen=True, slots=True)
class ForeignKey:
    """`columns` of the table that holds it point at `ref_columns` of `ref_table`, pair by pair."""

    columns: tuple[str, ...]
    ref_table: str
    ref_columns: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Table:
    name: str
    columns: tuple[Column, ...]
    primary_key: tuple[str, ...] = ()
    foreign_keys: tuple[ForeignKey, ...] = ()
    kind: Literal["table", "view", "virtual"] = "table"


@dataclass(frozen=True, slots=True)
class Schema:
    """The tables of one database. `skipped` holds a line for everything that could not be read."""

    db_id: str
    tables: tuple[Table, ...]
    skipped: tuple[str, ...] = ()

    def table(self, name: str) -> Table | None:
        """The table of that name, in any case, as SQLite finds it."""
        return next((t for t in self.tables if fold(t.name) == fold(name)), None)

    def column(self, table: str, name: str) -> Column | None:
        """The column of that name in that table, in any case."""
        found = self.table(table)
        columns = found.columns if found else ()
        return next((c for c in columns if fold(c.name) == fold(name)), None)

    def columns(self) -> tuple[tuple[str, str], ...]:
        """Every (table, column), in schema order."""
        return tuple((t.name, c.name) for t in self.tables for c in t.columns)

    def only(self, columns: Iterable[tuple[str, str]]) -> "Schema":
        """The schema cut down to these (table, column) pairs, in its own order.

        A table stays when one of its columns is asked for. What stays keeps its primary key, and both
        ends of every foreign key between tables that stay, as CHESS (appendix A.3) demands: a pruned
        schema can still be joined. A pair that is not in the schema is the caller's mistake.
        """
        known = {(fold(name), fold(column)) for name, column in self.columns()}
        wanted = set()
        for name, column in columns:
            if (fold(name), fold(column)) not in known:
                raise KeyError(f"no column {name}.{column} in the schema of {self.db_id}")
            wanted.add((fold(name), fold(column)))
        names = {name for name, _ in wanted}
        stay = []
        for table in self.tables:
            if fold(table.name) in names:
                keys = tuple(k for k in table.foreign_keys if fold(k.ref_table) in names)
                stay.append(replace(table, foreign_keys=keys))
                wanted |= {(fold(table.name), fold(c)) for c in table.primary_key}
                wanted |= {(fold(table.name), fold(c)) for k in keys for c in k.columns}
                wanted |= {(fold(k.ref_table), fold(c)) for k in keys for c in k.ref_columns}
        return replace(
            self,
            tables=tuple(
                replace(
                    table,
                    columns=tuple(
                        c for c in table.columns if (fold(table.name), fold(c.name)) in wanted
                    ),
                )
                for table in stay
            ),
        )


@dataclass(frozen=True, slots=True)
class ValueMatch:
    """A value of a database that looks like a keyword of the question, and how much.

    `edit` and `semantic` are similarities from 0 to 1, by spelling and by meaning.
    """

    table: str
    column: str
    value: str
    keyword: str
    edit: float
    semantic: float


@dataclass(frozen=True, slots=True)
class DescriptionMatch:
    """What the catalog says of a column, found because it resembles the question."""

    table: str
    column: str
    text: str
    score: float


@dataclass(frozen=True, slots=True)
class Example:
    """A question answered in SQL, to learn from: never one about a database that is evaluated."""

    question: str
    sql: str
    hint: str = ""


@dataclass(frozen=True, slots=True)
class Context:
    """All that a prompt may see of a question: retrieval and pruning make it, generation reads it."""

    question: Question
    schema: Schema
    values: tuple[ValueMatch, ...] = ()
    descriptions: tuple[DescriptionMatch, ...] = ()
    examples: tuple[Example, ...] = ()


_DAY = 86_400
Status = Literal["ok", "empty", "error", "denied", "timeout", "too_large"]


@dataclass(frozen=True, slots=True)
class Limits:
    """What one query may use. Part of an execution's identity: a time-out is remembered with its limit."""

    seconds: float = 30.0
    rows: int = 100_000
    bytes: int = 16_000_000

    def __post_init__(self) -> None:
        if not 0 < self.seconds <= _DAY:  # NaN is not, either
            raise ValueError(f"seconds is {self.seconds:g}: it must be above 0 and at most {_DAY}")
        if self.rows < 0 or self.bytes < 0:
            raise ValueError(f"rows is {self.rows} and bytes {self.bytes}: neither can be below 0")


@dataclass(frozen=True, slots=True)
class Execution:
    """What a database answered.

    `fingerprint` is equal for two complete answers exactly when their sets of rows are equal: BIRD's
    execution accuracy is a comparison of fingerprints. It is "" where there is no complete answer.
    """

    status: Status
    columns: tuple[str, ...] = ()
    rows: tuple[Row, ...] = ()
    row_count: int = 0
    fingerprint: str = ""
    error: str = ""
    seconds: float = field(default=0.0, compare=False)
    truncated: bool = False


Message = Mapping[str, Any]  # {"role": "user", "content": "..."}, as every provider spells it


@dataclass(frozen=True, slots=True)
class Request:
    """One model call. Sample 0, 1, 2... of the same messages are calls of their own.

    `model` names its provider first, as LiteLLM does: "openai/gpt-4o". `prompt`, `question` and `system`
    say what the call is for; they are counted by and are no part of its key.
    """

    prompt: str
    model: str
    messages: Sequence[Message]
    parameters: Mapping[str, Any] = field(default_factory=dict)
    sample: int = 0
    question: str = ""
    system: str = ""


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens as the provider counted them; `cached` are those of the input that it had at a discount."""

    input: int = 0
    output: int = 0
    cached: int = 0


Fault = Literal[
    "rate_limit",
    "server",
    "connection",
    "timeout",
    "malformed",
    "empty",
    "filtered",
    "rejected",
    "",
]


@dataclass(frozen=True, slots=True)
class Completion:
    """What became of a request: an answer, or a `fault` and an `error` that says it in words.

    `cost` is what the call cost in dollars when it was paid, None where no price is known; `cached` says
    that nothing was paid now. A `finish_reason` of "length" marks an answer that the limit cut off.
    """

    text: str
    model: str
    finish_reason: str = ""
    usage: Usage = Usage()
    cost: float | None = None
    key: str = ""
    cached: bool = False
    fault: Fault = ""
    error: str = ""


@dataclass(frozen=True, slots=True)
class Candidate:
    """SQL that a generator proposed; `call_keys` name the model calls behind it."""

    sql: str
    generator: str
    sample: int = 0
    reasoning: str = ""
    call_keys: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Trial:
    """A candidate, what came of running it, and the trial that a fixer made it from."""

    candidate: Candidate
    execution: Execution | None = None
    repaired_from: "Trial | None" = None

    @property
    def history(self) -> tuple["Trial", ...]:
        """The trial and all that it was repaired from, the oldest first."""
        trials = [self]
        while before := trials[-1].repaired_from:
            trials.append(before)
        return tuple(reversed(trials))


@dataclass(frozen=True, slots=True)
class Comparison:
    """A judge saw two trials, by their places, in this order, and preferred one; None if it did not say."""

    first: int
    second: int
    winner: int | None


@dataclass(frozen=True, slots=True)
class Selection:
    """Which trial a selector picked and why. `chosen` is its place among the trials, None among none.

    `scores` has the selector's measure for each trial, in their order; `comparisons` what it asked.
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
        """The trial that was picked."""
        return None if self.chosen is None else self.trials[self.chosen]

    @property
    def sql(self) -> str:
        """The query that was picked; "" where there is none."""
        return self.trial.candidate.sql if self.trial else ""
