"""Which candidates of a question mean the same, as far as a search can tell, although their results agree.

Evidence for selectors: a vote for a result by candidates of one meaning is worth less than one by candidates that
reach it in different ways.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from workbench.db.execute import Executor
from workbench.differ.search import TellApart


def not_told_apart(
    queries: Sequence[str],
    database: Path,
    executor: Executor,
    tell_apart: TellApart | None = None,
    sense: Literal["bird", "spider"] = "bird",
) -> list[list[int]]:
    """The indices of the queries in groups: each query is not told apart from the first one of its group.

    A query that fails is in a group of its own. The groups are in the order of their first queries. Each query
    is compared with one of each group, so a pool with many meanings takes a search for each pair of them.
    """
    tell_apart = tell_apart or TellApart(tries=150, nulls=False, shrink=False)
    groups: list[list[int]] = []
    for index, sql in enumerate(queries):
        for group in groups:
            outcome = tell_apart(database, queries[group[0]], sql, executor, sense)
            if outcome.status in {"equal", "not told apart"}:
                group.append(index)
                break
        else:
            groups.append([index])
    return groups
