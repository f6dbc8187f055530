"""CHESS's retrieve_context (section 3.1, appendix A.2): the column descriptions most similar to the question.

Departs from CHESS, which keeps the descriptions in a vector database: a catalog of thousands of columns fits into
memory, where it is prepared once for each process. The paper names no number of descriptions; 60 is the least of
those measured that hold all that gold needs for four of five questions (tests/benchmarks/measure/descriptions.py).
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from workbench.lab import Lab
from workbench.parallel import cached_once
from workbench.retrieve.embed import Similarity
from workbench.types import Column, DescriptionMatch, Question, Schema


@dataclass(frozen=True, slots=True)
class Descriptions:
    """Retrieves the `top` descriptions most similar to the question with its hint, and to any keyword."""

    top: int = 60

    def __call__(
        self,
        lab: Lab,
        question: Question,
        schema: Schema,
        keywords: Sequence[str],
        similarity: Similarity,
    ) -> tuple[DescriptionMatch, ...]:
        """The descriptions, best first; equals in the order of the schema."""
        matches, compared = _catalog(schema)
        if not matches:
            return ()
        queries = [f"{question.text} {question.evidence}".strip(), *keywords]
        scores = similarity(lab, queries, compared, collection=True)
        whole = scores[0] + scores[1:].max(axis=0, initial=0.0)
        best = np.argsort(-whole, kind="stable")[: self.top]
        return tuple(
            replace(matches[n], score=float(whole[n]) / 2) for n in best.tolist() if whole[n] > 0
        )


@cached_once(maxsize=16)
def _catalog(schema: Schema) -> tuple[list[DescriptionMatch], tuple[str, ...]]:
    """The columns with descriptions, whose scores are 0, and the texts to compare, which include the names."""
    matches = [
        DescriptionMatch(table.name, column.name, text, 0.0)
        for table in schema.tables
        for column in table.columns
        if (text := description(column))
    ]
    return matches, tuple(f"{spaced(m.table)} {spaced(m.column)} {m.text}" for m in matches)


def description(column: Column) -> str:
    """A column's description and value description in one text."""
    return "; ".join(filter(None, (column.description.rstrip(". "), column.value_description)))


def spaced(name: str) -> str:
    """A name as words: with spaces for underscores and between the words of CamelCase."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|_+", " ", name)
