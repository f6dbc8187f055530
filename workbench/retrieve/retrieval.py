"""Retrieval (CHASE-SQL, section 2.2; CHESS, section 3.1): keywords, then similar values and descriptions."""

from dataclasses import dataclass, field
from pathlib import Path

from workbench.lab import Lab
from workbench.parallel import cached_once
from workbench.retrieve.descriptions import Descriptions
from workbench.retrieve.embed import Similarity
from workbench.retrieve.index.trigram import Trigram
from workbench.retrieve.index.values import IndexKind, ValueIndex, open_index
from workbench.retrieve.keywords import Keywords, spoken
from workbench.retrieve.lexical import Lexical
from workbench.retrieve.matches import find_matches
from workbench.retrieve.matching import Matching
from workbench.sql.executor import Executor, file_state
from workbench.types import Context, DescriptionMatch, Question, Schema, ValueMatch


@dataclass(frozen=True, slots=True)
class Retrieval:
    """Gathers a question's context: the schema, with the values and descriptions that fit the question.

    keywords: asks a model for keywords; None uses the question's own words.
    index: the kind of value index; None retrieves no values.
    similarity: compares values and descriptions by meaning.
    matching: which values of the index are kept.
    descriptions: which column descriptions are kept; None retrieves none.
    """

    keywords: Keywords | None
    index: IndexKind | None = field(default_factory=Trigram)
    similarity: Similarity = field(default_factory=Lexical)
    matching: Matching = field(default_factory=Matching)
    descriptions: Descriptions | None = field(default_factory=Descriptions)

    def __call__(self, lab: Lab, question: Question, schema: Schema) -> Context:
        values: tuple[ValueMatch, ...] = ()
        descriptions: tuple[DescriptionMatch, ...] = ()
        if self.index or self.descriptions:
            keywords = self.keywords(lab, question) if self.keywords else spoken(question)
        if self.index:
            database = lab.database(question.db_id)
            folder = lab.client.cache.path.parent / "indexes"
            state = file_state(database)
            index = _opened(database, self.index, folder, state, lab.executor)
            values = find_matches(lab, index, schema, keywords, self.similarity, self.matching)
        if self.descriptions:
            descriptions = self.descriptions(lab, question, schema, keywords, self.similarity)
        return Context(question, schema, values, descriptions)


@cached_once(maxsize=16)
def _opened(
    database: Path, kind: IndexKind, folder: Path, state: str, executor: Executor
) -> ValueIndex:
    """The index of a database, opened once and again when the file changes."""
    del state
    return open_index(database, kind, folder, lambda path: executor.fingerprints([path])[path])
