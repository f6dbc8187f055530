"""Doubts about a candidate: features of its SQL and result that speak against it.

Each doubt compares what the query says with the question's words, the schema's keys and the columns' values.
It is 0 where nothing is wrong. No doubt depends on the generator, and none needs a model call.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from workbench.db.normalise import normalise_text
from workbench.db.sql.facts import Output, QueryFacts, query_facts
from workbench.db.sql.sources import ColumnName
from workbench.english.lexicon import cues
from workbench.english.words import alike, name_words, stem, tokens
from workbench.select.asked import Answered, answered, mention, missing_columns, out_of_order
from workbench.select.grounding import ColumnValue
from workbench.types import Execution, Question, Schema, lower_name

# An empty result is one without rows, or with nothing but 0 and NULL. A literal is known if it is in its column.
DOUBTS: Mapping[str, str] = {
    "empty_result_unknown_literal": "the result is empty and a literal is not in its column",
    "empty_result_known_literals": "the result is empty although every literal is in its column",
    "rows_unknown_literal": "the result has rows although a literal is not in its column",
    "mismatched_comparisons": "columns compared that no key joins, or text compared with a number (up to 2)",
    "uncovered_question_words": "content words of the question that no table, column or literal covers (up to 3)",
    "unrequested_columns": "result columns that the question does not mention (up to 2)",
    "missing_columns": "words at the question's beginning that only other candidates' columns answer (up to 2)",
    "columns_out_of_order": "the question mentions the result columns in another order",
    "row_reference_column": "a result column of numbers that refer to rows of another table",
    "missing_operations": "operations that the question's words call for and the query lacks",
    "unrequested_operations": "operations of the query that no word of the question calls for",
    "unreactive_result": "the result hardly changes when the data do",
}

_SUPERLATIVES = {"max", "min", "most", "fewest"}
# If the question has one of these cues (see `english.lexicon`), the query needs one of these operations.
_OPERATIONS_BY_CUES = (
    ({"count"}, {"gives count", "gives sum"}),
    ({"avg"}, {"avg"}),
    ({"distinct"}, {"distinct"}),
    (_SUPERLATIVES, {"limit", "max", "min", "order"}),
    ({"each"}, {"group"}),
    ({"not"}, {"not", "except"}),
)
# If the query has this operation, the question needs one of these cues or words.
_CUES_BY_OPERATION = {
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
# If a result column is this function's value, the question needs one of these cues.
_CUES_BY_FUNCTION = {"count": {"count", "number"}, "max": {"max"}, "min": {"min"}, "avg": {"avg"}}
_NUMBER = re.compile(r"\s*[-+]?\d+(\.\d+)?\s*")


class DoubtExtractor:
    """Computes the doubts about a question's candidates; question and schema are read once for all of them."""

    def __init__(self, question: Question, schema: Schema) -> None:
        self.schema = schema
        self.text = question.text.lower()
        self.tokens = tokens(question.text)
        self.all_tokens = tokens(f"{question.text} {question.evidence}")
        self.found_cues = cues(self.all_tokens)
        self.cues = {cue.kind for cue in self.found_cues} | {t.low for t in self.all_tokens}
        self.entities = {words[-1] for t in schema.tables if (words := name_words(t.name))}
        self.keys: set[frozenset[ColumnName]] = set()
        self.foreign: set[ColumnName] = set()
        self.primary: set[ColumnName] = set()
        for table in schema.tables:
            if len(table.primary_key) == 1:
                self.primary.add(_lower((table.name, table.primary_key[0])))
            for key in table.foreign_keys:
                for column, ref_column in zip(key.columns, key.ref_columns, strict=False):
                    source = _lower((table.name, column))
                    self.foreign.add(source)
                    self.keys.add(frozenset({source, _lower((key.ref_table, ref_column))}))
        self.joined = {frozenset(table for table, _ in pair) for pair in self.keys}
        self._facts: dict[str, QueryFacts | None] = {}

    def facts(self, sql: str) -> QueryFacts | None:
        """The query's facts, None if it cannot be parsed; read once for each spelling."""
        spelling = normalise_text(sql)
        if spelling not in self._facts:
            self._facts[spelling] = query_facts(spelling, self.schema)
        return self._facts[spelling]

    def literals(self, sql: str) -> Iterator[ColumnValue]:
        """The literals that the query compares with columns: look them up before calling `doubts`."""
        facts = self.facts(sql)
        for compared in facts.comparisons if facts else ():
            if compared.column and compared.operator in {"=", "<>"}:
                yield (*compared.column, compared.value)

    def answered(self, sql: str) -> Answered:
        """The words at the question's beginning that the query's result columns answer."""
        facts = self.facts(sql)
        return answered(_expanded(facts.outputs if facts else ()), self.tokens, self.found_cues)

    def doubts(
        self,
        sql: str,
        result: Execution | None,
        absent: frozenset[ColumnValue] = frozenset(),
        others: Sequence[Answered] = (),
        *,
        reacts: bool = True,
    ) -> dict[str, float]:
        """A number for each of DOUBTS.

        `absent` are the literals that their columns do not hold, `others` the words that each candidate answers, and
        `reacts` says whether the result changes when the data changes.
        """
        facts = self.facts(sql)
        empty = result is None or _is_empty(result)
        if facts is None:
            return dict.fromkeys(DOUBTS, 0.0) | {"empty_result_known_literals": float(empty)}
        outputs = tuple(_expanded(facts.outputs))
        unknown = not absent.isdisjoint(self.literals(sql))
        operations = facts.operations | {f"gives {output.function}" for output in outputs}
        missing = sum(
            bool(self.cues & words) and not operations & needed
            for words, needed in _OPERATIONS_BY_CUES
        )
        down, up = bool(self.cues & _DESCENDING), bool(self.cues & _ASCENDING)
        sorts_wrongly = "order" in operations and down not in {up, "descending" in operations}
        unrequested = sum(
            operation in operations and not self.cues & words
            for operation, words in _CUES_BY_OPERATION.items()
        )
        return {
            "empty_result_unknown_literal": float(empty and unknown),
            "empty_result_known_literals": float(empty and not unknown),
            "rows_unknown_literal": float(unknown and not empty),
            "mismatched_comparisons": float(self._joins_wrongly(facts) + self._mixes_kinds(facts)),
            "uncovered_question_words": self._uncovered_words(facts, absent),
            "unrequested_columns": min(2.0, sum(not self._is_requested(o) for o in facts.outputs)),
            "missing_columns": missing_columns(self.answered(sql), others),
            "columns_out_of_order": float(out_of_order(outputs, self.all_tokens)),
            "row_reference_column": float(any(map(self._is_row_reference, facts.outputs))),
            "missing_operations": float(missing + sorts_wrongly),
            "unrequested_operations": float(unrequested),
            "unreactive_result": float(not reacts),
        }

    def _joins_wrongly(self, facts: QueryFacts) -> bool:
        """Whether the query joins two columns without a key between them, although keys or values suggest others."""
        for left, right in facts.equal_columns:
            x, y = _lower(left), _lower(right)
            # Two foreign keys to one column may be compared directly, without the table that they refer to.
            share_target = self._partners(x) & self._partners(y)
            if x[0] == y[0] or frozenset({x, y}) in self.keys or share_target:
                continue
            if (
                {self._kind(left), self._kind(right)} == {"text", "number"}
                or frozenset({x[0], y[0]}) in self.joined
                or {x, y} & self.foreign
                or (x[1] != y[1] and not {x, y} & self.primary)
            ):
                return True
        return False

    def _partners(self, column: ColumnName) -> set[ColumnName]:
        return {other for key in self.keys if column in key for other in key - {column}}

    def _mixes_kinds(self, facts: QueryFacts) -> bool:
        """Whether a column is compared with a function of another column, or a number column with a text."""
        return any(
            lower_name(a[1]) != lower_name(b[1]) for a, b in facts.aggregate_comparisons
        ) or any(
            isinstance(compared.value, str)
            and compared.column is not None
            and not _NUMBER.fullmatch(compared.value.strip("%"))
            and self._kind(compared.column) == "number"
            for compared in facts.comparisons
        )

    def _kind(self, name: ColumnName) -> str:
        """The kind of a column's example values: "text", "number", or "" if they are mixed or absent."""
        column = self.schema.column(*name)
        kinds = {
            "number" if not isinstance(v, str) or _NUMBER.fullmatch(v) else "text"
            for v in (column.examples if column else ())
        }
        return kinds.pop() if len(kinds) == 1 else ""

    def _uncovered_words(self, facts: QueryFacts, absent: frozenset[ColumnValue]) -> float:
        literals = [c for c in facts.comparisons if isinstance(c.value, str)]
        # The query may spell a value as the database does and not as the question does ('USA' for "United
        # States"). Then no word of the query resembles the question's words for that value.
        translated = any(
            c.column
            and c.operator in {"=", "<>"}
            and str(c.value).lower() not in self.text
            and (*c.column, c.value) not in absent
            for c in literals
        )
        covered = {stem(t.low) for c in facts.comparisons for t in tokens(str(c.value))}
        covered |= {word for name in facts.tables for word in name_words(name)}
        covered |= {word for _, name in facts.columns for word in name_words(name)}
        words = [
            t for t in self.tokens if t.content and not (translated and (t.quoted or t.capital))
        ]
        likeness = (max((alike(t.stem, word) for word in covered), default=0.0) for t in words)
        return min(3.0, sum(1 - best for best in likeness))

    def _is_requested(self, output: Output) -> bool:
        if output.inside:
            return any(map(self._is_requested, output.inside))
        if output.function:
            return bool(self.cues & _CUES_BY_FUNCTION.get(output.function, set()))
        return output.column is not None and mention(output.column[1], self.all_tokens) is not None

    def _is_row_reference(self, output: Output) -> bool:
        if output.column is None or output.function or self._kind(output.column) != "number":
            return False
        words = name_words(output.column[1])
        return bool(words) and words[-1] in self.entities


def _lower(column: ColumnName) -> ColumnName:
    return lower_name(column[0]), lower_name(column[1])


def _expanded(outputs: Iterable[Output]) -> Iterator[Output]:
    """The result columns; an expression is replaced by the columns and aggregates in it."""
    for output in outputs:
        yield from output.inside or [output]


def _is_empty(result: Execution) -> bool:
    """Whether a result has no row, a single row of 0 and NULL, or a single column of NULL; duplicates count once."""
    rows = list(set(result.rows))
    if len(rows) < 2:
        return all(cell in {0, None, "0"} for row in rows for cell in row)
    return any(all(row[n] is None for row in rows) for n in range(len(rows[0])))
