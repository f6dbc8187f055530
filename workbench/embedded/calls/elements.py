"""The elements of a query: short sentences about what it does, by which the model compares queries.

"keeps only rows where `st = 'k'`" is one. Aliases are left out, since each query chooses its own.
"""

import math
import re
from collections.abc import Mapping
from functools import lru_cache

from workbench.embedded.calls.chance import shares
from workbench.embedded.parser import hypotheses
from workbench.sql.facts import clauses
from workbench.types import Context

_LIKELY = 0.005  # the share of a hypothesis; less likely ones change no expectation by much
_UNSEEN = 0.02  # how likely the right query does something that no hypothesis does
# Results as prompts show them: the beginning of an error or of no rows, and rows of nothing but NULL.
FAILED = re.compile(r"(?i)error|refused|stopped|too large|no rows|no such|empty|\[\]")
ALL_NULL = re.compile(r"[\d,]+ rows?\b.*:\n.*(?:\nNULL(?: \| NULL)*)+")
_SENTENCES = {
    "FROM": "reads the table `{}`",
    "WHERE": "keeps only rows where `{}`",
    "SELECT": "returns `{}`",
    "DISTINCT": "returns no row twice",
    "GROUP BY": "groups by `{}`",
    "HAVING": "keeps only groups where `{}`",
    "ORDER BY": "sorts by `{}`",
    "LIMIT": "stops after `{}`",
}
_QUALIFIER = re.compile(r"'(?:[^']|'')*'|(?<![\w.])[^\W\d]\w*\.(?=[^\W\d]|[`\"])")


@lru_cache(maxsize=4096)
def elements(sql: str) -> frozenset[str]:
    """The sentences about a query; none for one that cannot be read."""
    return frozenset(
        _SENTENCES[clause].format(_plain(text.removeprefix("LEFT JOIN ")))
        for clause, text in clauses(sql)
        if clause in _SENTENCES and text != "(…)"
    )


def _plain(text: str) -> str:
    """The text without the tables before names; a text in quotes keeps its dots."""
    return _QUALIFIER.sub(lambda m: m[0] if m[0].startswith("'") else "", text).lower()


@lru_cache(maxsize=64)
def expected(context: Context) -> Mapping[str, float]:
    """How likely the right query does each thing, by the model's own hypotheses."""
    found = hypotheses(context)
    likely: dict[str, float] = {}
    for hypothesis, share in zip(found, shares([h.score for h in found]), strict=True):
        for element in elements(hypothesis.sql) if share >= _LIKELY else ():
            likely[element] = likely.get(element, 0.0) + share
    return likely


def plausibility(context: Context, sql: str, result: str) -> float:
    """How well a query and its result answer the question: a log-likelihood, up to a constant.

    A query is likely if it does what the hypotheses do and leaves nothing out. An error, no rows or
    nothing but NULL speak against it.
    """
    likely = expected(context)
    does = elements(sql)
    share = {e: min(max(likely.get(e, 0.0), _UNSEEN), 1 - _UNSEEN) for e in does | likely.keys()}
    # The sum is the same in any order of the set, which differs between processes.
    score = math.fsum(math.log(s if e in does else 1 - s) for e, s in share.items())
    if FAILED.match(result):
        return score - (3.0 if result.startswith("No rows") else 8.0)
    return score - 2.0 * bool(ALL_NULL.fullmatch(result))


def closeness(sql: str, other: str) -> float:
    """How much two queries do alike, from 0 to 1."""
    one, two = elements(sql), elements(other)
    return len(one & two) / len(one | two) if one or two else 0.0
