"""Expressions as hints write them: SQL, and the habits of those who write about it.

"DIVIDE(SUM(st = 'K'), COUNT(id)) * 100" is read as the SQL that it stands for.
"""

import re
from dataclasses import dataclass, replace

from workbench.db.quoting import quote
from workbench.embedded.dates import part_of_date
from workbench.embedded.formula import (
    Formula,
    Kind,
    Lexeme,
    NoFormulaError,
    Pieces,
    column_at,
    compared,
    fitted,
    logic,
    quoted,
    totalled,
    worked,
)
from workbench.embedded.index import Index
from workbench.types import fold

_PLAIN = frozenset(
    re.findall(
        r"\w+",
        """SUBSTR SUBSTRING STRFTIME JULIANDAY LENGTH ROUND ABS INSTR LOWER UPPER REPLACE TRIM DATE COALESCE
        IFNULL IIF NULLIF DATETIME TIME""",
    )
)
_TOTALS = {"COUNT", "SUM", "AVG", "TOTAL", "AVERAGE"}
_WORKS = {"DIVIDE": "/", "SUBTRACT": "-", "MULTIPLY": "*", "ADD": "+"}
_PARTS = {"YEAR": "Y", "MONTH": "m", "DAY": "d"}
_EMPTY = {"NULL", "EMPTY", "MISSING", "BLANK", "UNKNOWN"}
_IS = {"is": "=", "equals": "=", "equal": "=", "=": "=", "==": "=", "!=": "<>", "<>": "<>"}
_IS |= {sign: sign for sign in ("<", ">", "<=", ">=")}


