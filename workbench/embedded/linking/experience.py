"""The forms of SQL that the examples in a prompt led to: a query is the likelier, the more it is like them."""

import re
from collections.abc import Mapping

from workbench.english.words import Token, tokens
from workbench.types import Example

_FORMS = {
    "count": re.compile(r"(?i)\bCOUNT\s*\("),
    "avg": re.compile(r"(?i)\bAVG\s*\("),
    "sum": re.compile(r"(?i)\bSUM\s*\("),
    "group": re.compile(r"(?i)\bGROUP\s+BY\b"),
    "first": re.compile(r"(?i)\bLIMIT\s+\d|\b(?:MAX|MIN)\s*\("),
    "nested": re.compile(r"(?i)\(\s*SELECT\b"),
    "ratio": re.compile(r"\)\s*/|\*\s*100\b"),
    "distinct": re.compile(r"(?i)\bDISTINCT\b"),
}


def usual_forms(examples: tuple[Example, ...], question: tuple[Token, ...]) -> Mapping[str, float]:
    """The share of the examples that have each form; nothing without examples.

    An example counts the more, the more words its question shares with the one that is asked.
    """
    asked = {t.stem for t in question if t.content}
    shares, total = dict.fromkeys(_FORMS, 0.0), 0.0
    for example in examples:
        said = {t.stem for t in tokens(example.question) if t.content}
        alike = 0.05 + len(asked & said) / ((len(asked) * len(said)) ** 0.5 or 1.0)
        total += alike
        for form, pattern in _FORMS.items():
            shares[form] += alike * bool(pattern.search(example.sql))
    return {form: share / total for form, share in shares.items()} if examples else {}


def likeness(text: str, usual: Mapping[str, float]) -> float:
    """How usual the forms of a query are, from -0.5 to 0.5."""
    shares = [p if _FORMS[form].search(text) else 1 - p for form, p in usual.items()]
    return sum(shares) / len(shares) - 0.5
