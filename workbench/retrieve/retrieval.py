"""Retrieval (CHASE-SQL, section 2.2; CHESS, section 3.1): keywords, then values and descriptions that are like them.

Two similarities are interchangeable, by letters (`Lexical`) and by meaning (`Embedding`). One departure from the papers:
where an experiment names no embedding model, similarity is by letters, and the study's stamp says so. CHESS's model is
openai/text-embedding-3-small; CHASE-SQL names none.
"""

import math
import re
from base64 import b64decode
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from functools import lru_cache
from itertools import chain
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from rapidfuzz import fuzz

from workbench import replies
from workbench.errors import BadInputError, at_least, one_of
from workbench.lab import Lab
from workbench.llm.send import EMBEDDING
from workbench.retrieve.values import LONGEST, LSH, Search, Trigram, Values, folded, open_values
from workbench.types import Column, Context, DescriptionMatch, Question, Request, Schema, ValueMatch

Matrix = npt.NDArray[np.float32]


@dataclass(frozen=True)
class Lexical:
    """Similarity by letters: the cosine of two sets of words and their trigrams. No model is asked.

    It recognises spelling and inflection, but no meaning: "lady" and "woman" are not alike.
    """

    alike: float = 0.35

    def __call__(
        self, lab: Lab, queries: Sequence[str], texts: Sequence[str], *, collection: bool = False
    ) -> Matrix:
        del lab
        asked, held = ([_features(text) for text in some] for some in (queries, texts))
        counts = Counter(chain.from_iterable(held))

        def weigh(feature: str) -> float:
            """In a collection a rare feature tells more (inverse document frequency)."""
            return math.log1p(len(texts) / max(1, counts[feature])) if collection else 1.0

        known = {feature: weigh(feature) for feature in sorted(frozenset[str]().union(*asked))}

        def vectors(sets: Sequence[frozenset[str]]) -> Matrix:
            rows = [[weight * (f in own) for f, weight in known.items()] for own in sets]
            lengths = [math.sqrt(math.fsum(weigh(f) ** 2 for f in own)) or 1.0 for own in sets]
            whole = np.array(rows, np.float32).reshape(len(sets), len(known))
            unit: Matrix = whole / np.array(lengths, np.float32).reshape(-1, 1)
            return unit

        return (vectors(asked) @ vectors(held).T).clip(0, 1)


@lru_cache(maxsize=50_000)
def _features(text: str) -> frozenset[str]:
    """Each word, and each trigram of a word with blanks at its ends."""
    words = [f" {word} " for word in re.findall(r"[^\W_]+", folded(text))]
    return frozenset([*words, *(word[i : i + 3] for word in words for i in range(len(word) - 2))])


@dataclass(frozen=True)
class Embedding:
    """Cosine similarity by an embedding model of LiteLLM, of each text's first 2,000 characters.

    The vectors are cached like replies, so that each is paid once. A local model needs no key: ollama/all-minilm.
    """

    model: str
    alike: float = 0.6

    def __call__(
        self, lab: Lab, queries: Sequence[str], texts: Sequence[str], *, collection: bool = False
    ) -> Matrix:
        del collection
        cut = {text: text[:2000].strip() for text in (*queries, *texts)}
        once = list(dict.fromkeys(filter(None, cut.values())))
        contents = [[{"role": "user", "content": text}] for text in once]
        asked = [Request("retrieve/embed", self.model, c, {EMBEDDING: True}) for c in contents]
        vectors = {
            text: np.frombuffer(b64decode(reply.text), np.float32)
            for text, reply in zip(once, lab.client.complete_many(asked), strict=True)
            if not reply.fault
        }
        width = max((vector.size for vector in vectors.values()), default=1)
        unknown = np.full(width, np.nan, np.float32)

        def matrix(texts: Sequence[str]) -> Matrix:
            rows = [vectors.get(cut[text], unknown) for text in texts]
            whole = np.array(rows, np.float32).reshape(-1, width)
            unit: Matrix = whole / np.linalg.norm(whole, axis=1, keepdims=True)
            return unit

        return (matrix(queries) @ matrix(texts).T).clip(0, 1)


# A similarity gives a number from 0 to 1 for each query (row) and text (column), NaN if the model failed. Two texts count
# as alike from its `alike` on. In a `collection`, words that many of the texts have count less.
Similarity = Lexical | Embedding


