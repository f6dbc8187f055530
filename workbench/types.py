"""The records that everything else passes around. Frozen, few, and importing nothing of ours."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Literal

Value = None | int | float | str | bytes
Row = tuple[Value, ...]


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
        return next((t for t in self.tables if t.name.lower() == name.lower()), None)

    def column(self, table: str, name: str) -> Column | None:
        """The column of that name in that table, in any case."""
        found = self.table(table)
        columns = found.columns if found else ()
        return next((c for c in columns if c.name.lower() == name.lower()), None)

    def columns(self) -> tuple[tuple[str, str], ...]:
        """Every (table, column), in schema order."""
        return tuple((t.name, c.name) for t in self.tables for c in t.columns)

    def only(self, columns: Iterable[tuple[str, str]]) -> "Schema":
        """The schema cut down to these (table, column) pairs, in its own order.

        A table stays when one of its columns is asked for. What stays keeps its primary key, and both
        ends of every foreign key between tables that stay, as CHESS (appendix A.3) demands: a pruned
        schema can still be joined. A pair that is not in the schema is the caller's mistake.
        """
        wanted: dict[str, set[str]] = {}
        for table_name, column_name in columns:
            if self.column(table_name, column_name) is None:
                raise KeyError(f"no column {table_name}.{column_name} in the schema of {self.db_id}")
            wanted.setdefault(table_name.lower(), set()).add(column_name.lower())
        keys: dict[str, list[ForeignKey]] = {}
        for table in self.tables:
            if (name := table.name.lower()) not in wanted:
                continue
            wanted[name] |= {column.lower() for column in table.primary_key}
            keys[name] = [k for k in table.foreign_keys if k.ref_table.lower() in wanted]
            for key in keys[name]:
                wanted[name] |= {column.lower() for column in key.columns}
                wanted[key.ref_table.lower()] |= {column.lower() for column in key.ref_columns}
        return replace(
            self,
            tables=tuple(
                replace(
                    table,
                    columns=tuple(
                        c for c in table.columns if c.name.lower() in wanted[table.name.lower()]
                    ),
                    foreign_keys=tuple(keys[table.name.lower()]),
                )
                for table in self.tables
                if table.name.lower() in wanted
            ),
        )


Status = Literal["ok", "empty", "error", "denied", "timeout", "too_large"]


@dataclass(frozen=True, slots=True)
class Limits:
    """What one query may use. Part of an execution's identity: a time-out is remembered with its limit."""

    seconds: float = 30.0
    rows: int = 100_000
    bytes: int = 16_000_000


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
    """A candidate and what came of running it. Following `repaired_from` gives the fixing history."""

    candidate: Candidate
    execution: Execution | None = None
    repaired_from: "Trial | None" = None


@dataclass(frozen=True, slots=True)
class Score:
    """One verdict: what a metric said of one answer to one question, and why."""

    question_id: str
    correct: bool
    reason: str = ""
