"""Retrieval (CHASE-SQL, section 2.2; CHESS, section 3.1): keywords, then values and descriptions that are like them.

What departs from the papers, for want of a model that every experiment has: similarity is by letters where none is
named, and a study's stamp says so. CHESS names openai/text-embedding-3-small, CHASE-SQL none.
"""

import threading
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Self

from workbench.lab import Lab
from workbench.retrieve.descriptions import Descriptions
from workbench.retrieve.keywords import Keywords
from workbench.retrieve.lsh import LSH
from workbench.retrieve.matches import Matching, find_matches
from workbench.retrieve.similarity import Lexical, Similarity
from workbench.retrieve.values import Search, Values, open_values
from workbench.sql.executor import Executor
from workbench.types import Context, DescriptionMatch, Question, Schema, ValueMatch

# Of the threads that need a database's values, one opens them.
_opening: defaultdict[Path, threading.Lock] = defaultdict(threading.Lock)


@dataclass(frozen=True)
class Retrieval:
    """Gathers a question's context: the schema, with the values and descriptions that fit the question.

    keywords: asks a model for keywords; None looks up nothing.
    index: the search among the values; None retrieves none.
    similarity: compares values and descriptions by meaning.
    matching: which of the found values are kept.
    descriptions: which column descriptions are kept; None retrieves none, so the schema's comments have them all.
    """

    keywords: Keywords | Callable[[Lab, Question], tuple[str, ...]] | None
    index: Search | None = field(default_factory=LSH)
    similarity: Similarity = field(default_factory=Lexical)
    matching: Matching = field(default_factory=Matching)
    descriptions: Descriptions | None = None

    def __call__(self, lab: Lab, question: Question, schema: Schema) -> Context:
        values: tuple[ValueMatch, ...] = ()
        descriptions: tuple[DescriptionMatch, ...] = ()
        wanted = self.keywords and (self.index or self.descriptions)
        keywords = self.keywords(lab, question) if self.keywords and wanted else ()
        if self.index and keywords:
            database = lab.database(question.db_id)
            fingerprint = lab.executor.fingerprints([database])[database]
            with _opening[database]:
                found = _opened(database, fingerprint, self.index, lab.executor)
            values = find_matches(lab, found, schema, keywords, self.similarity, self.matching)
        if self.descriptions:
            descriptions = self.descriptions(lab, question, schema, keywords, self.similarity)
        return Context(question, schema, values, descriptions)

    def without_values(self) -> Self:
        """The ablation "w/o LSH" of CHASE-SQL's table 7."""
        return replace(self, index=None)


@lru_cache(maxsize=16)
def _opened(database: Path, fingerprint: str, by: Search, executor: Executor) -> Values:
    """The values of a database, opened once for each content."""
    del fingerprint
    return open_values(database, by, executor)
