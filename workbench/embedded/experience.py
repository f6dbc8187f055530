"""What the examples in a prompt suggest: the forms of SQL that questions like this one led to, and columns."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from workbench.embedded.words import Token, tokens
from workbench.types import Example, fold

_FORMS = {
    "count": re.compile(r"\bCOUNT\s*\(", re.IGNORECASE),
    "avg": re.compile(r"\bAVG\s*\(", re.IGNORECASE),
    "sum": re.compile(r"\bSUM\s*\(", re.IGNORECASE),
    "group": re.compile(r"\bGROUP\s+BY\b", re.IGNORECASE),
    "first": re.compile(r"\bLIMIT\s+\d|\b(?:MAX|MIN)\s*\(", re.IGNORECASE),
    "nested": re.compile(r"\(\s*SELECT\b", re.IGNORECASE),
    "ratio": re.compile(r"\)\s*/|\*\s*100\b"),
    "distinct": re.compile(r"\bDISTINCT\b", re.IGNORECASE),
}
_NAME = re.compile(r"`([^`]+)`|([^\W\d]\w*)")


@dataclass(frozen=True, slots=True)
class Experience:
    """Of each form the share of the examples that have it, and of each name that of those that use it.

    An example counts the more, the more words its question shares with the one that is asked.
    """

    forms: Mapping[str, float]
    names: Mapping[str, float]

    def form(self, parts: Iterable[str]) -> float:
        """How usual a query of these parts is, from -0.5 to 0.5."""
        text = " ".join(parts)
        shares = [p if _FORMS[f].search(text) else 1 - p for f, p in self.forms.items()]
        return sum(shares) / len(shares) - 0.5

    def columns(self, names: Iterable[str]) -> float:
        """How usual these columns are, from 0 to 1."""
        shares = [self.names.get(fold(name), 0.0) for name in names]
        return sum(shares) / len(shares) if shares else 0.0


def experience(examples: tuple[Example, ...], question: tuple[Token, ...]) -> Experience | None:
    """What the examples suggest for a question; None without examples."""
    if not examples:
        return None
    asked = {t.stem for t in question if t.content}
    forms, names, total = dict.fromkeys(_FORMS, 0.0), dict[str, float](), 0.0
    for example in examples:
        said = {t.stem for t in tokens(example.question) if t.content}
        alike = 0.05 + len(asked & said) / ((len(asked) * len(said)) ** 0.5 or 1.0)
        total += alike
        for form, pattern in _FORMS.items():
            forms[form] += alike * bool(pattern.search(example.sql))
        for name in {fold(quoted or plain) for quoted, plain in _NAME.findall(example.sql)}:
            names[name] = names.get(name, 0.0) + alike
    return Experience(
        {form: share / total for form, share in forms.items()},
        {name: share / total for name, share in names.items()},
    )
