"""Retrieval (CHASE-SQL, section 2.2; CHESS, section 3.1): keywords, then what is like them.

Two similarities are interchangeable, by letters (`Lexical`) and by meaning (`Embedding`). One
departure from the papers: where an experiment names no embedding model, similarity is by letters,
and the study's stamp says so. CHESS's model is openai/text-embedding-3-small; CHASE-SQL names none.

Similarities are rounded before they are compared, and names break ties: prompts are the same on
every processor.
"""

import math
import re
from base64 import b64decode
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from functools import lru_cache
from itertools import chain, product
from typing import Annotated, Any, Literal, Self

import numpy as np
import numpy.typing as npt
from pydantic import BaseModel, StringConstraints, ValidationError
from rapidfuzz import fuzz

from workbench import replies
from workbench.benchmarks.files import first_fault
from workbench.errors import BadInputError, at_least, one_of
from workbench.lab import Lab
from workbench.llm.send import EMBEDDING
from workbench.retrieve.values import (
    LONGEST,
    LSH,
    Search,
    Spelling,
    Values,
    folded,
    open_values,
)
from workbench.types import (
    Column,
    Context,
    DescriptionMatch,
    Question,
    Request,
    Schema,
    ValueMatch,
)

Matrix = npt.NDArray[np.float64]
_MOST_KEYWORDS = 60
PLACES = 4  # decimal places of a similarity: the last ones differ between processors


@dataclass(frozen=True)
class Lexical:
    """Similarity by letters: the cosine of two sets of words and their trigrams. No model is asked.

    It recognises spelling and inflection, but no meaning: "lady" and "woman" are not alike.
    """

    alike: float = 0.35

    @property
    def threshold(self) -> float:
        return self.alike

    def __call__(
        self,
        lab: Lab,  # noqa: ARG002  no model is asked
        queries: Sequence[str],
        texts: Sequence[str],
        *,
        collection: bool = False,
    ) -> Matrix:
        query_features = [_features(text) for text in queries]
        text_features = [_features(text) for text in texts]
        columns_with = defaultdict[str, list[int]](list)  # the texts with a feature
        for column, features in enumerate(text_features):
            for feature in features:
                columns_with[feature].append(column)

        # Whole numbers, so that every processor has the same sums.
        squares = dict.fromkeys(chain(*query_features, *text_features), 1)
        if collection:
            for feature in squares:
                rarity = len(texts) / max(1, len(columns_with[feature]))
                squares[feature] = round(1000 * math.log1p(rarity)) ** 2

        products = np.zeros((len(queries), len(texts)))
        for row, features in enumerate(query_features):
            for feature in features:
                products[row, columns_with[feature]] += squares[feature]

        def lengths(sets: Sequence[frozenset[str]]) -> Matrix:
            sums = []
            for features in sets:
                total = sum(squares[feature] for feature in features)
                sums.append(total or 1)
            return np.sqrt(sums)

        cosines = products / np.outer(lengths(query_features), lengths(text_features))
        return cosines.clip(0, 1).round(PLACES)


@lru_cache(maxsize=50_000)
def _features(text: str) -> frozenset[str]:
    """Return each word, and each trigram of a word with blanks at its ends."""
    features = set()
    for word in re.findall(r"[^\W_]+", folded(text)):
        padded = f" {word} "
        features.add(padded)
        features.update(padded[n : n + 3] for n in range(len(word)))
    return frozenset(features)


# By model, from which cosine on two texts count as alike.
_ALIKE = {"openai/text-embedding-3-small": 0.6}


