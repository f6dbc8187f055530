"""A counterexample shows why two queries differ: a database of a few rows, and both results on it."""

from pathlib import Path
from typing import Literal

from workbench.db.execute import Executor
from workbench.db.sql.scope import used
from workbench.db.text.quoting import one_line
from workbench.differ.rules import schema_of
from workbench.differ.search import tell_apart
from workbench.html.parts import beside, heading, line, stack, table
from workbench.html.tree import Element
from workbench.report.display.results import marked_results
from workbench.types import Value

_TRIES = 150  # so that a reader waits less than a second
_CELL = 100  # characters of a value that are shown


def counterexample_part(
    database: Path,
    query: str,
    gold: str,
    executor: Executor,
    sense: Literal["bird", "spider"] = "bird",
) -> Element:
    """The smallest database found on which a query and gold differ, with both results; or why there is none."""
    outcome = tell_apart(database, gold, query, executor, sense, tries=_TRIES, seconds=2.0)
    if not (outcome.database and outcome.first and outcome.second):
        return stack(line(f"The two are {outcome}."))
    needed = [used(sql, schema_of(database)) for sql in (gold, query)]
    names = set().union(*(one.columns for one in needed))
    unreadable = any(one.error for one in needed)
    tables, empty = [], []
    for name, rows in outcome.database.rows.items():
        columns = outcome.columns[name]
        own = [n for n, column in enumerate(columns) if unreadable or (name, column) in names]
        own = own or [0]  # the first column is mostly the table's key
        hidden = f"{name}, without {len(columns) - len(own)} columns that neither query names"
        if rows:
            cells = [[_shown(row[n]) for n in own] for row in rows]
            title = heading(name if len(own) == len(columns) else hidden)
            tables.append(stack(title, table([columns[n] for n in own], cells)))
        else:
            empty.append(name)
    predicted, right = marked_results(outcome.second, outcome.first)
    return stack(
        line("On this small database, which keeps the schema's types and keys, they differ."),
        beside(*tables),
        line(f"Without rows: {', '.join(empty)}.") if empty else None,
        beside(
            stack(heading("This query's result"), predicted),
            stack(heading("Gold's result"), right),
        ),
    )


def _shown(value: Value) -> str:
    return "NULL" if value is None else one_line(str(value), _CELL)
