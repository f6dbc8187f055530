"""Search for a small database on which two queries differ.

The search starts from real rows that the queries read and changes them at random, a batch at a time. A database
on which a query gives a new result is changed further, as fuzzers keep an input that reaches new code.
Zhong et al. (2020) draw whole databases at random and keep those that tell a query from its mutants. VeriEQL
(He et al. 2024) gives a solver a bound on the number of rows: it can prove equality up to that bound, but knows only
a part of SQLite's SQL. This search runs the queries in SQLite, so it handles every query that runs, but it calls two
queries equal only if they have the same normal form.
"""

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Literal

from workbench.db.execute import Executor
from workbench.db.sandbox.small import SmallDatabase
from workbench.db.sql.normal_form import normal_form
from workbench.db.sql.scope import used
from workbench.differ.change import Changes
from workbench.differ.keep import mended
from workbench.differ.near import constants
from workbench.differ.pair import Pair
from workbench.differ.rules import Cell, Rows, Rules, read_rules, schema_of
from workbench.differ.shrink import shrunk
from workbench.differ.touched import touched_rows
from workbench.types import Execution

Status = Literal["differ", "equal", "not told apart", "failed"]
_BATCH = 24
_KEPT = 40  # newest databases that may be changed further


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of a search.

    "differ": `database` is a database on which the queries differ, `first` and `second` are their executions on it.
    "equal": both queries have the same normal form. "not told apart": the queries may be equal or not. "failed":
    a query does not run, and `error` says why.
    """

    status: Status
    database: SmallDatabase | None = None
    first: Execution | None = None
    second: Execution | None = None
    tries: int = 0
    error: str = ""
    columns: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """The column names of each table of the database."""

    def __str__(self) -> str:
        if self.status == "differ" and self.database:
            sizes = [f"{name} {len(rows)}" for name, rows in self.database.rows.items()]
            return f"differ, on a database with these numbers of rows: {', '.join(sizes)}"
        if self.status == "not told apart":
            return f"not told apart on {self.tries} databases"
        return f"failed: {self.error}" if self.error else "equal: both have the same normal form"


def tell_apart(
    database: Path,
    first: str,
    second: str,
    executor: Executor,
    sense: Literal["bird", "spider"] = "bird",
    *,
    tries: int = 400,
    seconds: float = 30.0,
    seed: int = 0,
    nulls: bool = True,
    shrink: bool = True,
) -> Outcome:
    """Search for a small database on which two queries differ, in BIRD's or Spider's sense. DISTINCT is not removed.

    The search ends after `tries` databases, or after `seconds`. The random changes, drawn by `seed`, put NULL into any
    column that allows it; without `nulls`, only into columns that hold NULL in real rows. `shrink` removes rows that
    the difference does not need.
    """
    if normal_form(first) == normal_form(second):
        return Outcome("equal")
    queries, random = (first, second), Random(seed)  # noqa: S311  no secret
    rules = needed_rules(database, queries)
    pair = Pair(first, second, sense, rules, executor)
    near, used_cells = constants(queries, rules), cells(queries, rules)
    changes = Changes(rules, near, used_cells, random, nulls, groups=True)
    until = time.monotonic() + seconds
    batch = list(beginnings(touched_rows(queries, rules, database, executor), rules, random))
    known = list(batch)
    seen: set[tuple[str, str]] = set()
    tried = 0
    while tried < tries and time.monotonic() < until:
        for rows, results in zip(batch, pair.results(batch), strict=True):
            tried += 1
            if results is None:
                continue
            if failed := next((r.error for r in results if r.status in {"error", "denied"}), ""):
                return Outcome("failed", error=failed)
            if not pair.equal(*results) and pair.is_different(rows):
                return _found(pair, rows, tried, shrink=shrink)
            # Databases with results not seen before are the ones to change further.
            novelty = (results[0].fingerprint, results[1].fingerprint)
            if novelty not in seen and "" not in novelty:
                seen.add(novelty)
                known = [*known, rows][-_KEPT:]
        drafts = (
            changes(random.choice(known), random.choice((1, 2, 3, 5, 8))) for _ in range(_BATCH)
        )
        batch = [changed for draft in drafts if (changed := mended(draft, rules, random))]
    return Outcome("not told apart", tries=tried)


def _found(pair: Pair, rows: Rows, tried: int, *, shrink: bool) -> Outcome:
    if shrink:
        # Shrinking asks the faster check, which ties may pass, so the full check has the last word.
        small = shrunk(rows, pair.rules, pair.seems_different)
        rows = small if pair.is_different(small) else rows
    ((first, second),) = filter(None, pair.results([rows]))
    columns = {name: table.columns for name, table in pair.rules.tables.items()}
    return Outcome("differ", pair.rules.database(rows), first, second, tried, columns=columns)


def needed_rules(database: Path, queries: tuple[str, ...]) -> Rules:
    """The rules of the tables that the queries read, or of all tables if a query cannot be parsed."""
    schema = schema_of(database)
    names: set[str] = set()
    for sql in queries:
        in_query = used(sql, schema)
        names |= {table.name for table in schema.tables} if in_query.error else in_query.tables
    tables = [table for name in names if (table := schema.table(name))]
    if any(table.kind == "view" for table in tables):
        tables = list(schema.tables)  # the tables that a view reads are not looked up
    views = frozenset(table.name for table in tables if table.kind == "view")
    return read_rules(database, frozenset(t.name for t in tables) - views, views)


def cells(queries: tuple[str, ...], rules: Rules) -> tuple[Cell, ...]:
    """The columns that the queries use, or all columns if a query cannot be parsed or uses none."""
    names: set[tuple[str, str]] = set()
    for sql in queries:
        in_query = used(sql, rules.schema)
        names |= set(rules.schema.columns()) if in_query.error else in_query.columns
    every = rules.cells()
    return tuple([cell for name, cell in every.items() if name in names] or every.values())


def beginnings(touched: list[Rows], rules: Rules, random: Random) -> Iterator[Rows]:
    """The first databases of a search: real rows that the queries read, the first rows of all tables, and no rows."""
    first = {name: list(table.rows) for name, table in rules.tables.items()}
    together: Rows = {}
    for rows in touched:
        for name, content in rows.items():
            together.setdefault(name, []).extend(content)
    drafts = [together, *touched]
    drafts += [{name: rows[:count] for name, rows in first.items()} for count in (3, 10, 1)]
    drafts += [{name: [*together.get(name, []), *rows[:4]] for name, rows in first.items()}, {}]
    for draft in drafts:
        distinct = {name: list(dict.fromkeys(content)) for name, content in draft.items()}
        if mended_rows := mended(distinct, rules, random):
            yield mended_rows
