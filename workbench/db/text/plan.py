"""Describe SQLite's plan of a query as numbered steps in English.

CHASE-SQL (section 2.3, figures 19 and 20) has models reason in query plans, written in words because
SQLite's own are hard to read. As in the paper, the steps have three parts: find the tables; match, filter
and count; deliver the result. The plan says how rows are found and in which order; the query's text says
which conditions, groups and columns are meant. `narrate` runs EXPLAIN QUERY PLAN and calls `tell`, which
combines plan and text.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from workbench.db.execute import Executor
from workbench.db.sql.outline import Condition, Outline, outlines


@dataclass(frozen=True, slots=True)
class PlanRow:
    """A row of EXPLAIN QUERY PLAN, without its unused column."""

    id: int
    parent: int
    detail: str


def narrate(sql: str, database: Path, executor: Executor) -> tuple[str, ...]:
    """The lines of the query's plan on that database, or one line that says why SQLite cannot plan it."""
    execution = executor.execute(database, f"EXPLAIN QUERY PLAN {sql}")
    if execution.error:
        return (f"SQLite cannot plan this query: {execution.error}",)
    rows: Any = execution.rows
    return tell([PlanRow(id_, parent, detail) for id_, parent, _, detail in rows], sql)


def tell(plan_rows: Sequence[PlanRow], sql: str) -> tuple[str, ...]:
    """The plan as lines: three headings, and under them steps with consecutive numbers.

    A plan row of an unknown form is kept in SQLite's words. If the query cannot be parsed, the steps use
    the plan alone.
    """
    selects = outlines(sql)
    teller = _Teller(list(selects))
    known: set[int] = set()
    for row in plan_rows:
        parent = row.parent if row.parent in known else 0
        teller.children.setdefault(parent, []).append(row)
        known.add(row.id)
    teller.group(teller.children.get(0, []), "", to_end=False)
    parts = (
        ("Find the tables:", dict.fromkeys(filter(None, teller.opened))),
        ("Match, filter and count:", teller.steps),
        ("Deliver the result:", _delivery(selects[0] if selects else None)),
    )
    lines: list[str] = []
    number = 0
    for heading, steps in parts:
        lines += [heading] if steps else []
        for step in steps:
            number += 1
            lines.append(f"{number}. {step}")
    return tuple(lines)


_READ = re.compile(
    r"(?P<how>SCAN|SEARCH) (?:TABLE )?(?P<name>.+?)(?: AS (?P<alias>.+?))?"
    r"(?: VIRTUAL TABLE INDEX .*?)?(?: USING (?P<using>.+?))?(?P<left> LEFT-JOIN)?"
)
_CONSTANT = re.compile(r"SCAN (?:\d+ )?CONSTANT ROWS?")
_COMPOUND = re.compile(r"COMPOUND QUERY|MERGE \(.+\)")
_PART = re.compile(
    r"LEFT-MOST SUBQUERY|LEFT|RIGHT|UNION ALL|(?:UNION|INTERSECT|EXCEPT) USING TEMP B-TREE"
)
_KEY = re.compile(r"(?P<what>[^(]+?)(?: \((?P<key>.+)\))?")
_DETAILS = tuple(
    (re.compile(pattern), words)
    for pattern, words in (
        (_CONSTANT.pattern, "Make the rows from constants; no table is read."),
        (r"USE TEMP B-TREE FOR (.+)", "Collect rows in a temporary sorted list, for {0}."),
        (r"BLOOM FILTER ON (.+?) \((.+)\)", "Rule out, by a Bloom filter on {1}, rows without a match in {0}."),
        (r"CO-ROUTINE (.+)", "Work out {0}, row by row as its rows are asked for:"),
        (r"MATERIALIZE (.+)", "Work out {0} once and keep its rows:"),
        (r"CORRELATED SCALAR SUBQUERY (\d+)", "For every row so far, work out subquery {0} anew, for one value:"),
        (r"CORRELATED LIST SUBQUERY (\d+)", "For every row so far, work out subquery {0} anew, for a list of values:"),
        (r"SCALAR SUBQUERY (\d+)", "Work out subquery {0} once, for one value:"),
        (r"LIST SUBQUERY (\d+)", "Work out subquery {0} once, for a list of values:"),
        (r"REUSE (?:LIST )?SUBQUERY (\d+)", "Use the result of subquery {0} again."),
        (r"COMPOUND QUERY", "Work out the combined queries one after the other:"),
        (r"MERGE \((.+)\)", "Work out two queries, each sorted, and merge them by {0}:"),
        (r"LEFT-MOST SUBQUERY|LEFT", "The first query:"),
        (r"RIGHT", "The second query:"),
        (r"UNION ALL", "Add every row of the next query:"),
        (r"UNION USING TEMP B-TREE", "Add those rows of the next query that are new:"),
        (r"INTERSECT USING TEMP B-TREE", "Keep only the rows that the next query gives too:"),
        (r"EXCEPT USING TEMP B-TREE", "Take away the rows that the next query gives:"),
        (r"SETUP", "Begin with these rows:"),
        (r"RECURSIVE STEP", "From each row found, work out further rows, until there are no more:"),
        (r"MULTI-INDEX OR", "Look up each side of the OR by its own index, and put the rows found together:"),
        (r"INDEX (\d+)", "Side {0}:"),
        (r"RIGHT-JOIN (.+)", "Add the rows of {0} that matched nothing:"),
        (r"USING (.+) FOR IN-OPERATOR", "Look the values of IN up by {0}."),
    )
)  # fmt: skip


