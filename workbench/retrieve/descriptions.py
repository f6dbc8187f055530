"""retrieve_context: the column descriptions most like the question (CHESS, section 3.1, appendix A.2).

As in CHESS's code, each keyword is a query together with the question, and another with the hint; each query retrieves
five descriptions. CHESS keeps the descriptions in a vector database: a catalog of thousands of columns fits into memory.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from workbench.errors import at_least
from workbench.lab import Lab
from workbench.retrieve.similarity import Similarity
from workbench.types import Column, DescriptionMatch, Question, Schema


@dataclass(frozen=True)
class Descriptions:
    """top: how many descriptions a query retrieves."""

    top: int = 5

    def __post_init__(self) -> None:
        at_least(1, top=self.top)

    def __call__(
        self, lab: Lab, question: Question, schema: Schema, keywords: Sequence[str], similarity: Similarity
    ) -> tuple[DescriptionMatch, ...]:  # fmt: skip
        """The descriptions that any query retrieves, the most like it first; equals in the order of the schema."""
        catalog, texts = _catalog(schema)
        if not catalog:
            return ()
        about = filter(None, (question.text, question.evidence))
        queries = [f"{text} {keyword}".strip() for text in about for keyword in keywords or [""]]
        scores = np.nan_to_num(similarity(lab, queries, texts, collection=True))
        fifth = np.sort(scores, axis=1)[:, -self.top :][:, :1]
        best = np.where(scores >= fifth, scores, 0.0).max(axis=0)
        order = np.argsort(-best, kind="stable").tolist()
        return tuple(replace(catalog[n], score=float(best[n])) for n in order if best[n] > 0)


@lru_cache(maxsize=16)
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