@dataclass(frozen=True)
class Keywords:
    """extract_keywords: a model that is shown examples lists them (CHESS, figure 7), at the temperature of CHESS's code.

    A reply that cannot be read gives none. In its place, any function of the lab and the question serves.
    """

    model: str
    temperature: float = 0.2

    def __call__(self, lab: Lab, question: Question) -> tuple[str, ...]:
        """The keywords in the order of the reply, each once and at most sixty."""
        data = {"question": question.text, "hint": question.evidence}
        answer = lab.ask(self, "retrieve/keywords", question, replies.strings, **data)
        once = dict.fromkeys(" ".join(keyword.split()) for keyword in answer.value or ())
        return tuple(keyword for keyword in once if 0 < len(keyword) <= LONGEST)[:60]


@dataclass(frozen=True)
class Matching:
    """retrieve_entity: the values that the keywords may mean (CHESS, appendix A.1).

    For each keyword, and for the beginnings and ends of one of several words, a search returns the `candidates` most
    like it, as in CHESS's code and in CHASE-SQL's appendix A.5. Values unlike it in spelling or in meaning are left out.
    Of the rest, a column keeps those closest in spelling: one for each keyword in CHESS, several in CHASE-SQL.

    edit: the least similarity by spelling, which is RapidFuzz's ratio from 0 to 1.
    semantic: the least similarity by meaning; None stands for the measure's own (`Similarity.alike`).
    keep: the least similarity by spelling as a share of the column's best for any keyword, as in CHESS's code.
    per_keyword: how many values a column keeps for one keyword.
    """

    candidates: int = 10
    edit: float = 0.3
    semantic: float | None = None
    keep: float = 0.9
    per_keyword: int = 5

    def __post_init__(self) -> None:
        at_least(1, candidates=self.candidates, per_keyword=self.per_keyword)
        for given in (self.edit, self.semantic or 0, self.keep):
            if not (isinstance(given, int | float) and 0 <= given <= 1):
                raise BadInputError(f"edit, semantic, keep: {given!r} is no number from 0 to 1")

    def __call__(
        self, lab: Lab, values: Values, schema: Schema, keywords: Sequence[str], similarity: Similarity
    ) -> tuple[ValueMatch, ...]:  # fmt: skip
        parts = [keyword.split() for keyword in keywords]
        cuts = ((own[:n], own[n:]) for own in parts for n in range(1, len(own)))
        searches = [*keywords, *(" ".join(cut) for both in cuts for cut in both)]
        near = [
            ValueMatch(*place, text, edit, 0.0)
            for text in dict.fromkeys(searches)
            for place in values.search(text, self.candidates)
            if (edit := fuzz.ratio(folded(text), folded(place[-1])) / 100) >= self.edit
        ]
        rows = {text: n for n, text in enumerate(dict.fromkeys(match.keyword for match in near))}
        texts = {text: n for n, text in enumerate(dict.fromkeys(match.value for match in near))}
        scores = similarity(lab, list(rows), list(texts))
        least = similarity.alike if self.semantic is None else self.semantic
        meant = []
        for match in near:
            score = float(scores[rows[match.keyword], texts[match.value]])
            if not score < least:  # where the model failed the score is NaN, and spelling decides
                meant.append(match if math.isnan(score) else replace(match, semantic=score))
        meant.sort(key=lambda match: (-match.edit, -match.semantic, match.value, match.keyword))
        kept: dict[tuple[str, str], dict[str, ValueMatch]] = {pair: {} for pair in schema.columns()}
        counts: Counter[tuple[str, str, str]] = Counter()
        for match in meant:
            own = kept.setdefault((match.table, match.column), {})
            counts[place := (match.table, match.column, match.keyword)] += 1
            best = next(iter(own.values()), match)
            if counts[place] <= self.per_keyword and match.edit >= self.keep * best.edit:
                own.setdefault(match.value, match)
        return tuple(match for own in kept.values() for match in own.values())


