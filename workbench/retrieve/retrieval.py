"""Retrieval (CHASE-SQL, section 2.2; CHESS, section 3.1): keywords, then values and descriptions that are like them.

What departs from the papers, for want of a model that every experiment has: similarity is by letters where none is
named, and a study's stamp says so. CHESS names openai/text-embedding-3-small, CHASE-SQL none.
"""

import threading
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, is_dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, Self

from workbench.errors import BadInputError, one_of
from workbench.lab import Lab
from workbench.retrieve.descriptions import Descriptions
from workbench.retrieve.keywords import Keywords
from workbench.retrieve.lsh import LSH
from workbench.retrieve.matches import Matching
from workbench.retrieve.similarity import Embedding, Lexical, Similarity
from workbench.retrieve.trigram import Trigram
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
                held = _opened(database, fingerprint, self.index, lab.executor)
            values = self.matching(lab, held, schema, keywords, self.similarity)
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


_INDEXES = {"lsh": LSH(), "trigram": Trigram(), "none": None}
_NUMBERS = [name.name for name in fields(Matching)]


def with_retrieval(step: Any, setting: str | Mapping[str, Any]) -> Any:
    """The step with an experiment's setting `retrieval`, if it is a `Retrieval`; what that leaves out stays left out.

    The setting is the name of an index, `lsh` (the papers'), `trigram` (finds more) or `none`; or it names what differs
    from each system's own: `index`, `similarity` (letters, or PROVIDER/MODEL of an embedding model), `descriptions` (how
    many a query retrieves), and the fields of `Matching`.
    """
    if not isinstance(step, Retrieval) or not (step.index or step.descriptions):
        return step
    changes: dict[str, Any] = {}
    matching = step.matching
    named: Mapping[str, Any] = {"index": setting} if isinstance(setting, str) else setting
    for name, given in named.items():
        one_of(("index", "similarity", "descriptions", *_NUMBERS), retrieval=name)
        if name == "index":
            one_of([*_INDEXES], **{"retrieval, index": given})
            changes[name] = _INDEXES[given]
        elif name == "similarity":
            if given != "letters" and not (isinstance(given, str) and "/" in given):
                raise BadInputError(f"similarity is {given!r}: give letters, or PROVIDER/MODEL")
            changes[name] = Lexical() if given == "letters" else Embedding(given)
        elif type(given) not in {int, float}:
            raise BadInputError(f"retrieval: {name} is {given!r}, and should be a number")
        elif name == "descriptions":
            changes[name] = Descriptions(given)
        else:
            matching = replace(matching, **{name: given})
    kept = {name: new for name, new in changes.items() if getattr(step, name) is not None}
    return replace(step, matching=matching, **kept)


def by_letters(step: Any) -> bool:
    """Whether anything in a system is compared by letters, for want of an embedding model."""
    if isinstance(step, Retrieval) and not (step.index or step.descriptions):
        return False
    own = [getattr(step, part.name) for part in fields(step)] if is_dataclass(step) else ()
    return isinstance(step, Lexical) or any(
        map(by_letters, step if isinstance(step, tuple) else own)
    )