@dataclass(slots=True)
class _Teller:
    """One walk over the plan that collects its steps.

    `unused` are the SELECTs whose tables no row has read yet; `children` the plan rows by their parent's id;
    `opened` and `steps` the lines of the first and the second part.
    """

    unused: list[Outline]
    children: dict[int, list[PlanRow]] = field(default_factory=dict)
    opened: list[str] = field(default_factory=list)
    steps: list[str] = field(default_factory=list)

    def group(self, rows: Sequence[PlanRow], indent: str, *, to_end: bool) -> Outline | None:
        """Add the steps of sibling rows: the loops of one SELECT, outermost first, and their subqueries.

        `to_end` says whether sorting and limiting belong here. Returns the SELECT, of a compound the first.
        """
        reads = [name for row in rows if (name := self.reads(row))]
        constant = any(_CONSTANT.fullmatch(row.detail) for row in rows)
        selects = self.take(reads) if reads or constant else []
        first = selects[0] if selects else None
        tables = dict(pair for select in selects for pair in select.sources)
        self.opened += [_opening(name, tables.get(name.lower(), name)) for name in reads]
        waiting = [condition for select in selects for condition in select.conditions]
        seen: set[str] = set()
        for row in rows:
            self.steps.append(indent + _say(row.detail, first=not seen))
            below = self.children.get(row.id, ())
            if row.detail == "MULTI-INDEX OR":
                self.sides(below, indent + "  ")
            else:
                part = bool(_COMPOUND.fullmatch(row.detail))
                inner = self.group(
                    below, indent + "  ", to_end=not part and not _PART.fullmatch(row.detail)
                )
                first = first or inner if part or _PART.fullmatch(row.detail) else first
            if name := self.reads(row):
                seen.add(name.lower())
                self.check([c for c in waiting if c.sources and c.sources <= seen], indent)
                waiting = [c for c in waiting if not c.sources or not c.sources <= seen]
        self.check(waiting, indent)
        for select in selects[:1]:
            self.steps += [indent + step for step in _grouping(select)]
        if to_end and first:
            self.steps += [indent + step for step in _ending(first)]
        return first

    def sides(self, rows: Sequence[PlanRow], indent: str) -> None:
        """Add the steps of a multi-index OR, whose sides read one table that is already open."""
        for row in rows:
            self.steps.append(indent + _say(row.detail, first=True))
            self.sides(self.children.get(row.id, ()), indent + "  ")

    def check(self, conditions: Iterable[Condition], indent: str) -> None:
        for condition in conditions:
            words = condition.words
            check = f"Check that {words}; if not, skip the row."
            self.steps.append(
                indent + (f"Rows match only if {words}." if condition.of_join else check)
            )

    def reads(self, row: PlanRow) -> str | None:
        """The name of the table that a row reads, also through the sides of a multi-index OR; or None."""
        if name := _read_name(row.detail):
            return name
        if row.detail == "MULTI-INDEX OR" or re.fullmatch(r"INDEX \d+", row.detail):
            return next((n for r in self.children.get(row.id, ()) if (n := self.reads(r))), None)
        return None

    def take(self, reads: Iterable[str]) -> list[Outline]:
        """Remove and return the SELECTs that read these tables: several if SQLite merged them into one loop."""
        names = {name.lower() for name in reads}
        own = [{name for name, _ in select.sources} for select in self.unused]
        taken = [s for s, sources in zip(self.unused, own, strict=True) if sources == names][:1]
        for select, sources in zip(self.unused, own, strict=True):
            if not taken or names - {n for t in taken for n, _ in t.sources}:
                taken += [select] if sources & names and select not in taken else []
        self.unused = [s for s in self.unused if not any(s is t for t in taken)]
        return taken


