"""The formula of an expression in a hint: SQL with columns by number, so that each query can name them."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from workbench.embedded.linking.index import Index, Pieces
from workbench.types import lower_name

Kind = Literal["literal", "row", "test", "total", "group_test", "best"]

_LEX = re.compile(
    r"""'(?:[^']|'')*'|"[^"]*"|`[^`]*`|\d+(?:,\d{3})*(?:\.\d+)?%?|[^\W\d]\w*|<=|>=|<>|!=|==|\|\||[^\s]"""
)
_LONGEST_NAME = 8  # words of a column's name


@dataclass(frozen=True, slots=True)
class Formula:
    """The SQL of an expression and its kind. `best` is MAX or MIN of something, which is `inner`."""

    pieces: Pieces
    kind: Kind
    top: bool = False  # of `best`: the largest is meant
    inner: Pieces = ()
    of_total: bool = False  # of `best`: the inner is a total, to be taken for each group
    tests: tuple[Pieces, ...] = ()  # conditions inside totals

    @property
    def fields(self) -> tuple[int, ...]:
        return tuple(dict.fromkeys(p for p in self.pieces if isinstance(p, int)))


class NoFormulaError(Exception):
    """No expression stands in this text."""


def lexemes(text: str) -> list[re.Match[str]]:
    """The words and signs of an expression."""
    return list(_LEX.finditer(text))


def column_at(words: Sequence[re.Match[str]], place: int, made: Index) -> tuple[list[int], int]:
    """The columns that may be named at this place, and where their name ends."""
    start, text = words[place].start(), words[place].string
    for end in range(min(len(words), place + _LONGEST_NAME), place, -1):
        name = text[start : words[end - 1].end()]
        if name[0] in '`"' and name[-1] == name[0] and len(name) > 2:
            name = name[1:-1]
        found = made.named.get(lower_name(name))
        if found and (end - place > 1 or not name.isdigit()):
            return found, end
        table, _, rest = name.partition(".")
        key = (lower_name(table.strip('`" ')), lower_name(rest.strip('`" ')))
        if rest and key in made.by_name:
            return [made.by_name[key]], end
    return [], place


def merged(pieces: Pieces) -> Pieces:
    """The pieces with neighbouring texts made one, so that equal SQL has equal pieces."""
    found: list[str | int] = []
    for piece in pieces:
        if isinstance(piece, str) and found and isinstance(found[-1], str):
            found[-1] += piece
        else:
            found.append(piece)
    return tuple(found)


def fitted(left: Formula, right: Formula) -> Pieces:
    """A number compared with a part of a text is written as text: STRFTIME gives '2021', not 2021."""
    text = str(left.pieces[0]).startswith(("STRFTIME(", "SUBSTR(", "SUBSTRING("))
    number = right.kind == "literal" and str(right.pieces[0])[0].isdigit()
    return (f"'{right.pieces[0]}'",) if text and number else right.pieces


def compared(left: Formula, sign: str, right: Formula, rest: Pieces = ()) -> Formula:
    """A comparison; with a total it is a condition on groups."""
    if left.kind == "literal":
        raise NoFormulaError
    pieces = (*left.pieces, sign, *fitted(left, right), *rest)
    return Formula(pieces, "group_test" if "total" in {left.kind, right.kind} else "test")


def logic(left: Formula, word: str, right: Formula) -> Formula:
    """Two conditions with AND or OR between them."""
    kinds = {left.kind, right.kind}
    if not kinds <= {"test", "group_test"}:
        raise NoFormulaError
    pieces = (*left.pieces, f" {word} ", *right.pieces)
    pieces = ("(", *pieces, ")") if word == "OR" else pieces
    return Formula(pieces, "group_test" if "group_test" in kinds else "test")


def worked(left: Formula, sign: str, right: Formula) -> Formula:
    """Arithmetic. A division is one of real numbers, and percentages multiply before they divide."""
    kind: Kind = "total" if {left.kind, right.kind} & {"total", "best"} else "row"
    tests = (*left.tests, *right.tests)
    if sign == "*" and right.pieces == ("100",) and " / " in left.pieces:
        at = max(i for i, p in enumerate(left.pieces) if p == " / ")
        return Formula((*left.pieces[:at], " * 100", *left.pieces[at:]), kind, tests=tests)
    one, two = (
        ("(", *f.pieces, ")") if " + " in f.pieces or " - " in f.pieces else f.pieces
        for f in (left, right)
    )
    if sign == "/":
        return Formula(("CAST(", *left.pieces, " AS REAL)", " / ", *two), kind, tests=tests)
    if sign in "+-":  # only what is subtracted needs its parentheses
        one, two = left.pieces, two if sign == "-" else right.pieces
    return Formula((*one, f" {sign} ", *two), kind, tests=tests)


def totalled(name: str, first: Formula, test: Formula | None, *, distinct: bool) -> Formula:
    """A total, of the rows that pass a test where there is one: SUM(st = 'K'), SUM(dues where st = 'A')."""
    start = f"{name}({'DISTINCT ' * distinct}"
    conditions = [f.pieces for f in (first, test) if f and f.kind == "test"]
    if not conditions:
        return Formula((start, *first.pieces, ")"), "total")
    where = tuple(p for condition in conditions for p in (" AND ", *condition))[1:]
    counts = name == "COUNT" and not distinct
    thing: Pieces = ("1",) if first.kind == "test" or counts else first.pieces
    start = "SUM(" if counts else start
    end = " ELSE 0 END)" if start == "SUM(" else " END)"
    pieces = (start, "CASE WHEN ", *where, " THEN ", *thing, end)
    return Formula(pieces, "total", tests=(where,))