@dataclass(frozen=True)
class Descriptions:
    """retrieve_context: the column descriptions most like the question (CHESS, appendix A.2), the most similar first.

    As in CHESS's code, the question with each keyword is a query, and so is the hint with each keyword; each query
    retrieves `top` descriptions. CHESS keeps these in a vector database; here they are compared in memory.
    """

    top: int = 5

    def __post_init__(self) -> None:
        at_least(1, top=self.top)

    def __call__(
        self, lab: Lab, question: Question, schema: Schema, keywords: Sequence[str], similarity: Similarity
    ) -> tuple[DescriptionMatch, ...]:  # fmt: skip
        catalog = [
            DescriptionMatch(table.name, column.name, text, 0.0)
            for table in schema.tables
            for column in table.columns
            if (text := description(column))
        ]
        if not catalog:
            return ()
        texts = [f"{spaced(one.table)} {spaced(one.column)} {one.text}" for one in catalog]
        about = filter(None, (question.text, question.evidence))
        queries = [f"{text} {keyword}".strip() for text in about for keyword in keywords or [""]]
        scores = np.nan_to_num(similarity(lab, queries, texts, collection=True))
        least = np.sort(scores, axis=1)[:, -self.top :][:, :1]
        best = np.where(scores >= least, scores, 0.0).max(axis=0)
        order = np.argsort(-best, kind="stable").tolist()
        return tuple(replace(catalog[n], score=float(best[n])) for n in order if best[n] > 0)


def description(column: Column) -> str:
    """A column's description and value description in one text."""
    return "; ".join(filter(None, (column.description.rstrip(". "), column.value_description)))


def spaced(name: str) -> str:
    """A name as words: with spaces for underscores and between the words of CamelCase."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|_+", " ", name)


@dataclass(frozen=True)
class Retrieval:
    """A question's context: the schema, with the values and descriptions that are like the question's keywords.

    keywords: None leaves values out, and retrieves descriptions by the question and the hint alone.
    index: the search among the values; None leaves them out.
    similarity: compares values and descriptions by meaning.
    descriptions: None retrieves none, and the schema's comments have them all.
    """

    keywords: Keywords | Callable[[Lab, Question], tuple[str, ...]] | None
    index: Search | None = field(default_factory=LSH)
    similarity: Similarity = field(default_factory=Lexical)
    matching: Matching = field(default_factory=Matching)
    descriptions: Descriptions | None = None

    def __call__(self, lab: Lab, question: Question, schema: Schema) -> Context:
        values: tuple[ValueMatch, ...] = ()
        descriptions: tuple[DescriptionMatch, ...] = ()
        wanted = self.keywords if self.index or self.descriptions else None
        keywords = wanted(lab, question) if wanted else ()
        if self.index and keywords:
            held = open_values(lab.database(question.db_id), self.index, lab.executor)
            values = self.matching(lab, held, schema, keywords, self.similarity)
        if self.descriptions:
            descriptions = self.descriptions(lab, question, schema, keywords, self.similarity)
        return Context(question, schema, values, descriptions)

    def without_values(self) -> Self:
        """The ablation "w/o LSH" of CHASE-SQL's table 7."""
        return replace(self, index=None)


_INDEXES = {"lsh": LSH(), "trigram": Trigram(), "none": None}


def with_retrieval(step: Any, setting: str | Mapping[str, Any]) -> Any:
    """The step with an experiment's setting `retrieval`, if it is a `Retrieval`; what it leaves out stays left out.

    The setting is an index, `lsh` (the papers'), `trigram` (finds more) or `none`; or a mapping with any of `index`,
    `similarity` (letters, or PROVIDER/MODEL of an embedding model) and `descriptions` (how many a query retrieves).
    """
    if not isinstance(step, Retrieval) or not (step.index or step.descriptions):
        return step
    changes: dict[str, Any] = {}
    named: Mapping[str, Any] = {"index": setting} if isinstance(setting, str) else setting
    for name, given in named.items():
        one_of(("index", "similarity", "descriptions"), retrieval=name)
        if name == "index":
            one_of([*_INDEXES], **{"retrieval, index": given})
            changes[name] = _INDEXES[given]
        elif name == "similarity":
            if given != "letters" and not (isinstance(given, str) and "/" in given):
                raise BadInputError(f"similarity is {given!r}: give letters, or PROVIDER/MODEL")
            changes[name] = Lexical() if given == "letters" else Embedding(given)
        else:
            changes[name] = Descriptions(given)
    kept = {name: new for name, new in changes.items() if getattr(step, name) is not None}
    return replace(step, **kept)


def by_letters(step: Any) -> bool:
    """Whether a step of the system compares by letters."""
    if isinstance(step, Retrieval) and not (step.index or step.descriptions):
        return False
    own = [getattr(step, part.name) for part in fields(step)] if is_dataclass(step) else ()
    parts = step if isinstance(step, tuple) else own
    return isinstance(step, Lexical) or any(map(by_letters, parts))
