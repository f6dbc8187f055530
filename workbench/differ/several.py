"""Tell the queries of one question apart on small databases, and show the rows on which they differ.

Equal results on the benchmark's database are weak evidence: different queries can agree on one database by chance.
`search.py` tells two queries apart; this module runs the other queries of the question on the same small database,
which often tells them apart, too.
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
    """A small database and each query's result on it, as text; results are in the order of the queries."""

    rows: str
    results: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Several:
    """Tells queries on one database apart."""

    searches: int = 6
    """The most pairs of queries that one call searches a small database for."""
    rows: int = 5
    """The most rows of a table in a database that is shown."""

    def meanings(
        self, database: Path, queries: Sequence[str], executor: Executor
    ) -> list[list[int]]:
        """Groups of queries that may mean the same, as indices.

        A query starts a new group if it differs from the first query of every earlier group. Once all searches are
        used, it joins a group without a search.
        """
        left = self.searches
        groups: list[list[int]] = []
        by_form: dict[str, list[int]] = {}
        for index, sql in enumerate(queries):
            own = by_form.get(normal_form(sql))
            for group in groups if own is None else ():
                differ = left > 0 and _differ(database, queries[group[0]], sql, executor)
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

    def examples(
        self, database: Path, queries: Sequence[str], executor: Executor, most: int = 3
    ) -> list[Shown]:
        """At most `most` small databases that tell pairs of the queries apart, the earliest pairs first.

        A pair that an earlier database tells apart is skipped.
        """
        examples: list[Shown] = []
        apart: set[tuple[int, int]] = set()
        pairs = list(combinations(range(len(queries)), 2))
        for first, second in pairs[: self.searches]:
            if len(examples) == most:
                break
            if (first, second) in apart:
                continue
            outcome = _SEARCH(database, queries[first], queries[second], executor)
            small = outcome.database
            if not small or max(map(len, small.rows.values()), default=0) > self.rows:
                continue
            (answers,) = executor.execute_in_memory([small], queries, _LIMITS)
            if answers is None:
                continue
            examples.append(Shown(_text(small, outcome.columns), tuple(map(result_text, answers))))
            apart |= {(a, b) for a, b in pairs if set(answers[a].rows) != set(answers[b].rows)}
        return examples


def _differ(database: Path, first: str, second: str, executor: Executor) -> bool:
    return _SEARCH(database, first, second, executor).status == "differ"


def _text(small: SmallDatabase, columns: Mapping[str, Sequence[str]]) -> str:
    """Each table's name and rows, as prompts show results."""
    tables = []
    for name, rows in small.rows.items():
        content = Execution("ok", tuple(columns[name]), tuple(rows), len(rows))
        tables.append(f"{quote(name)}, {result_text(content)}")
    return "\n".join(tables)
