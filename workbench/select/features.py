"""What speaks against a candidate: doubts that a reader of its SQL and of its result would have.

What a query claims of the database is compared with the question's words, with the schema's keys and with
the columns' values. A doubt is 0 where there is nothing to object; it knows nothing of who wrote the query
and asks no model.
"""

import re
from collections.abc import Iterator, Mapping

from workbench.db.spelling import one_spelling
from workbench.db.sql.claims import Claims, Output, Place, claims
from workbench.embedded.lexicon import cues
from workbench.embedded.words import Token, alike, name_words, stem, tokens
from workbench.select.grounding import Wanted
from workbench.types import Execution, Question, Schema, fold

DOUBTS: Mapping[str, str] = {
    "lost": "no row or nothing but 0 and NULL, and a literal does not stand in its column",
    "hollow": "no row or nothing but 0 and NULL, though every literal stands in its column",
    "astray": "rows, though a literal does not stand in its column",
    "unsound": "columns compared that no key joins, or text compared with a number (up to 2)",
    "uncovered": "content words of the question that no table, column or literal says (up to 3)",
    "unasked": "result columns that the question does not speak of (up to 2)",
    "disordered": "result columns in another order than the question names them",
    "reference": "a result column of numbers that stand for rows of another table",
    "undone": "how many operations the question's words call for that the query lacks",
    "uncalled": "how many operations the query has that no word of the question calls for",
}

_SUPERLATIVES = {"max", "min", "most", "fewest"}
# What cues of the question (see `embedded.lexicon`) call for: one of these operations.
_ANSWERS = (
    ({"count"}, {"gives count", "gives sum"}),
    ({"avg"}, {"avg"}),
    ({"distinct"}, {"distinct"}),
    (_SUPERLATIVES, {"limit", "max", "min", "order"}),
    ({"each"}, {"group"}),
    ({"not"}, {"not", "except"}),
)
# What calls for an operation: one of these cues or words.
_CALLS = {
    "gives count": {"count", "number"},
    "sum": {"sum"},
    "distinct count": {"distinct"},
    "limit": _SUPERLATIVES,
    "order": _SUPERLATIVES | {"sortasc", "sortdesc"},
    "not": {"not"},
    "except": {"not"},
    "or": {"either"},
    "like": {"start", "end", "contain"},
}
_DESCENDING, _ASCENDING = {"max", "most", "sortdesc"}, {"min", "fewest", "sortasc"}
# What speaks of a function's value.
_SPOKEN = {"count": {"count", "number"}, "max": {"max"}, "min": {"min"}, "avg": {"avg"}}
_SAID = 0.6  # from here on, a word of the question says a word of a name
_NUMBER = re.compile(r"\s*[-+]?\d+(\.\d+)?\s*")


