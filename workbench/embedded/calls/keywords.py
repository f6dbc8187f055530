"""Words of the question and the hint that may stand in a database: quotations, names and phrases."""

import json
import re

from workbench.embedded.prompt.messages import Asked
from workbench.english.words import STOPWORDS

_QUOTED = re.compile(r"'([^']{1,80})'|\"([^\"]{1,80})\"|`([^`]{1,80})`|“([^”]{1,80})”")
_NAME = re.compile(
    r"\b[A-Z][\w.&'-]*(?:\s+(?:(?:of|the|de|la|von|van|and|&)\s+)?[A-Z0-9][\w.&'-]*)*"
)
_WORD = re.compile(r"[^\W_][\w.&'/-]*")
_LONGEST = 4  # words of a phrase


def keywords(asked: Asked, _temperature: float, _seed: str) -> str:
    """A JSON list: quotations, names with capitals, and phrases with their words."""
    question = asked.context.question
    found: dict[str, None] = {}
    for text in (question.text, question.evidence):
        found |= dict.fromkeys("".join(groups) for groups in _QUOTED.findall(text))
        found |= dict.fromkeys(name[0] for name in _NAME.finditer(text, 1))
        for phrase in _phrases(text):
            found |= dict.fromkeys([" ".join(phrase), *phrase] if phrase[1:] else phrase)
    return json.dumps([text for text in found if text.lower() not in STOPWORDS], ensure_ascii=False)


def _phrases(text: str) -> list[list[str]]:
    """Runs of content words, cut at stop words and punctuation."""
    runs: list[list[str]] = [[]]
    for piece in re.split(r"([,;:?!()]|\s+)", text):
        word = piece.strip(".'\"`")
        if _WORD.fullmatch(word) and word.lower() not in STOPWORDS and len(runs[-1]) < _LONGEST:
            runs[-1].append(word)
        elif piece.strip():
            runs.append([])
    return [run for run in runs if run]
