"""Retrieval as a whole: what CHASE-SQL and CHESS both begin with."""

from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from workbench.db.fingerprint import file_state
from workbench.lab import Lab
from workbench.retrieve.descriptions import Descriptions
from workbench.retrieve.embed import Similarity
from workbench.retrieve.keywords import Keywords, spoken
from workbench.retrieve.lexical import Lexical
from workbench.retrieve.matches import Matching, find_matches
from workbench.retrieve.trigram import Trigram
from workbench.retrieve.values import Kind, ValueIndex, open_index
from workbench.types import Context, DescriptionMatch, Question, Schema, ValueMatch


@dataclass(frozen=True, slots=True)
class Retrieval:
    """A question's context: keywords, the values they may mean, and what the catalog says of columns.

    Without `keywords` the question's own words serve; without `index` no values are looked for, and
    without `descriptions` none of these.
    """

    keywords: Keywords | None
    index: Kind | None = field(default_factory=Trigram)
    similarity: Similarity = field(default_factory=Lexical)
    matching: Matching = field(default_factory=Matching)
    descriptions: Descriptions | None = field(default_factory=Descriptions)

    def __call__(self, lab: Lab, question: Question, schema: Schema) -> Context:
        """All that is known of a question before anything is generated."""
        values: tuple[ValueMatch, ...] = ()
        descriptions: tuple[DescriptionMatch, ...] = ()
        if self.index or self.descriptions:
            keywords = self.keywords(lab, question) if self.keywords else spoken(question)
        if self.index:
            database = lab.database(question.db_id)
            folder = lab.client.store.path.parent / "indexes"
            index = _opened(database, self.index, folder, file_state(database)[0])
            values = find_matches(lab, index, schema, keywords, self.similarity, self.matching)
        if self.descriptions:
            descriptions = self.descriptions(lab, question, schema, keywords, self.similarity)
        return Context(question, schema, values, descriptions)


@lru_cache(maxsize=16)
def _opened(database: Path, kind: Kind, folder: Path, state: str) -> ValueIndex:
    """Opened once for all questions about a database, and again when it has changed."""
    del state
    return open_index(database, kind, folder)
