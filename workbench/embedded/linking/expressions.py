"""Expressions as hints write them: SQL, and the habits of those who write about it.

"DIVIDE(SUM(st = 'K'), COUNT(id)) * 100" is read as the SQL that it stands for (recursive descent).
"""

import re
from dataclasses import dataclass, replace

from workbench.embedded.linking.formula import (
    Formula,
    Kind,
    NoFormulaError,
    column_at,
    compared,
    fitted,
    logic,
    totalled,
    worked,
)
from workbench.embedded.linking.index import Index, Pieces, part_of_date
from workbench.sql.schema_text import quote

# The signs that join operands, by how tightly they bind; comparisons stand between the second and the third.
_LEVELS = ({"OR"}, {"AND"}, {"+", "-", "||"}, {"*", "/", "%"})
_COMPARISONS = 2
_PLAIN = {"SUBSTR", "SUBSTRING", "STRFTIME", "JULIANDAY", "LENGTH", "ROUND", "ABS", "INSTR",
    "LOWER", "UPPER", "REPLACE", "TRIM", "DATE", "COALESCE", "IFNULL", "IIF", "NULLIF", "DATETIME",
    "TIME"}  # fmt: skip
_TOTALS = {"COUNT": "COUNT", "SUM": "SUM", "AVG": "AVG", "TOTAL": "TOTAL", "AVERAGE": "AVG"}
_WORKS = {"DIVIDE": "/", "SUBTRACT": "-", "MULTIPLY": "*", "ADD": "+"}
_PARTS = {"YEAR": "%Y", "MONTH": "%m", "DAY": "%d"}
_FUNCTIONS = _PLAIN | _TOTALS.keys() | _WORKS.keys() | {"MAX", "MIN"}
_EMPTY = {"NULL", "EMPTY", "MISSING", "BLANK", "UNKNOWN"}
_IS = {"is": "=", "equals": "=", "equal": "=", "=": "=", "==": "=", "!=": "<>", "<>": "<>"}
_IS |= {sign: sign for sign in ("<", ">", "<=", ">=")}


@dataclass(slots=True)
class Reader:
    """Reads one expression from a text; of several columns of a name it takes one, and says so."""

    made: Index
    words: list[re.Match[str]]
    place: int = 0
    tables: tuple[int, ...] = ()  # tables to prefer, the first most
    met: tuple[int, ...] = ()  # tables of the columns so far
    ambiguous: bool = False

    def peek(self, ahead: int = 0) -> str:
        at = self.place + ahead
        return self.words[at][0] if at < len(self.words) else ""

    def take(self, *expected: str) -> bool:
        """Step over the next word if it is an expected one."""
        taken = self.peek().upper() in expected
        self.place += taken
        return taken

    def formula(self, level: int = 0) -> Formula:
        """The longest expression from here on; it ends before a sign that no operand follows."""
        left = self._operand(level)
        while (sign := self.peek().upper()) in _LEVELS[level]:
            mark = self.place
            self.place += 1
            try:
                join = logic if level < _COMPARISONS else worked
                left = join(left, sign, self._operand(level))
            except NoFormulaError:
                self.place = mark
                break
        return left

    def _operand(self, level: int) -> Formula:
        if level + 1 == len(_LEVELS):
            return self._primary()
        return self._comparison() if level + 1 == _COMPARISONS else self.formula(level + 1)

    def _comparison(self) -> Formula:
        if self.take("NOT"):
            inner = self._comparison()
            return replace(inner, pieces=("NOT (", *inner.pieces, ")"))
        left = self.formula(_COMPARISONS)
        words = (self.peek().upper(), self.peek(1).upper(), self.peek(2).upper())
        negative = words[1] == "NOT"
        if words[0] in {"IS", "ARE"} and words[1 + negative] in _EMPTY:
            self.place += 2 + negative
            return Formula((*left.pieces, f" IS{' NOT' * negative} NULL"), "test")
        no = " NOT" * (words[0] == "NOT" and words[1] in {"LIKE", "IN", "BETWEEN"})
        self.place += bool(no)
        if self.take("BETWEEN"):
            low = self.formula(_COMPARISONS)
            if not self.take("AND"):
                raise NoFormulaError
            high = self.formula(_COMPARISONS)
            return compared(left, f"{no} BETWEEN ", low, (" AND ", *fitted(left, high)))
        if self.take("LIKE", "GLOB"):
            return compared(left, f"{no} LIKE ", self.formula(_COMPARISONS))
        if self.take("IN"):
            listed = tuple(p for value in self._listed() for p in (", ", *fitted(left, value)))[1:]
            return Formula((*left.pieces, f"{no} IN (", *listed, ")"), "test")
        sign = _IS.get(self.peek().lower())
        if sign is None:
            return left
        self.place += 1
        self.take("TO")  # "is equal to"
        sign += "=" * (self.take("=") and sign in "<>")
        right = self.formula(_COMPARISONS)
        if left.kind == "row" and right.kind in {"total", "best"}:
            right = replace(right, pieces=self._of_all(right), kind="row")
        return compared(left, f" {sign} ", right)

    def _listed(self) -> list[Formula]:
        """The values in parentheses."""
        if not self.take("("):
            raise NoFormulaError
        values = [self.formula(_COMPARISONS)]
        while self.take(","):
            values.append(self.formula(_COMPARISONS))
        self.take(")")
        return values

    def _of_all(self, total: Formula) -> Pieces:
        """A total over all rows of its table, to compare single rows with."""
        fields = [self.made.fields[i] for i in total.fields]
        if len({field.table for field in fields}) != 1:
            raise NoFormulaError
        names = {field.id: quote(field.name) for field in fields}
        inner = "".join(p if isinstance(p, str) else names[p] for p in total.pieces)
        return (f"(SELECT {inner} FROM {quote(self.made.sheets[fields[0].table].name)})",)

    def _primary(self) -> Formula:
        word = self.peek()
        if not word:
            raise NoFormulaError
        ids, end = column_at(self.words, self.place, self.made)
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
        if word == "-" and self.peek()[:1].isdigit():
            return replace(negated := self._primary(), pieces=(f"-{negated.pieces[0]}",))
        if word[0] in "'\"" and len(word) > 1:
            text = word if word[0] == "'" else "'" + word[1:-1].replace("'", "''") + "'"
            return Formula((text,), "literal")
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
        while self.take(","):
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
            column = self.made.fields[first.pieces[0]]
            return Formula(part_of_date(column, _PARTS[name]), "row")
        if name not in _PLAIN:
            raise NoFormulaError
        parts = [p for a in arguments for p in (", ", *a.pieces)][1:]
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
