"""What a query does, as a set of short sentences: by these the model compares queries, its own and others'.

"keeps only rows where `st is 'K'`" is one. Names of tables stand in place of aliases only where a query
says which column is meant; so equal sentences mean the same, and different ones may.
"""

import math
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache

from workbench.db.sql.outline import outlines
from workbench.embedded.chance import shares
from workbench.embedded.memory import hypotheses
from workbench.types import Context

_LOOKED_AT = 24  # of the hypotheses: what is less likely changes no expectation by much
_UNSEEN = 0.02  # how likely something is that no hypothesis does
_FAILED = re.compile(r"(?i)error|refused|stopped|too large|no rows|no such|empty|\[\]")
_ALL_NULL = re.compile(r"1 row:\n.*\nNULL(?: \| NULL)*")
_QUALIFIER = re.compile(r"'(?:[^']|'')*'|(?<![\w.])[^\W\d]\w*\.(?=[^\W\d]|[`\"])")


@lru_cache(maxsize=4096)
def elements(sql: str) -> frozenset[str]:
    """The sentences about a query; none for one that cannot be read."""
    found = set()
    for select in outlines(sql):
        found |= {f"reads the table `{table}`" for _, table in select.sources if table}
        found |= {
            f"keeps only rows where `{_plain(condition.words)}`"
            for condition in select.conditions
            if not condition.of_join
        }
        found |= {f"returns `{_plain(words)}`" for words in select.results}
        found |= {f"groups by `{_plain(words)}`" for words in select.group_by}
        found |= {f"sorts by `{_plain(words)}`" for words in select.order_by}
        if select.having:
            found.add(f"keeps only groups where `{_plain(select.having)}`")
        if select.limit:
            found.add(f"stops after `{select.limit}` rows")
        if select.distinct:
            found.add("returns no row twice")
    return frozenset(found)


def _plain(words: str) -> str:
    """The words without the aliases before names, which each query chooses as it likes."""
    return _QUALIFIER.sub(lambda m: m[0] if m[0].startswith("'") else "", words).lower()


@lru_cache(maxsize=64)
def expected(context: Context) -> Mapping[str, float]:
    """How likely the right query does each thing, by the model's own hypotheses."""
    found = hypotheses(context)[:_LOOKED_AT]
    likely: dict[str, float] = {}
    for hypothesis, share in zip(found, shares([h.score for h in found]), strict=True):
        for element in elements(hypothesis.sql):
            likely[element] = likely.get(element, 0.0) + share
    return likely


def plausibility(context: Context, sql: str, result: str) -> float:
    """How well a query and its result answer the question: a log-likelihood, up to a constant.

    A query is likely that does what the hypotheses do and leaves nothing out. One that fails is not,
    and one without rows, or with NULL for an answer, seldom is.
    """
    likely = expected(context)
    does = elements(sql)
    score = 0.0
    for element in does | likely.keys():
        share = min(max(likely.get(element, 0.0), _UNSEEN), 1 - _UNSEEN)
        score += math.log(share if element in does else 1 - share)
    if failed(result):
        return score - (3.0 if result.startswith("No rows") else 8.0)
    return score - 2.0 * bool(_ALL_NULL.fullmatch(result))


def failed(result: str) -> bool:
    """Whether a result, as prompts tell it, is an error or has no rows."""
    return bool(_FAILED.match(result))


def closeness(sql: str, other: str) -> float:
    """How much two queries do alike, from 0 to 1."""
    one, two = elements(sql), elements(other)
    return len(one & two) / len(one | two) if one or two else 0.0


def told(items: Sequence[str]) -> str:
    """Some things, as a sentence lists them."""
    return (
        ", ".join(items[:-1]) + (" and " if items[1:] else "") + items[-1] if items else "nothing"
    )
