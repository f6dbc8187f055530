"""Expressions as hints write them: SQL, and the habits of those who write about it.

"DIVIDE(SUM(st = 'K'), COUNT(id)) * 100" is read as the SQL that it stands for (recursive descent).
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace

from workbench.db.text.quoting import quote
from workbench.embedded.linking.dates import part_of_date
from workbench.embedded.linking.formula import (
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
from workbench.embedded.linking.index import Index
from workbench.types import lower_name

_PLAIN = frozenset(
    re.findall(
        r"\w+",
        """SUBSTR SUBSTRING STRFTIME JULIANDAY LENGTH ROUND ABS INSTR LOWER UPPER REPLACE TRIM DATE COALESCE
        IFNULL IIF NULLIF DATETIME TIME CAST""",
    )
)
_TOTALS = {"COUNT": "COUNT", "SUM": "SUM", "AVG": "AVG", "TOTAL": "TOTAL", "AVERAGE": "AVG"}
_WORKS = {"DIVIDE": "/", "SUBTRACT": "-", "MULTIPLY": "*", "ADD": "+"}
_PARTS = {"YEAR": "y", "MONTH": "m", "DAY": "d"}
_FUNCTIONS = _PLAIN | _TOTALS.keys() | _WORKS.keys() | {"MAX", "MIN"}
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
    tables: tuple[int, ...] = ()  # tables to prefer, the first most
    met: tuple[int, ...] = ()  # tables of the columns so far
    ambiguous: bool = False

    def peek(self, ahead: int = 0) -> str:
        at = self.place + ahead
        return self.words[at].text if at < len(self.words) else ""

    def take(self, *expected: str) -> bool:
        """Step over the next word if it is an expected one."""
        taken = self.peek().upper() in expected
        self.place += taken
        return taken

    def formula(self) -> Formula:
        """The longest expression from here on."""
        return self._chain({"OR"}, self._conjunction, logic)

    def _conjunction(self) -> Formula:
        return self._chain({"AND"}, self._comparison, logic)

    def _sum(self) -> Formula:
        return self._chain({"+", "-", "||"}, self._product, worked)

    def _product(self) -> Formula:
        return self._chain({"*", "/", "%"}, self._primary, worked)

    def _chain(
        self,
        signs: set[str],
        operand: Callable[[], Formula],
        join: Callable[[Formula, str, Formula], Formula],
    ) -> Formula:
        """Operands with signs between them; it ends before a sign that no operand follows."""
        left = operand()
        while (sign := self.peek().upper()) in signs:
            mark = self.place
            self.place += 1
            try:
                left = join(left, sign, operand())
            except NoFormulaError:
                self.place = mark
                break
        return left

    def _comparison(self) -> Formula:
        if self.take("NOT"):
            inner = self._comparison()
            return replace(inner, pieces=("NOT (", *inner.pieces, ")"))
        left = self._sum()
        words = (self.peek().upper(), self.peek(1).upper(), self.peek(2).upper())
        negative = words[1] == "NOT"
        if words[0] in {"IS", "ARE"} and words[1 + negative] in _EMPTY:
            self.place += 2 + negative
            return Formula((*left.pieces, f" IS{' NOT' * negative} NULL"), "test")
        no = " NOT" * (words[0] == "NOT" and words[1] in {"LIKE", "IN", "BETWEEN"})
        self.place += bool(no)
        if self.take("BETWEEN"):
            low = self._sum()
            if not self.take("AND"):
                raise NoFormulaError
            return compared(left, f"{no} BETWEEN ", low, (" AND ", *fitted(left, self._sum())))
        if self.take("LIKE", "GLOB"):
            return compared(left, f"{no} LIKE ", self._sum())
        if self.take("IN"):
            return self._within(left, no)
        sign = _IS.get(self.peek().lower())
        if sign is None:
            return left
        self.place += 1
        self.take("TO")  # "is equal to"
        sign += "=" * (self.take("=") and sign in "<>")
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

    def _within(self, left: Formula, no: str) -> Formula:
        """A list of values, or a table: `id NOT IN loan` means loan's column of the same name."""
        if self.take("("):
            values = [self._sum()]
            while self.take(","):
                values.append(self._sum())
            self.take(")")
            listed = [p for value in values for p in (", ", *fitted(left, value))][1:]
            return Formula((*left.pieces, f"{no} IN (", *listed, ")"), "test")
        column = left.pieces[0]
        name = lower_name(self.peek().strip('`"'))
        own = self.made.fields[column].name if isinstance(column, int) else ""
        found = self.made.by_name.get((name, lower_name(own)))
        if found is None:
            raise NoFormulaError
        self.place += 1
        table = self.made.sheets[self.made.fields[found].table].name
        return Formula((column, f"{no} IN (SELECT {quote(own)} FROM {quote(table)})"), "test")

    def _primary(self) -> Formula:
        word = self.peek()
        if not word:
            raise NoFormulaError
        ids, end = column_at(self.text, self.words, self.place, self.made)
        call = self.peek(1) == "(" and word[0].isalpha()
        if ids and not (call and word.upper() in _FUNCTIONS):
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
            return quoted(word)
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
        test = self.formula() if self.take("WHERE", "IF", "FOR", "WHEN") else None
        while self.take(",", "AS"):
            if name == "CAST":
                arguments.append(Formula((self.peek(),), "literal"))
                self.place += 1
            else:
                arguments.append(self.formula())
        if not self.take(")"):
            raise NoFormulaError
        first = arguments[0]
        if name in {"MAX", "MIN"} and len(arguments) == 1:
            total = first.kind == "total"
            pieces = first.pieces if total else (f"{name}(", *first.pieces, ")")
            return Formula(pieces, "best", name == "MAX", first.pieces, total)
        if name in _TOTALS:
            return totalled(_TOTALS[name], first, test, distinct=distinct)
        if name in _WORKS and len(arguments) == 2:
            return worked(first, _WORKS[name], arguments[1])
        if name in _PARTS and isinstance(first.pieces[0], int):
            dates = self.made.fields[first.pieces[0]].dates
            return Formula(part_of_date(first.pieces[0], dates, _PARTS[name]), "row")
        if name not in _PLAIN:
            raise NoFormulaError
        between = " AS " if name == "CAST" else ", "
        parts = [p for a in arguments for p in (between, *a.pieces)][1:]
        kind: Kind = "total" if any(a.kind == "total" for a in arguments) else "row"
        return Formula((f"{name}(", *parts, ")"), kind)

    def _choose(self, ids: list[int]) -> int:
        """The column of the table that is preferred or that others of the expression are in."""
        self.ambiguous |= len(ids) > 1
        order = self.tables + self.met
        tables = {i: self.made.fields[i].table for i in ids}
        chosen = min(
            ids, key=lambda i: (tables[i] not in order, (*order, tables[i]).index(tables[i]), i)
        )
        self.met += (tables[chosen],)
        return chosen
