"""Which of several queries is better: in pairs, as a ranking, or by unit tests in words.

Pairs and rankings go by how plausible each query and its result are. A unit test names one element of a query
(`elements`) in which the candidates differ, and says whether the right query does it, by the model's own
hypotheses. A test in other words passes where the names and literals that it quotes stand in the query.
"""

import json
import random
import re

from workbench.embedded.calls.chance import draw
from workbench.embedded.calls.elements import elements, expected, plausibility
from workbench.embedded.prompt.messages import Asked

_DOES = "The query should be one that {}."
_DOES_NOT = "The query should not be one that {}."
_OURS = re.compile(r"The query should (?:not )?be one that ")
_QUOTED = re.compile(r"`[^`]+`|'(?:[^']|'')+'")
_NOT = re.compile(r"(?i)\b(?:should|must|does|may) not\b")


def _scores(asked: Asked) -> list[float]:
    return [plausibility(asked.context, sql, result) for sql, result in asked.candidates]


def choose(asked: Asked, temperature: float, seed: str) -> str:
    """The letter of one of two candidates; a tie is drawn at any temperature."""
    one, two = [*_scores(asked), 0.0, 0.0][:2]
    return "AB"[draw([one, two], temperature or float(one == two), seed)]


def rank(asked: Asked, temperature: float, seed: str) -> str:
    """The candidates' numbers, best first: drawn one after the other, without putting back."""
    left = dict(enumerate(_scores(asked), 1))
    ranked: list[int] = []
    while left:
        ranked.append(list(left)[draw(list(left.values()), temperature, f"{seed}{len(ranked)}")])
        del left[ranked[-1]]
    return json.dumps(ranked)


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
    return _tagged("The candidates differ in these.", json.dumps(tests, ensure_ascii=False))


def evaluate_candidates(asked: Asked, _temperature: float, _seed: str) -> str:
    """The verdicts of one test on all candidates."""
    verdicts = [_verdict(asked.tests[0], sql) for sql, _ in asked.candidates]
    lines = [f"Candidate Response #{n}: {verdict}" for n, verdict in enumerate(verdicts, 1)]
    return _tagged(asked.tests[0], "\n".join(lines))


def evaluate_tests(asked: Asked, _temperature: float, _seed: str) -> str:
    """The verdicts of all tests on one candidate."""
    sql = asked.candidates[0][0] if asked.candidates else ""
    verdicts = [_verdict(test, sql) for test in asked.tests]
    lines = [f"Unit Test #{n}: {verdict}" for n, verdict in enumerate(verdicts, 1)]
    return _tagged(sql, "\n".join(lines))


def _tagged(thought: str, answer: str) -> str:
    return f"<Thinking>{thought}</Thinking>\n<Answer>\n{answer}\n</Answer>"


def _verdict(test: str, sql: str) -> str:
    if _OURS.match(test):
        holds = any(element in test for element in elements(sql))
    else:
        holds = all(word.strip("`'").lower() in sql.lower() for word in _QUOTED.findall(test))
    return "Passed" if holds != bool(_NOT.search(test)) else "Failed"
