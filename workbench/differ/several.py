"""Tell the queries of one question apart on small databases, and show the rows on which they differ.

Equal results on the benchmark's database are weak evidence: different queries can agree on one database by chance.
`search.py` tells two queries apart; this module runs the other queries of the question on the same small database,
which often tells them apart, too.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from pathlib import Path

from workbench.db.execute import Executor
from workbench.db.sandbox.small import SmallDatabase
from workbench.db.sql.normal_form import normal_form
from workbench.db.text.context_text import result_text
from workbench.db.text.quoting import quote
from workbench.differ.search import tell_apart
from workbench.types import Execution, Limits

_search = partial(tell_apart, tries=150, seconds=2.0)
_SEARCHES = 6  # pairs of queries for which one call searches a database
_ROWS = 5  # the most rows of a table in a database that is shown
_SHOWN = 3  # databases that are shown
_LIMITS = Limits(seconds=5.0, rows=1_000, bytes=200_000)


@dataclass(frozen=True, slots=True)
class ShownDatabase:
    """A small database and each query's result on it, as text; results are in the order of the queries."""

    rows: str
    results: tuple[str, ...]


def groups_by_meaning(
    database: Path, queries: Sequence[str], executor: Executor
) -> list[list[int]]:
    """Groups of queries that may mean the same, as indices.

    A query starts a new group if it differs from the first query of every earlier group. Once all searches are
    used, it joins a group without a search.
    """
    left = _SEARCHES
    groups: list[list[int]] = []
    by_form: dict[str, list[int]] = {}
    for index, sql in enumerate(queries):
        own = by_form.get(normal_form(sql))
        for group in groups if own is None else ():
            first = queries[group[0]]
            differ = left > 0 and _search(database, first, sql, executor).status == "differ"
            left -= 1
            if not differ:
                own = group
                break
        if own is None:
            own = []
            groups.append(own)
        own.append(index)
        by_form[normal_form(sql)] = own
    return groups


def shown_databases(
    database: Path, queries: Sequence[str], executor: Executor
) -> list[ShownDatabase]:
    """Small databases that tell pairs of the queries apart, the earliest pairs first.

    A pair that an earlier database tells apart is skipped.
    """
    shown: list[ShownDatabase] = []
    apart: set[tuple[int, int]] = set()
    pairs = list(combinations(range(len(queries)), 2))
    for first, second in pairs[:_SEARCHES]:
        if len(shown) == _SHOWN:
            break
        if (first, second) in apart:
            continue
        outcome = _search(database, queries[first], queries[second], executor)
        small = outcome.database
        if not small or max(map(len, small.rows.values()), default=0) > _ROWS:
            continue
        (answers,) = executor.execute_in_memory([small], queries, _LIMITS)
        if answers is None:
            continue
        rows = _text(small, outcome.columns)
        shown.append(ShownDatabase(rows, tuple(map(result_text, answers))))
        apart |= {(a, b) for a, b in pairs if set(answers[a].rows) != set(answers[b].rows)}
    return shown


def _text(small: SmallDatabase, columns: Mapping[str, Sequence[str]]) -> str:
    """Each table's name and rows, as prompts show results."""
    tables = []
    for name, rows in small.rows.items():
        content = Execution("ok", tuple(columns[name]), tuple(rows), len(rows))
        tables.append(f"{quote(name)}, {result_text(content)}")
    return "\n".join(tables)