def _read_name(detail: str) -> str | None:
    """The name under which a row of the plan reads a table or subquery, or None."""
    read = None if _CONSTANT.fullmatch(detail) else _READ.fullmatch(detail)
    return (read["alias"] or read["name"]) if read else None


def _opening(name: str, table: str) -> str:
    """The step that opens a table; "" for the result of a subquery."""
    if not table or name.startswith("("):
        return ""
    called = "" if table.lower() == name.lower() else f", called {name} here"
    return f"Open the table {table}{called}."


def _say(detail: str, *, first: bool) -> str:
    for pattern, words in _DETAILS:
        if match := pattern.fullmatch(detail):
            return words.format(*match.groups())
    read = _READ.fullmatch(detail)
    if read is None:
        return detail
    name, using = read["alias"] or read["name"], _KEY.fullmatch(read["using"] or "")
    how = f", {_by(using['what'], using['key'] or '')}" if using else ""
    if read["how"] == "SCAN":
        rows = "read every row of"
    elif using and (using["key"] or "PRIMARY KEY" in using["what"]):
        rows = "find the matching rows of"
    else:  # for min() or max()
        rows = "find the first or the last row of"
    left = " Where there is none, go on with NULL for its columns." if read["left"] else ""
    text = f"{rows} {name}{how}.{left}"
    return text[0].upper() + text[1:] if first else f"For each row so far, {text}"


def _by(what: str, key: str) -> str:
    key = key.replace("=?", "").replace(">?", " from a bound up").replace("<?", " up to a bound")
    on = f" on {key.replace(' AND ', ' and ')}" if key else ""
    if what == "INTEGER PRIMARY KEY":
        return "directly by row id"
    if what.startswith("AUTOMATIC"):
        return f"by an index{on} that is built for this query alone"
    kind = (
        what.replace("COVERING INDEX", "index")
        .replace("INDEX", "index")
        .replace("PRIMARY KEY", "primary key")
    )
    alone = " without opening the table" if what.startswith("COVERING") else ""
    return f"by {'the ' if kind == 'primary key' else ''}{kind}{on}{alone}"


def _grouping(select: Outline) -> Iterable[str]:
    if select.group_by:
        yield f"Put the rows into groups, one for each {' and '.join(select.group_by)}."
    if select.aggregates:
        where = "For each group" if select.group_by else "Over all these rows"
        yield f"{where}, work out {', '.join(select.aggregates)}."
    if select.having:
        yield f"Keep a group only if {select.having}."
    if select.windows:
        yield f"For each row, work out {', '.join(select.windows)} over the rows of its window."


def _ending(select: Outline) -> Iterable[str]:
    if select.distinct:
        yield "Drop rows that repeat an earlier one."
    if select.order_by:
        yield f"Sort by {', then by '.join(select.order_by)}."
    if select.limit:
        skip = f", after skipping {select.offset}" if select.offset else ""
        yield f"Keep only the first rows, {select.limit} at most{skip}."


def _delivery(select: Outline | None) -> list[str]:
    if select is None:
        return ["Return the result columns."]
    return [*_ending(select), f"Return {', '.join(select.results)}."]