@dataclass(frozen=True)
class Embedding:
    """Cosine similarity by an embedding model of LiteLLM, of each text's first 2,000 characters.

    The vectors are cached like replies, so that each is paid once. A local model needs no key:
    ollama/all-minilm.

    alike: from which similarity on two texts count as alike. Each model has its own scale, so a
        model whose number is not known here has to be given one.
    """

    model: str
    alike: float | None = None

    def __post_init__(self) -> None:
        if self.alike is None and self.model not in _ALIKE:
            raise BadInputError(
                f"nobody has measured from which similarity on {self.model} means the same: give "
                "alike, a number from 0 to 1 (0.6 for openai/text-embedding-3-small; 0 leaves out "
                "nothing)"
            )
        if self.alike is not None:
            _check_shares(alike=self.alike)

    @property
    def threshold(self) -> float:
        return _ALIKE[self.model] if self.alike is None else self.alike

    def __call__(
        self,
        lab: Lab,
        queries: Sequence[str],
        texts: Sequence[str],
        *,
        collection: bool = False,
    ) -> Matrix:
        del collection
        beginnings = dict.fromkeys(map(_beginning, (*queries, *texts)))
        vectors = self._vectors(lab, list(filter(None, beginnings)))
        width = max((vector.size for vector in vectors.values()), default=1)
        unknown = np.full(width, np.nan)

        def unit_vectors(texts: Sequence[str]) -> Matrix:
            rows = [vectors.get(_beginning(text), unknown) for text in texts]
            matrix = np.array(rows, np.float64).reshape(-1, width)
            lengths = np.linalg.norm(matrix, axis=1, keepdims=True)
            unit: Matrix = matrix / lengths
            return unit

        cosines = unit_vectors(queries) @ unit_vectors(texts).T
        return cosines.clip(0, 1).round(PLACES)

    def _vectors(
        self, lab: Lab, texts: Sequence[str]
    ) -> dict[str, npt.NDArray[np.float32]]:
        """Return the vector of each text for which the model does not fail."""
        requests = []
        for text in texts:
            messages = [{"role": "user", "content": text}]
            # The client sends it as an embedding; the reply's text is its numbers in base64.
            requests.append(
                Request("retrieve/embed", self.model, messages, {EMBEDDING: True})
            )
        vectors = {}
        for text, reply in zip(texts, lab.client.complete_many(requests), strict=True):
            if not reply.fault:
                vectors[text] = np.frombuffer(b64decode(reply.text), np.float32)
        return vectors


def _beginning(text: str) -> str:
    """Return what of a text is embedded."""
    return text[:2000].strip()


# A similarity gives a number from 0 to 1 for each query (row) and text (column), NaN if the model
# failed. Two texts count as alike from its `threshold` on. In a `collection`, words that many of
# the texts have count less.
Similarity = Lexical | Embedding


@dataclass(frozen=True)
class Keywords:
    """extract_keywords: a model that is shown examples lists them (CHESS, figure 7).

    The temperature is that of CHESS's code. A reply that cannot be read gives none. In its place,
    any function of the lab and the question serves.
    """

    model: str
    temperature: float = 0.2

    def __call__(self, lab: Lab, question: Question) -> tuple[str, ...]:
        """Return the keywords in the order of the reply, each once and at most sixty."""
        data = {"question": question.text, "hint": question.evidence}
        answer = lab.ask(self, "retrieve/keywords", question, replies.strings, **data)
        keywords = [" ".join(keyword.split()) for keyword in answer.value or ()]
        short = [keyword for keyword in keywords if 0 < len(keyword) <= LONGEST]
        return tuple(dict.fromkeys(short))[:_MOST_KEYWORDS]