class Doubter:
    """One question and its database, read once for all of the question's candidates."""

    def __init__(self, question: Question, schema: Schema) -> None:
        self.schema = schema
        self.text = question.text.lower()
        self.tokens = tokens(question.text)
        self.heard = tokens(f"{question.text} {question.evidence}")
        self.called = {cue.kind for cue in cues(self.heard)} | {t.low for t in self.heard}
        self.entities = {words[-1] for t in schema.tables if (words := name_words(t.name))}
        self.keys: set[frozenset[Place]] = set()
        self.foreign: set[Place] = set()
        self.primary: set[Place] = set()
        for table in schema.tables:
            if len(table.primary_key) == 1:
                self.primary.add(_folded((table.name, table.primary_key[0])))
            for key in table.foreign_keys:
                for column, ref_column in zip(key.columns, key.ref_columns, strict=False):
                    here = _folded((table.name, column))
                    self.foreign.add(here)
                    self.keys.add(frozenset({here, _folded((key.ref_table, ref_column))}))
        self.joined = {frozenset(table for table, _ in pair) for pair in self.keys}
        self._read: dict[str, Claims | None] = {}

    def claims(self, sql: str) -> Claims | None:
        spelled = one_spelling(sql)
        if spelled not in self._read:
            self._read[spelled] = claims(spelled, self.schema)
        return self._read[spelled]

    def wanted(self, sql: str) -> Iterator[Wanted]:
        """The values to look up before the query can be judged."""
        found = self.claims(sql)
        for compared in found.compared if found else ():
            if compared.column and compared.operator in {"=", "<>"}:
                yield (*compared.column, compared.value)

    def doubts(
        self, sql: str, result: Execution | None, missing: frozenset[Wanted]
    ) -> dict[str, float]:
        """A number for each of DOUBTS; `missing` are the values that were looked up in vain."""
        found = self.claims(sql)
        hollow = result is None or _is_hollow(result)
        if found is None:
            return dict.fromkeys(DOUBTS, 0.0) | {"hollow": float(hollow)}
        astray = not missing.isdisjoint(self.wanted(sql))
        does = found.marks | {f"gives {output.function}" for output in found.outputs}
        undone = sum(bool(self.called & by) and not does & ops for by, ops in _ANSWERS)
        uncalled = sum(op in does and not self.called & by for op, by in _CALLS.items())
        return {
            "lost": float(hollow and astray),
            "hollow": float(hollow and not astray),
            "astray": float(astray and not hollow),
            "unsound": float(self._joins_wrongly(found) + self._mixes_kinds(found)),
            "uncovered": self._uncovered(found, missing),
            "unasked": min(2.0, sum(not self._is_asked(output) for output in found.outputs)),
            "disordered": float(self._is_disordered(found)),
            "reference": float(any(map(self._is_reference, found.outputs))),
            "undone": float(undone + self._sorts_wrongly(does)),
            "uncalled": float(uncalled),
        }

    def _joins_wrongly(self, found: Claims) -> bool:
        """Are two columns set equal that no key joins, where keys or values tell what would?"""
        for one, other in found.matches:
            x, y = _folded(one), _folded(other)
            to_same = self._partners(x) & self._partners(y)
            if x[0] == y[0] or frozenset({x, y}) in self.keys or to_same:
                continue
            if (
                {self._kind(one), self._kind(other)} == {"text", "number"}
                or frozenset({x[0], y[0]}) in self.joined
                or {x, y} & self.foreign
                or (x[1] != y[1] and not {x, y} & self.primary)
            ):
                return True
        return False

    def _partners(self, place: Place) -> set[Place]:
        return {other for key in self.keys if place in key for other in key - {place}}

    def _mixes_kinds(self, found: Claims) -> bool:
        return any(fold(one[1]) != fold(other[1]) for one, other in found.mixed) or any(
            isinstance(compared.value, str)
            and compared.column is not None
            and not _NUMBER.fullmatch(compared.value.strip("%"))
            and self._kind(compared.column) == "number"
            for compared in found.compared
        )

    def _kind(self, place: Place) -> str:
        """What a column's example values are: text, number, or "" where that is not clear."""
        column = self.schema.column(*place)
        kinds = {
            "number" if not isinstance(v, str) or _NUMBER.fullmatch(v) else "text"
            for v in (column.examples if column else ())
        }
        return kinds.pop() if len(kinds) == 1 else ""

    def _uncovered(self, found: Claims, missing: frozenset[Wanted]) -> float:
        literals = [c for c in found.compared if isinstance(c.value, str)]
        # A value of the database that the question does not spell: its own words stand for it.
        translated = any(
            c.column
            and c.operator in {"=", "<>"}
            and str(c.value).lower() not in self.text
            and (*c.column, c.value) not in missing
            for c in literals
        )
        said = {stem(t.low) for c in found.compared for t in tokens(str(c.value))}
        said |= {word for name in found.tables for word in name_words(name)}
        said |= {word for _, name in found.columns for word in name_words(name)}
        words = [t for t in self.tokens if t.content and not (translated and _is_value(t))]
        best = (max((alike(t.stem, word) for word in said), default=0.0) for t in words)
        return min(3.0, sum(1 - how for how in best))

    def _is_asked(self, output: Output) -> bool:
        if output.function:
            return bool(self.called & _SPOKEN.get(output.function, set()))
        return output.column is not None and self._place(output.column[1]) is not None

    def _place(self, name: str) -> int | None:
        """The number of the token that says the name best."""
        words = name_words(name)
        fits = [max((alike(t.stem, word) for word in words), default=0.0) for t in self.heard]
        best = max(fits, default=0.0)
        return fits.index(best) if best >= _SAID else None

    def _is_disordered(self, found: Claims) -> bool:
        plain = [o.column[1] for o in found.outputs if o.column and not o.function]
        places = [place for name in plain if (place := self._place(name)) is not None]
        return places != sorted(places)

    def _is_reference(self, output: Output) -> bool:
        if output.column is None or output.function or self._kind(output.column) != "number":
            return False
        words = name_words(output.column[1])
        return bool(words) and words[-1] in self.entities

    def _sorts_wrongly(self, does: frozenset[str]) -> bool:
        down, up = bool(self.called & _DESCENDING), bool(self.called & _ASCENDING)
        return "order" in does and down not in {up, "descending" in does}


def _folded(place: Place) -> Place:
    return fold(place[0]), fold(place[1])


def _is_value(token: Token) -> bool:
    return bool(token.quoted) or token.capital


def _is_hollow(result: Execution) -> bool:
    """No row, one of only 0 and NULL, or a column that is NULL throughout; repeated rows are one."""
    rows = list(set(result.rows))
    if len(rows) < 2:
        return all(cell in {0, None, "0"} for row in rows for cell in row)
    return any(all(row[n] is None for row in rows) for n in range(len(rows[0])))
