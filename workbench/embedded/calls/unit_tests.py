"""Unit tests in words, and which query passes them.

A test says one thing that the right query does, or does not: something by which the candidates differ,
and on the side that the model's own hypotheses take. To judge a test is to find in it what it is about;
a test by somebody else passes where its names and literals stand in the query.
"""

import json
import random
import re

from workbench.embedded.elements import elements, expected
from workbench.embedded.messages import Asked

_DOES = "The query should be one that {}."
_DOES_NOT = "The query should not be one that {}."
_OURS = re.compile(r"The query should (?:not )?be one that ")
_QUOTED = re.compile(r"`[^`]+`|'(?:[^']|'')+'")
_NOT = re.compile(r"(?i)\b(?:should|must|does|may) not\b")


def write_tests(asked: Asked, temperature: float, seed: str) -> str:
    """As many tests as are asked for, those first that the candidates differ in most evenly."""
    likely = expected(asked.context)
    queries = [elements(sql) for sql, _ in asked.candidates]
    count = int(next(iter(re.findall(r"\b(\d+)\b", asked.answer)), "5"))
    chance = random.Random(seed)  # noqa: S311  no secret
    worth = {
        element: min(does := sum(element in query for query in queries), len(queries) - does)
        + abs(likely.get(element, 0.0) - 0.5)
        + chance.random() * temperature
        for element in sorted(frozenset().union(*queries))
        if 0 < sum(element in query for query in queries) < len(queries)
    }
    chosen = sorted(worth, key=lambda element: (-worth[element], element))[:count]
    return json.dumps(
        [
            (_DOES if likely.get(element, 0.0) >= 0.5 else _DOES_NOT).format(element)
            for element in chosen
        ],
        ensure_ascii=False,
    )


def evaluate_candidates(asked: Asked, temperature: float, seed: str) -> str:
    """One test against all candidates."""
    del temperature, seed  # a fact about a query leaves nothing to chance
    return "\n".join(
        f"Candidate {number}: {_verdict(asked.tests[0], sql)}"
        for number, (sql, _) in enumerate(asked.candidates, 1)
    )


def evaluate_tests(asked: Asked, temperature: float, seed: str) -> str:
    """All tests against one candidate."""
    del temperature, seed
    sql = asked.candidates[0][0] if asked.candidates else ""
    return "\n".join(
        f"Unit test {number}: {_verdict(test, sql)}" for number, test in enumerate(asked.tests, 1)
    )


def _verdict(test: str, sql: str) -> str:
    if _OURS.match(test):
        holds = any(element in test for element in elements(sql))
    else:
        holds = all(word.strip("`'").lower() in sql.lower() for word in _QUOTED.findall(test))
    return "passed" if holds != bool(_NOT.search(test)) else "failed"