@dataclass(frozen=True)
class Matching:
    """retrieve_entity: the values that the keywords may mean (CHESS, appendix A.1).

    For each keyword, and for the beginnings and ends of one of several words, a search returns the
    `candidates` most like it, as in CHESS's code and in CHASE-SQL's appendix A.5. Values unlike it
    in spelling or in meaning are left out. Of the rest, a column keeps for each keyword those
    closest in spelling: one in CHESS, several in CHASE-SQL.

    edit: the least similarity by spelling, which is RapidFuzz's ratio from 0 to 1.
    semantic: the least similarity by meaning; None stands for the measure's own
        (`Similarity.threshold`).
    keep: the least similarity by spelling as a share of the column's best for the keyword.
    per_keyword: how many values a column keeps for one keyword.
    rule: "released" is that of CHESS's code: beginnings and ends are keywords of their own, and
        `keep` is a share of the column's best for any keyword, so that a keyword can lose its only
        value.
    """

    candidates: int = 10
    edit: float = 0.3
    semantic: float | None = None
    keep: float = 0.9
    per_keyword: int = 5
    rule: Literal["paper", "released"] = "paper"

    def __post_init__(self) -> None:
        at_least(1, candidates=self.candidates, per_keyword=self.per_keyword)
        _check_shares(edit=self.edit, semantic=self.semantic or 0, keep=self.keep)
        one_of(("paper", "released"), rule=self.rule)

    def __call__(
        self,
        lab: Lab,
        values: Values,
        schema: Schema,
        keywords: Sequence[str],
        similarity: Similarity,
    ) -> tuple[ValueMatch, ...]:
        spelled = self._like_in_spelling(values, keywords)
        matches = self._like_in_meaning(lab, spelled, similarity)
        kept: dict[tuple[str, str, str], ValueMatch] = {}
        for match in self._closest(matches):
            kept.setdefault((match.table, match.column, match.value), match)
        place = {column: n for n, column in enumerate(schema.columns())}
        for match in kept.values():  # a column that the schema lacks comes last
            place.setdefault((match.table, match.column), len(place))
        in_order = sorted(kept.values(), key=lambda m: place[m.table, m.column])
        return tuple(in_order)

    def _like_in_spelling(
        self, values: Values, keywords: Sequence[str]
    ) -> list[tuple[str, ValueMatch]]:
        """Return the values that a search finds, each with the part that found it."""
        matches = []
        for keyword in keywords:
            for part in _parts(keyword):
                owner = keyword if self.rule == "paper" else part
                for table, column, value in values.search(part, self.candidates):
                    edit = round(fuzz.ratio(folded(part), folded(value)) / 100, PLACES)
                    if edit >= self.edit:
                        match = ValueMatch(table, column, value, owner, edit, 0.0)
                        matches.append((part, match))
        return matches

    def _like_in_meaning(
        self,
        lab: Lab,
        spelled: Sequence[tuple[str, ValueMatch]],
        similarity: Similarity,
    ) -> list[ValueMatch]:
        """Return those of the matches whose value is like the part in meaning, too."""
        parts = list(dict.fromkeys(part for part, _ in spelled))
        texts = list(dict.fromkeys(match.value for _, match in spelled))
        scores = similarity(lab, parts, texts)
        row = {part: n for n, part in enumerate(parts)}
        column = {text: n for n, text in enumerate(texts)}
        least = similarity.threshold if self.semantic is None else self.semantic
        matches = []
        for part, match in spelled:
            score = float(scores[row[part], column[match.value]])
            if math.isnan(score):  # the model failed, and spelling decides
                matches.append(match)
            elif score >= least:
                matches.append(replace(match, semantic=score))
        return matches

    def _closest(self, matches: Sequence[ValueMatch]) -> Iterator[ValueMatch]:
        """Yield the matches that their columns keep, the closest in spelling first."""
        best = defaultdict[tuple[str, ...], float](float)  # spelling among rivals
        for match in matches:
            rivals = self._rivals(match)
            best[rivals] = max(best[rivals], match.edit)

        kept = defaultdict[tuple[str, ...], set[str]](set)  # by column and keyword
        for match in sorted(matches, key=_closeness):
            values = kept[match.table, match.column, match.keyword]
            is_close = match.edit >= self.keep * best[self._rivals(match)]
            is_new = match.value not in values
            if is_close and is_new and len(values) < self.per_keyword:
                values.add(match.value)
                yield match

    def _rivals(self, match: ValueMatch) -> tuple[str, ...]:
        """Return what the matches have in common whose best a match is compared with."""
        if self.rule == "paper":
            return (match.table, match.column, match.keyword)
        return (match.table, match.column)


def _closeness(match: ValueMatch) -> tuple[float | str, ...]:
    """Return the place of a match in the order: by spelling, then meaning, then names."""
    return (
        -match.edit,
        -match.semantic,
        match.table,
        match.column,
        match.value,
        match.keyword,
    )


def _parts(keyword: str) -> list[str]:
    """Return the keyword, and its beginnings and ends if it has several words."""
    words = keyword.split()
    cuts = range(1, len(words))
    beginnings = [" ".join(words[:cut]) for cut in cuts]
    ends = [" ".join(words[cut:]) for cut in cuts]
    return [keyword, *beginnings, *ends]


def _check_shares(**numbers: object) -> None:
    for name, number in numbers.items():
        if not (isinstance(number, int | float) and 0 <= number <= 1):
            raise BadInputError(
                f"{name} is {number!r}: it must be a number from 0 to 1"
            )


@dataclass(frozen=True)
class Descriptions:
    """retrieve_context: the column descriptions most like the question (CHESS, appendix A.2).

    The most similar comes first.
    As in CHESS's code, the question with each keyword is a query, and so is the hint with each
    keyword; each query retrieves `top` descriptions, and those as similar as the last. CHESS keeps
    these in a vector database; here they are compared in memory.
    """

    top: int = 5

    def __post_init__(self) -> None:
        at_least(1, top=self.top)

    def __call__(
        self,
        lab: Lab,
        question: Question,
        schema: Schema,
        keywords: Sequence[str],
        similarity: Similarity,
    ) -> tuple[DescriptionMatch, ...]:
        catalog = _catalog(schema)
        if not catalog:
            return ()
        texts = [f"{spaced(m.table)} {spaced(m.column)} {m.text}" for m in catalog]
        asked = [text for text in (question.text, question.evidence) if text]
        queries = [" ".join(pair).strip() for pair in product(asked, keywords or [""])]
        scores = np.nan_to_num(similarity(lab, queries, texts, collection=True))
        last = min(self.top, len(texts))  # of each query's top descriptions
        least = np.sort(scores, axis=1)[:, [-last]]
        best_of_queries = np.where(scores >= least, scores, 0.0).max(axis=0)
        pairs = zip(catalog, best_of_queries.tolist(), strict=True)
        scored = [replace(match, score=score) for match, score in pairs if score > 0]
        scored.sort(key=lambda match: (-match.score, match.table, match.column))
        return tuple(scored)


