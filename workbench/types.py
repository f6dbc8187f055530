"""The records that all packages share, all frozen: of databases, of answers, of model calls."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import chain
from string import ascii_lowercase, ascii_uppercase
from typing import Any, Literal, get_args

Value = None | int | float | str | bytes
Row = tuple[Value, ...]
_LOWER = str.maketrans(ascii_uppercase, ascii_lowercase)


@lru_cache(maxsize=65536)  # every step compares the names of a few schemas
def lower_name(name: str) -> str:
    """Return the name as SQLite compares names: only ASCII letters lose their case."""
    return name.lower() if name.isascii() else name.translate(_LOWER)


@dataclass(frozen=True, slots=True)
class Column:
    """A column and what a prompt may show of it: the catalog's texts, and examples of values."""

    name: str
    type: str = ""
    description: str = ""
    value_description: str = ""
    examples: tuple[Value, ...] = ()
    expanded: str = ""  # a longer name


@dataclass(frozen=True, slots=True)
class ForeignKey:
    """`columns` of the table with the key refer to `ref_columns` of `ref_table`, pair by pair."""

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
    """The tables of one database; `skipped` has a line for each part that could not be read."""

    db_id: str
    tables: tuple[Table, ...]
    skipped: tuple[str, ...] = ()

    def __hash__(self) -> int:
        """Return a hash of each table's name, size and first column.

        Hashing every text would take a millisecond at each cache lookup.
        """
        parts = [(t.name, len(t.columns), *t.columns[:1]) for t in self.tables]
        return hash((self.db_id, *parts))

    def table(self, name: str) -> Table | None:
        """Return the table of that name, in any case, as in SQLite; or None."""
        return next(
            (t for t in self.tables if lower_name(t.name) == lower_name(name)), None
        )

    def column(self, table: str, name: str) -> Column | None:
        """Return the column of that name in that table, in any case; or None."""
        owner = self.table(table)
        columns = owner.columns if owner else ()
        return next(
            (c for c in columns if lower_name(c.name) == lower_name(name)), None
        )

    def columns(self) -> tuple[tuple[str, str], ...]:
        """Return every (table, column), in schema order."""
        return tuple((t.name, c.name) for t in self.tables for c in t.columns)

    def only(self, columns: Iterable[tuple[str, str]]) -> "Schema":
        """Return the schema with only these (table, column) pairs, in its own order.

        A table keeps its primary key and its foreign keys to tables that stay, with the columns on
        both sides, as in CHESS (appendix A.3): a pruned schema can still be joined.
        """
        wanted: dict[str, set[str]] = {}  # the columns of each table that stays
        for name, column in columns:
            if not self.column(name, column):
                message = f"no column {name}.{column} in the schema of {self.db_id}"
                raise KeyError(message)
            wanted.setdefault(lower_name(name), set()).add(lower_name(column))

        tables = []
        for table in self.tables:
            if lower_name(table.name) in wanted:
                keys = [
                    k for k in table.foreign_keys if lower_name(k.ref_table) in wanted
                ]
                tables.append(replace(table, foreign_keys=tuple(keys)))
        # A key may name columns of another table, so all come before a table is pruned.
        for table in tables:
            names = wanted[lower_name(table.name)]
            names.update(map(lower_name, table.primary_key))
            for key in table.foreign_keys:
                ref_names = wanted[lower_name(key.ref_table)]
                names.update(map(lower_name, key.columns))
                ref_names.update(map(lower_name, key.ref_columns))

        pruned = []
        for table in tables:
            names = wanted[lower_name(table.name)]
            kept = tuple(
                part for part in table.columns if lower_name(part.name) in names
            )
            pruned.append(replace(table, columns=kept))
        return replace(self, tables=tuple(pruned))


@dataclass(frozen=True, slots=True)
class Question:
    """A benchmark's question without its gold query: all that a system may see."""

    id: str
    db_id: str
    text: str
    evidence: str = ""  # BIRD's word for a hint


@dataclass(frozen=True, slots=True)
class StoredResult:
    """A right answer whose rows are stored as the text of a CSV file, as Spider2 does.

    A result meets it if every column that counts equals some column of the result, under whatever
    name and at whatever place; the result may have more columns.
    """

    csv: str
    columns: tuple[int, ...] = ()  # those that count, from 0; all where there are none
    ordered: bool = False  # whether the order of rows counts
    tolerance: float = 0.01  # between two equal numbers


@dataclass(frozen=True, slots=True)
class Gold:
    """A question's gold query. As it has a type of its own, giving it to a step is a type error.

    An answer is right if it meets `sql` or one of the `others`. Where `results` are stored, they
    alone decide: an answer is right if it meets one of them, and `sql`, which may be empty, is only
    shown.
    """

    question_id: str
    sql: str
    difficulty: str = ""  # the benchmark's label, such as "simple"
    others: tuple[str, ...] = ()
    results: tuple[StoredResult, ...] = ()

    @property
    def queries(self) -> tuple[str, ...]:
        """The queries that decide."""
        return () if self.results else (self.sql, *self.others)


@dataclass(frozen=True, slots=True)
class ValueMatch:
    """A database value that resembles `keyword`.

    `edit` and `semantic` are similarities from 0 to 1.
    """

    table: str
    column: str
    value: str
    keyword: str
    edit: float
    semantic: float


