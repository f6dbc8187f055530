"""Describe SQLite's plan of a query as numbered steps in English.

CHASE-SQL (section 2.3, figures 19 and 20) has models reason in query plans, written in words because
SQLite's own plans are hard to read. As in the paper, the steps have three parts: find the tables; match, filter
and count; deliver the result. How rows are found and in which order comes from the plan; conditions, groups and
result columns come from the query's text. `narrate` runs EXPLAIN QUERY PLAN and calls `plan_text`, which combines
plan and text.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from workbench.db.execute import Executor
from workbench.db.sql.outline import Condition, Outline, outlines
from workbench.db.text import plan_steps


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
    return plan_text([PlanRow(id_, parent, detail) for id_, parent, _, detail in rows], sql)


def plan_text(plan_rows: Sequence[PlanRow], sql: str) -> tuple[str, ...]:
    """The plan as lines: three headings, and under them steps with consecutive numbers.

    A plan row of an unknown form is kept in SQLite's words. If the query cannot be parsed, the steps use
    the plan alone.
    """
    selects = outlines(sql)
    walk = _PlanWalk(list(selects))
    known: set[int] = set()
    for row in plan_rows:
        parent = row.parent if row.parent in known else 0
        walk.children.setdefault(parent, []).append(row)
        known.add(row.id)
    walk.group(walk.children.get(0, []), "", with_ending=False)
    parts = (
        ("Find the tables:", dict.fromkeys(filter(None, walk.opened))),
        ("Match, filter and count:", walk.steps),
        ("Deliver the result:", plan_steps.delivery(selects[0] if selects else None)),
    )
    lines: list[str] = []
    number = 0
    for heading, steps in parts:
        lines += [heading] if steps else []
        for step in steps:
            number += 1
            lines.append(f"{number}. {step}")
    return tuple(lines)


@dataclass(slots=True)
class _PlanWalk:
    """A walk over the plan that collects its steps.

    `unused` are the SELECTs whose tables no row has read yet, `children` the plan rows by their parent's id,
    `opened` and `steps` the lines of the first and the second part.
    """

    unused: list[Outline]
    children: dict[int, list[PlanRow]] = field(default_factory=dict)
    opened: list[str] = field(default_factory=list)
    steps: list[str] = field(default_factory=list)

    def group(self, rows: Sequence[PlanRow], indent: str, *, with_ending: bool) -> Outline | None:
        """Add the steps of sibling rows: the loops of one SELECT, outermost first, and their subqueries.

        `with_ending` adds the steps that sort and limit. Returns the SELECT, or the first SELECT of a compound.
        """
        reads = [name for row in rows if (name := self.reads(row))]
        constant = any(plan_steps.CONSTANT.fullmatch(row.detail) for row in rows)
        selects = self.take_selects(reads) if reads or constant else []
        first = selects[0] if selects else None
        tables = dict(pair for select in selects for pair in select.sources)
        self.opened += [plan_steps.opening(name, tables.get(name.lower(), name)) for name in reads]
        waiting = [condition for select in selects for condition in select.conditions]
        seen: set[str] = set()
        for row in rows:
            self.steps.append(indent + plan_steps.in_words(row.detail, first=not seen))
            below = self.children.get(row.id, ())
            if row.detail == "MULTI-INDEX OR":
                self.add_sides(below, indent + "  ")
            else:
                in_compound = plan_steps.COMPOUND.fullmatch(row.detail) is not None
                inner = self.group(below, indent + "  ", with_ending=not in_compound)
                if in_compound:
                    first = first or inner
            if name := self.reads(row):
                seen.add(name.lower())
                self.add_checks([c for c in waiting if c.sources and c.sources <= seen], indent)
                waiting = [c for c in waiting if not c.sources or not c.sources <= seen]
        self.add_checks(waiting, indent)
        for select in selects[:1]:
            self.steps += [indent + step for step in plan_steps.grouping(select)]
        if with_ending and first:
            self.steps += [indent + step for step in plan_steps.ending(first)]
        return first

    def add_sides(self, rows: Sequence[PlanRow], indent: str) -> None:
        """Add the steps of a multi-index OR, whose sides read one table that is already open."""
        for row in rows:
            self.steps.append(indent + plan_steps.in_words(row.detail, first=True))
            self.add_sides(self.children.get(row.id, ()), indent + "  ")

    def add_checks(self, conditions: Iterable[Condition], indent: str) -> None:
        """Add a step for each condition."""
        for condition in conditions:
            words = condition.words
            check = f"Check that {words}; if not, skip the row."
            self.steps.append(
                indent + (f"Rows match only if {words}." if condition.of_join else check)
            )

    def reads(self, row: PlanRow) -> str | None:
        """The name of the table that a row reads, also through the sides of a multi-index OR; or None."""
        if name := plan_steps.read_name(row.detail):
            return name
        if row.detail == "MULTI-INDEX OR" or re.fullmatch(r"INDEX \d+", row.detail):
            return next((n for r in self.children.get(row.id, ()) if (n := self.reads(r))), None)
        return None

    def take_selects(self, reads: Iterable[str]) -> list[Outline]:
        """Remove and return the SELECTs that read these tables: several if SQLite merged them into one loop."""
        names = {name.lower() for name in reads}
        own = [{name for name, _ in select.sources} for select in self.unused]
        taken = [s for s, sources in zip(self.unused, own, strict=True) if sources == names][:1]
        for select, sources in zip(self.unused, own, strict=True):
            if not taken or names - {n for t in taken for n, _ in t.sources}:
                taken += [select] if sources & names and select not in taken else []
        self.unused = [s for s in self.unused if not any(s is t for t in taken)]
        return taken
