"""Unit tests in words, and which query passes them.

A test names one element of a query (`elements`) in which the candidates differ, and says whether the right
query does it, by the model's own hypotheses. A test in other words passes where the names and literals that
it quotes stand in the query.
"""

import json
import random
import re

from workbench.embedded.calls.elements import elements, expected
from workbench.embedded.prompt.messages import Asked

_DOES = "The query should be one that {}."
_DOES_NOT = "The query should not be one that {}."
_OURS = re.compile(r"The query should (?:not )?be one that ")
_QUOTED = re.compile(r"`[^`]+`|'(?:[^']|'')+'")
_NOT = re.compile(r"(?i)\b(?:should|must|does|may) not\b")


def write_tests(asked: Asked, temperature: float, seed: str) -> str:
    """As many tests as are asked for; elements that split the candidates most evenly come first."""
    likely = expected(asked.context)
    queries = [elements(sql) for sql, _ in asked.candidates]
    count = int(next(iter(re.findall(r"\b(\d+)\b", asked.answer)), "5"))
    chance = random.Random(seed)  # noqa: S311  no secret
    worth: dict[str, float] = {}
    for element in sorted(frozenset().union(*queries)):
        does = sum(element in query for query in queries)
        if does < len(queries):
            surprise = abs(likely.get(element, 0.0) - 0.5) + chance.random() * temperature
            worth[element] = min(does, len(queries) - does) + surprise
    chosen = sorted(worth, key=lambda element: (-worth[element], element))[:count]
    tests = [(_DOES if likely.get(e, 0.0) >= 0.5 else _DOES_NOT).format(e) for e in chosen]
    return json.dumps(tests, ensure_ascii=False)


def evaluate_candidates(asked: Asked, _temperature: float, _seed: str) -> str:
    """One test against all candidates."""
    return "\n".join(
        f"Candidate {number}: {_verdict(asked.tests[0], sql)}"
        for number, (sql, _) in enumerate(asked.candidates, 1)
    )


def evaluate_tests(asked: Asked, _temperature: float, _seed: str) -> str:
    """All tests against one candidate."""
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
