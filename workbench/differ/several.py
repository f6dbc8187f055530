"""Tells the queries of one question apart on small databases, and shows the rows on which they differ.

Equal results on a benchmark's own database say little: a pool of queries agrees there by chance as well. A search
(`search.py`) tells two queries apart; here its databases are shared, since one that tells two queries apart often
tells others apart, too.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

from workbench.db.execute import Executor
from workbench.db.sandbox.small import SmallDatabase
from workbench.db.sql.normal_form import normal_form
from workbench.db.text.context_text import result_text
from workbench.db.text.quoting import quote
from workbench.differ.search import TellApart
from workbench.types import Execution, Limits

_SEARCH = TellApart(tries=150, seconds=2.0)
_LIMITS = Limits(seconds=5.0, rows=1_000, bytes=200_000)


@dataclass(frozen=True, slots=True)
class Shown:
    """A small database as text, and of each query its result there as text, in the order of the queries."""

    rows: str
    results: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Several:
    """Tells queries on one database apart.

    `searches` is how many pairs of them one call may search a small database for, and `rows` the most rows of a
    table in a database that is shown.
    """

    searches: int = 6
    rows: int = 5

    def meanings(
        self, database: Path, queries: Sequence[str], executor: Executor
    ) -> list[list[int]]:
        """The indices of the queries, apart where a query was told apart from the first of each group before it.

        Queries that no search is left for stay with the first.
        """
        left = self.searches
        apart: list[list[int]] = []
        known: dict[str, list[int]] = {}
        for index, sql in enumerate(queries):
            home = known.get(normal_form(sql))
            for group in apart if home is None else ():
                told = left > 0 and _differ(database, queries[group[0]], sql, executor)
                left -= 1
                if not told:
                    home = group
                    break
            if home is None:
                home = []
                apart.append(home)
            home.append(index)
            known[normal_form(sql)] = home
        return apart

    def examples(
        self, database: Path, queries: Sequence[str], executor: Executor, most: int = 3
    ) -> list[Shown]:
        """At most so many small databases that tell pairs of the queries apart, the earliest pairs first.

        A pair whose results on a database before differ needs none of its own.
        """
        found: list[Shown] = []
        told: set[tuple[int, int]] = set()
        pairs = list(combinations(range(len(queries)), 2))
        for first, second in pairs[: self.searches]:
            if len(found) == most:
                break
            if (first, second) in told:
                continue
            outcome = _SEARCH(database, queries[first], queries[second], executor)
            small = outcome.database
            if not small or max(map(len, small.rows.values()), default=0) > self.rows:
                continue
            (answers,) = executor.execute_in_memory([small], queries, _LIMITS)
            if answers is None:
                continue
            found.append(Shown(_text(small, outcome.columns), tuple(map(result_text, answers))))
            told |= {(a, b) for a, b in pairs if set(answers[a].rows) != set(answers[b].rows)}
        return found


def _differ(database: Path, first: str, second: str, executor: Executor) -> bool:
    return _SEARCH(database, first, second, executor).status == "differ"


def _text(small: SmallDatabase, columns: Mapping[str, Sequence[str]]) -> str:
    """Each table's name and rows, as prompts show results."""
    tables = []
    for name, rows in small.rows.items():
        content = Execution("ok", tuple(columns[name]), tuple(rows), len(rows))
        tables.append(f"{quote(name)}, {result_text(content)}")
    return "\n".join(tables)