@dataclass(slots=True)
class Reader:
    """Reads one expression from a text; of several columns of a name it takes one, and says so."""

    text: str
    made: Index
    words: list[Lexeme]
    place: int = 0
    tables: tuple[int, ...] = ()  # preferred, the first most
    met: tuple[int, ...] = ()  # those of the columns so far
    ambiguous: bool = False

    def peek(self, ahead: int = 0) -> str:
        at = self.place + ahead
        return self.words[at].text if at < len(self.words) else ""

    def take(self, *expected: str) -> bool:
        if self.peek().upper() in expected:
            self.place += 1
            return True
        return False

    def formula(self) -> Formula:
        """The longest expression from here on."""
        left = self._conjunction()
        while self.peek().upper() == "OR":
            mark = self.place
            self.place += 1
            try:
                right = self._conjunction()
            except NoFormulaError:
                self.place = mark
                break
            left = logic(left, "OR", right)
        return left

    def _conjunction(self) -> Formula:
        left = self._comparison()
        while self.peek().upper() == "AND":
            mark = self.place
            self.place += 1
            try:
                left = logic(left, "AND", self._comparison())
            except NoFormulaError:
                self.place = mark
                break
        return left

    def _comparison(self) -> Formula:
        if self.take("NOT"):
            inner = self._comparison()
            return replace(inner, pieces=("NOT (", *inner.pieces, ")"))
        left = self._sum()
        if left.kind == "columns":
            return left
        words = (self.peek().upper(), self.peek(1).upper(), self.peek(2).upper())
        negative = words[1] == "NOT"
        if words[0] in {"IS", "ARE"} and words[1 + negative] in _EMPTY:
            self.place += 2 + negative
            return Formula((*left.pieces, f" IS{' NOT' * negative} NULL"), "test")
        negated = words[0] == "NOT" and words[1] in {"LIKE", "IN", "BETWEEN"}
        self.place += negated
        no = " NOT" if negated else ""
        if self.take("BETWEEN"):
            low = self._sum()
            if not self.take("AND"):
                raise NoFormulaError
            return compared(
                left, f"{no} BETWEEN ", low, (" AND ", *fitted(left, self._sum()).pieces)
            )
        if self.take("LIKE", "GLOB"):
            return compared(left, f"{no} LIKE ", self._sum())
        if self.take("IN"):
            if not self.take("("):
                return self._in_table(left, no)
            values = [self._sum()]
            while self.take(","):
                values.append(self._sum())
            self.take(")")
            listed = [p for v in values for p in (", ", *fitted(left, v).pieces)][1:]
            return Formula((*left.pieces, f"{no} IN (", *listed, ")"), "test")
        sign = _IS.get(self.peek().lower())
        if sign is None:
            return left
        self.place += 1
        self.take("TO")
        if self.take("="):
            sign += "=" if sign in "<>" else ""
        right = self._sum()
        if left.kind == "row" and right.kind in {"total", "best"}:
            right = replace(right, pieces=self._of_all(right), kind="row")
        return compared(left, f" {sign} ", right)

    def _of_all(self, total: Formula) -> Pieces:
        """A total over all rows of its table, to compare single rows with."""
        fields = [self.made.fields[i] for i in total.fields]
        if len({field.table for field in fields}) != 1:
            raise NoFormulaError
        names = {field.id: quote(field.name) for field in fields}
        inner = "".join(p if isinstance(p, str) else names[p] for p in total.pieces)
        return (f"(SELECT {inner} FROM {quote(self.made.sheets[fields[0].table].name)})",)

    def _in_table(self, left: Formula, no: str) -> Formula:
        """What hints mean by `id NOT IN loan`: among the values of the column of that name there."""
        column = left.pieces[0]
        name = fold(self.peek().strip('`"'))
        if not isinstance(column, int) or not name:
            raise NoFormulaError
        own = self.made.fields[column].name
        found = self.made.by_name.get((name, fold(own)))
        if found is None:
            raise NoFormulaError
        self.place += 1
        table = self.made.sheets[self.made.fields[found].table].name
        return Formula((column, f"{no} IN (SELECT {quote(own)} FROM {quote(table)})"), "test")

    def _sum(self) -> Formula:
        left = self._product()
        while self.peek() in {"+", "-", "||"}:
            sign = self.peek()
            self.place += 1
            left = worked(left, sign, self._product())
        return left

    def _product(self) -> Formula:
        left = self._primary()
        while self.peek() in {"*", "/", "%"}:
            sign = self.peek()
            self.place += 1
            left = worked(left, sign, self._primary())
        return left

    def _primary(self) -> Formula:
        word = self.peek()
        if not word:
            raise NoFormulaError
        ids, end = column_at(self.text, self.words, self.place, self.made)
        call = self.peek(1) == "(" and word[0].isalpha()
        if ids and not (call and word.upper() in _TOTALS | {"MAX", "MIN"} | _PLAIN | _WORKS.keys()):
            self.place = end
            return Formula((self._choose(ids),), "row")
        if call:
            return self._call(word.upper())
        self.place += 1
        if word == "(":
            inner = self.formula()
            if not self.take(")"):
                raise NoFormulaError
            return replace(inner, pieces=("(", *inner.pieces, ")"))
        if word == "-" and re.fullmatch(r"[\d.,]+", self.peek()):
            self.place += 1
            return Formula((f"-{self.words[self.place - 1].text}",), "literal")
        if word[0] in "'\"" and len(word) > 1:
            return Formula((quoted(word),), "literal")
        if word[0].isdigit():
            return Formula((word.replace(",", "").rstrip("%"),), "literal")
        raise NoFormulaError

    def _call(self, name: str) -> Formula:
        self.place += 2
        distinct = self.take("DISTINCT")
        if name == "COUNT" and self.take("*"):
            self.take(")")
            return Formula(("COUNT(*)",), "total")
        arguments = [self.formula()]
        test: Formula | None = None
        if self.take("WHERE", "IF", "FOR", "WHEN"):
            test = self.formula()
        while self.take(",", "AS"):
            arguments.append(
                Formula((self.words[self.place].text,), "literal")
                if name == "CAST"
                else self.formula()
            )
            self.place += name == "CAST"
        if not self.take(")"):
            raise NoFormulaError
        first = arguments[0]
        if name in {"MAX", "MIN"} and len(arguments) == 1:
            total = first.kind == "total"
            pieces = first.pieces if total else (f"{name}(", *first.pieces, ")")
            return Formula(pieces, "best", name == "MAX", first.pieces, total)
        if name in _TOTALS:
            return totalled("AVG" if name == "AVERAGE" else name, first, test, distinct)
        if name in _WORKS and len(arguments) == 2:
            return worked(first, _WORKS[name], arguments[1])
        if name in _PARTS and isinstance(first.pieces[0], int):
            dates = self.made.fields[first.pieces[0]].dates
            return Formula(part_of_date(first.pieces[0], dates, _PARTS[name]), "row")
        if name not in _PLAIN | {"CAST"}:
            raise NoFormulaError
        between = " AS " if name == "CAST" else ", "
        parts = [p for a in arguments for p in (between, *a.pieces)][1:]
        kind: Kind = "total" if any(a.kind == "total" for a in arguments) else "row"
        return Formula((f"{name}(", *parts, ")"), kind)

    def _choose(self, ids: list[int]) -> int:
        self.ambiguous |= len(ids) > 1
        fields = self.made.fields
        chosen = min(ids, key=lambda i: _rank(self.tables + self.met, fields[i].table))
        self.met += (fields[chosen].table,)
        return chosen


def _rank(tables: tuple[int, ...], table: int) -> int:
    return tables.index(table) if table in tables else len(tables) + table
