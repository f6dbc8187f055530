"""What an expression comes to: SQL with columns by number, so that a query can put its own names to them."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from workbench.embedded.index import Index
from workbench.types import fold

Pieces = tuple[str | int, ...]  # SQL with the ids of columns in it
Kind = Literal["literal", "row", "columns", "test", "total", "group_test", "best"]


_LEX = re.compile(
    r"""'(?:[^']|'')*'|"[^"]*"|`[^`]*`|\d+(?:,\d{3})*(?:\.\d+)?%?|[^\W\d]\w*|<=|>=|<>|!=|==|\|\||[^\s]"""
)


@dataclass(frozen=True, slots=True)
class Formula:
    """What an expression comes to. `best` is MAX or MIN of something, of which `inner` tells."""

    pieces: Pieces
    kind: Kind
    top: bool = False  # of `best`: the largest is meant
    inner: Pieces = ()
    of_total: bool = False  # of `best`: the inner is a total, to be taken for each group
    tests: tuple[Pieces, ...] = ()  # conditions inside totals

    @property
    def fields(self) -> tuple[int, ...]:
        return tuple(dict.fromkeys(p for p in self.pieces if isinstance(p, int)))


@dataclass(frozen=True, slots=True)
class Lexeme:
    text: str
    start: int
    end: int


class NoFormulaError(Exception):
    """No expression stands in this text."""


def merged(pieces: Pieces) -> Pieces:
    """The pieces with neighbouring texts made one."""
    found: list[str | int] = []
    for piece in pieces:
        if isinstance(piece, str) and found and isinstance(found[-1], str):
            found[-1] += piece
        else:
            found.append(piece)
    return tuple(found)


def quoted(word: str) -> str:
    return word if word[0] == "'" else "'" + word[1:-1].replace("'", "''") + "'"


def fitted(left: Formula, right: Formula) -> Formula:
    """A number compared with a piece of text, as STRFTIME gives it, is written as text."""
    text = str(left.pieces[0]).startswith(("STRFTIME(", "SUBSTR(", "SUBSTRING("))
    if text and right.kind == "literal" and str(right.pieces[0])[0].isdigit():
        return replace(right, pieces=(f"'{right.pieces[0]}'",))
    return right


def compared(left: Formula, sign: str, right: Formula, rest: Pieces = ()) -> Formula:
    kinds = {left.kind, right.kind}
    pieces = (*left.pieces, sign, *fitted(left, right).pieces, *rest)
    if left.kind == "literal":
        raise NoFormulaError
    return Formula(pieces, "group_test" if "total" in kinds else "test")


def logic(left: Formula, word: str, right: Formula) -> Formula:
    if not {left.kind, right.kind} <= {"test", "group_test"}:
        raise NoFormulaError
    pieces = (*left.pieces, f" {word} ", *right.pieces)
    pieces = ("(", *pieces, ")") if word == "OR" else pieces
    return Formula(pieces, "group_test" if "group_test" in {left.kind, right.kind} else "test")


def worked(left: Formula, sign: str, right: Formula) -> Formula:
    """Arithmetic. A division is one of real numbers, and percentages multiply before they divide."""
    total = any(f.kind in {"total", "best"} for f in (left, right))
    kind: Kind = "total" if total else "row"
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
    if sign in "+-":
        one, two = left.pieces, two if sign == "-" else right.pieces
    return Formula((*one, f" {sign} ", *two), kind, tests=tests)


def totalled(name: str, first: Formula, test: Formula | None, distinct: bool) -> Formula:
    inner = first.pieces
    if first.kind == "test" or test:
        where = first.pieces if first.kind == "test" else test.pieces if test else ()
        thing: Pieces = (
            ("1",) if first.kind == "test" or (name == "COUNT" and not distinct) else first.pieces
        )
        if first.kind == "test" and test:
            where = (*first.pieces, " AND ", *test.pieces)
        if name == "COUNT" and not distinct:
            name = "SUM"
        rest = " ELSE 0 END" if name == "SUM" else " END"
        inner = ("CASE WHEN ", *where, " THEN ", *thing, rest)
        return Formula((f"{name}({'DISTINCT ' * distinct}", *inner, ")"), "total", tests=(where,))
    return Formula((f"{name}({'DISTINCT ' * distinct}", *inner, ")"), "total")


def lexemes(text: str) -> list[Lexeme]:
    return [Lexeme(m[0], m.start(), m.end()) for m in _LEX.finditer(text)]


def column_at(text: str, words: Sequence[Lexeme], place: int, made: Index) -> tuple[list[int], int]:
    """The columns that may be named at this place, and where their name ends."""
    for end in range(min(len(words), place + 8), place, -1):
        name = text[words[place].start : words[end - 1].end]
        if name[0] in '`"' and name[-1] == name[0] and len(name) > 2:
            name = name[1:-1]
        found = made.named.get(fold(name))
        if found and (end - place > 1 or not words[place].text.isdigit()):
            return found, end
        table, _, rest = name.partition(".")
        key = (fold(table.strip('`" ')), fold(rest.strip('`" ')))
        if rest and key in made.by_name:
            return [made.by_name[key]], end
    return [], place