@dataclass(frozen=True, slots=True)
class DescriptionMatch:
    """A column's description that resembles the question; `score` is their similarity, 0 to 1."""

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
    """All that a prompt may show for a question.

    Retrieval and pruning make it, and generators read it.
    """

    question: Question
    schema: Schema
    values: tuple[ValueMatch, ...] = ()
    descriptions: tuple[DescriptionMatch, ...] = ()
    examples: tuple[Example, ...] = ()


Status = Literal["ok", "empty", "error", "denied", "timeout", "too_large"]

# The results that are suspect: of "failed" queries; also the "empty"; also those with only "nulls".
Suspect = Literal["failed", "empty", "nulls"]
SUSPECT: tuple[str, ...] = get_args(Suspect)


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of one query: its seconds, and its result's rows and bytes.

    Its cache key has them.
    """

    seconds: float = 30.0
    rows: int = 100_000
    bytes: int = 16_000_000

    def __post_init__(self) -> None:
        if not 0 < self.seconds <= 86_400:  # also refuses NaN
            raise ValueError(
                f"seconds is {self.seconds:g}: it must be above 0 and at most a day"
            )
        if self.rows < 0 or self.bytes < 0:
            raise ValueError(
                f"rows is {self.rows} and bytes {self.bytes}: neither can be below 0"
            )


@dataclass(frozen=True, slots=True)
class Execution:
    """The result of running a query, "ok" with rows and "empty" without; else a failure.

    Two complete results have the same `fingerprint` exactly if their sets of rows are equal, which
    is BIRD's execution accuracy; it is "" for an incomplete one.
    """

    status: Status
    columns: tuple[str, ...] = ()
    rows: tuple[Row, ...] = ()
    row_count: int = 0
    fingerprint: str = ""
    error: str = ""
    seconds: float = field(default=0.0, compare=False)
    truncated: bool = False  # it has more than `row_count` rows
    transient: bool = False  # the failure may pass

    @property
    def is_complete(self) -> bool:
        return self.status in {"ok", "empty"}

    def is_suspect(self, suspect: Suspect) -> bool:
        if self.status == "empty":
            return suspect != "failed"
        if self.status != "ok":
            return True
        if suspect != "nulls" or not self.rows:
            return False
        return all(cell is None for cell in chain.from_iterable(self.rows))


@dataclass(frozen=True, slots=True)
class Candidate:
    """A query that a generator made, or the `problem` why there is none."""

    sql: str
    generator: str
    sample: int = 0  # its number among the generator's candidates for the question
    reasoning: str = ""  # the model's text before the SQL
    call_keys: tuple[str, ...] = ()  # of the model calls behind it
    problem: str = ""
    queries: int = 0  # that were run before it, to look at the database


_NOT_RUN = Execution("error", error="not run")


@dataclass(frozen=True, slots=True)
class Trial:
    """A candidate, its execution if it was run, and the trial from which it was repaired."""

    candidate: Candidate
    execution: Execution | None = None
    repaired_from: "Trial | None" = None

    @property
    def result(self) -> Execution:
        """The execution, or an error if the candidate was not run."""
        return self.execution or _NOT_RUN

    @property
    def history(self) -> tuple["Trial", ...]:
        """The trial and all trials from which it was repaired, the oldest first."""
        trials = [self]
        while before := trials[-1].repaired_from:
            trials.append(before)
        return tuple(reversed(trials))


@dataclass(frozen=True, slots=True)
class Comparison:
    """A judge's preference between two trials, by their indices as it saw them."""

    first: int
    second: int
    winner: int | None  # None if the judge's reply names neither


@dataclass(frozen=True, slots=True)
class Selection:
    """The trial that a selector chose, and why."""

    question_id: str
    trials: tuple[Trial, ...]
    chosen: int | None  # an index in `trials`, None if there are none
    selector: str
    scores: tuple[float, ...] = ()  # of the trials
    comparisons: tuple[Comparison, ...] = ()  # the judge's preferences that were used
    call_keys: tuple[str, ...] = ()

    @property
    def trial(self) -> Trial | None:
        return None if self.chosen is None else self.trials[self.chosen]

    @property
    def sql(self) -> str:
        """The chosen query, "" if there is none."""
        return self.trial.candidate.sql if self.trial else ""


Message = Mapping[str, Any]  # {"role": "user", "content": "..."}

# What a prompt is asked for: its calls get the parameters that a user set for the role.
Role = Literal["generation", "filtering", "judge", "rest"]
ROLES: tuple[str, ...] = get_args(Role)


@dataclass(frozen=True, slots=True)
class Request:
    """One model call. Its cache key is made of its model, messages, parameters and sample alone.

    >>> request = wb.Request("direct", "openai/gpt-4o", [{"role": "user", "content": "Say 1."}])
    >>> client = wb.Client(wb.Cache())
    >>> client.key(request) == client.key(replace(request, system="CHESS"))
    True
    """

    prompt: str
    model: str  # with its provider, as in LiteLLM: "openai/gpt-4o"
    messages: Sequence[Message]
    parameters: Mapping[str, Any] = field(default_factory=dict)
    sample: int = 0  # 0, 1, 2... of the same messages are separate calls
    question: str = ""
    system: str = ""
    again: bool = False  # it asks once more after an unread reply
    may_grow: bool = False  # its output limit is the prompt's, and no user set it


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
    """The answer to a request, or its failure: a `fault`, and an `error` that describes it."""

    text: str
    model: str
    finish_reason: str = ""  # "length" if the answer was cut off
    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0  # those of the input that the provider had cached
    cost: float | None = None  # dollars when it was made, None if its price is unknown
    key: str = ""
    cached: bool = False  # nothing was paid now
    fault: Fault = ""
    error: str = ""