def _catalog(schema: Schema) -> list[DescriptionMatch]:
    """Return the columns that have a description, with a score of 0."""
    catalog = []
    for table in schema.tables:
        for column in table.columns:
            text = description(column)
            if text:
                catalog.append(DescriptionMatch(table.name, column.name, text, 0.0))
    return catalog


def description(column: Column) -> str:
    """Return a column's description and value description in one text."""
    texts = (column.description.rstrip(". "), column.value_description)
    return "; ".join(text for text in texts if text)


def spaced(name: str) -> str:
    """Return a name as words: with spaces for underscores and between the words of CamelCase."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|_+", " ", name)


@dataclass(frozen=True)
class Retrieval:
    """A question's context: the schema, and the values and descriptions like its keywords.

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
        keywords: tuple[str, ...] = ()
        if self.keywords and self.compares:
            keywords = self.keywords(lab, question)
        if self.index and keywords:
            known = open_values(lab.database(question.db_id), self.index, lab.executor)
            values = self.matching(lab, known, schema, keywords, self.similarity)
        if self.descriptions:
            descriptions = self.descriptions(
                lab, question, schema, keywords, self.similarity
            )
        return Context(question, schema, values, descriptions)

    @property
    def compares(self) -> bool:
        """Whether anything is retrieved, so that its similarity is of use."""
        return bool(self.index or self.descriptions)

    def without_values(self) -> Self:
        """Return the ablation "w/o LSH" of CHASE-SQL's table 7."""
        return replace(self, index=None)


class RetrievalSettings(BaseModel, extra="forbid", strict=True):
    """An experiment's setting `retrieval`; None leaves a step as it is.

    index: the papers' `lsh`, `spelling` (in any letter case) or `none`.
    similarity: `letters`, or PROVIDER/MODEL of an embedding model.
    alike: from which similarity on two texts count as alike.
    descriptions: how many a query retrieves.
    matching: `Matching.rule`.
    """

    index: Literal["lsh", "spelling", "none"] | None = None
    similarity: Annotated[str, StringConstraints(pattern="^letters$|/")] | None = None
    alike: int | float | None = None
    descriptions: int | None = None
    matching: Literal["paper", "released"] | None = None

    def compares_by(self) -> Similarity | None:
        """Return the similarity that the settings name, if they name one."""
        if self.similarity not in {None, "letters"}:
            return Embedding(self.similarity, self.alike)
        if self.alike is not None:
            return Lexical(self.alike)
        return Lexical() if self.similarity else None


_INDEXES: dict[str, Search | None] = {
    "lsh": LSH(),
    "spelling": Spelling(),
    "none": None,
}


def with_retrieval(step: Any, setting: str | Mapping[str, Any]) -> Any:
    """Return the step with an experiment's setting `retrieval`, if it compares texts.

    The setting is an index, or a mapping of `RetrievalSettings`. What the step leaves out stays
    left out. Steps other than a `Retrieval`, such as `Nearest`, take its similarity.
    """
    if not isinstance(getattr(step, "similarity", None), Similarity):
        return step
    if isinstance(step, Retrieval) and not step.compares:
        return step
    settings = _settings(setting)
    similarity = settings.compares_by()
    if similarity:
        step = replace(step, similarity=similarity)
    if not isinstance(step, Retrieval):
        return step
    if settings.index and step.index:
        step = replace(step, index=_INDEXES[settings.index])
    if settings.descriptions is not None and step.descriptions:
        step = replace(step, descriptions=Descriptions(settings.descriptions))
    if settings.matching:
        step = replace(step, matching=replace(step.matching, rule=settings.matching))
    return step


def _settings(setting: str | Mapping[str, Any]) -> RetrievalSettings:
    settings = {"index": setting} if isinstance(setting, str) else setting
    try:
        return RetrievalSettings.model_validate(settings)
    except ValidationError as error:
        field, first = first_fault(error)
        allowed = ", ".join(RetrievalSettings.model_fields)
        raise BadInputError(
            f"retrieval, {field} is {first['input']!r:.60}: {first['msg']};"
            f" its settings are {allowed}"
        ) from error


def by_letters(step: Any) -> bool:
    """Whether a system, or any of its steps, compares by letters."""
    if isinstance(step, Lexical):
        return True
    if isinstance(step, Retrieval) and not step.compares:
        return False  # it has a similarity, and no use for it
    parts: Sequence[Any] = ()
    if isinstance(step, tuple):
        parts = step
    elif is_dataclass(step):
        parts = [getattr(step, part.name) for part in fields(step)]
    return any(map(by_letters, parts))
