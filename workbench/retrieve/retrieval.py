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
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from functools import lru_cache
from itertools import chain, product
from typing import Any, Literal, Self

import numpy as np
import numpy.typing as npt
from rapidfuzz import fuzz

from workbench import replies
from workbench.errors import BadInputError, at_least, one_of
from workbench.lab import Lab
from workbench.llm.send import EMBEDDING
from workbench.retrieve.values import (
    LONGEST,
    LSH,
    Search,
    Trigram,
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
        lab: Lab,
        queries: Sequence[str],
        texts: Sequence[str],
        *,
        collection: bool = False,
    ) -> Matrix:
        del lab
        query_features = [_features(text) for text in queries]
        text_features = [_features(text) for text in texts]
        counts = Counter(chain.from_iterable(text_features))
        asked = set().union(*query_features)  # no other feature counts in a product
        place = {feature: n for n, feature in enumerate(sorted(asked))}
        weights = dict.fromkeys(asked | counts.keys(), 1)
        if collection:  # the inverse document frequency, in thousandths
            for feature in weights:
                rarity = len(texts) / max(1, counts[feature])
                weights[feature] = round(1000 * math.log1p(rarity))

        def vectors(sets: Sequence[frozenset[str]]) -> Matrix:
            matrix = np.zeros((len(sets), len(place)))
            for row, features in zip(matrix, sets, strict=True):
                for feature in features & place.keys():
                    row[place[feature]] = weights[feature]
            return matrix

        def lengths(sets: Sequence[frozenset[str]]) -> Matrix:
            squares = np.ones(len(sets))
            for n, features in enumerate(sets):
                square = len(features)
                if collection:
                    square = sum(weights[feature] ** 2 for feature in features)
                squares[n] = square or 1
            return np.sqrt(squares)

        # Weights are integers, so that every processor has the same sums.
        products = vectors(query_features) @ vectors(text_features).T
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
        beginnings = {text: text[:2000].strip() for text in (*queries, *texts)}
        distinct = dict.fromkeys(beginnings.values())
        vectors = self._vectors(lab, [text for text in distinct if text])
        width = max((vector.size for vector in vectors.values()), default=1)
        unknown = np.full(width, np.nan)

        def matrix(texts: Sequence[str]) -> Matrix:
            rows = [vectors.get(beginnings[text], unknown) for text in texts]
            whole = np.array(rows, np.float64).reshape(-1, width)
            lengths = np.linalg.norm(whole, axis=1, keepdims=True)
            unit: Matrix = whole / lengths
            return unit

        cosines = matrix(queries) @ matrix(texts).T
        return cosines.clip(0, 1).round(PLACES)

    def _vectors(
        self, lab: Lab, texts: Sequence[str]
    ) -> dict[str, npt.NDArray[np.float32]]:
        """Return the vector of each text for which the model does not fail."""
        requests = []
        for text in texts:
            messages = [{"role": "user", "content": text}]
            # The client sends it as an embedding, and returns its numbers in base64.
            request = Request("retrieve/embed", self.model, messages, {EMBEDDING: True})
            requests.append(request)
        vectors = {}
        for text, reply in zip(texts, lab.client.complete_many(requests), strict=True):
            if not reply.fault:
                vectors[text] = np.frombuffer(b64decode(reply.text), np.float32)
        return vectors


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
        similar = self._similar(values, keywords)
        alike = self._alike(lab, similar, similarity)
        alike.sort(
            key=lambda m: (-m.edit, -m.semantic, m.table, m.column, m.value, m.keyword)
        )
        kept: dict[tuple[str, str, str], ValueMatch] = {}
        place = {column: n for n, column in enumerate(schema.columns())}
        for match in self._kept(alike):
            column = (match.table, match.column)
            place.setdefault(column, len(place))
            kept.setdefault((*column, match.value), match)
        in_order = sorted(kept.values(), key=lambda m: place[m.table, m.column])
        return tuple(in_order)

    def _similar(
        self, values: Values, keywords: Sequence[str]
    ) -> list[tuple[str, ValueMatch]]:
        """Return the values like the keywords in spelling, each with the part that found it."""
        similar = []
        for keyword in keywords:
            for part in _parts(keyword):
                owner = keyword if self.rule == "paper" else part
                for table, column, value in values.search(part, self.candidates):
                    edit = round(fuzz.ratio(folded(part), folded(value)) / 100, PLACES)
                    if edit >= self.edit:
                        match = ValueMatch(table, column, value, owner, edit, 0.0)
                        similar.append((part, match))
        return similar

    def _alike(
        self,
        lab: Lab,
        similar: Sequence[tuple[str, ValueMatch]],
        similarity: Similarity,
    ) -> list[ValueMatch]:
        """Return the matches that are also alike in meaning."""
        parts = list(dict.fromkeys(part for part, _ in similar))
        texts = list(dict.fromkeys(match.value for _, match in similar))
        scores = similarity(lab, parts, texts)
        row = {part: n for n, part in enumerate(parts)}
        column = {text: n for n, text in enumerate(texts)}
        least = similarity.threshold if self.semantic is None else self.semantic
        alike = []
        for part, match in similar:
            score = float(scores[row[part], column[match.value]])
            if math.isnan(score):  # the model failed, and spelling decides
                alike.append(match)
            elif score >= least:
                alike.append(replace(match, semantic=score))
        return alike

    def _kept(self, matches: Sequence[ValueMatch]) -> Iterator[ValueMatch]:
        """Yield the matches that their columns keep; the best is given and yielded first."""
        best: dict[tuple[str, ...], float] = {}  # the best spelling among rivals
        kept = defaultdict[tuple[str, ...], set[str]](set)  # by column and keyword
        for match in matches:
            column = (match.table, match.column)
            group = (*column, match.keyword)
            rivals = group if self.rule == "paper" else column
            least = self.keep * best.setdefault(rivals, match.edit)
            values = kept[group]
            is_new = len(values) < self.per_keyword and match.value not in values
            if match.edit >= least and is_new:
                values.add(match.value)
                yield match


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
        top = min(self.top, len(texts))
        # Of each query's top descriptions.
        least = np.sort(scores, axis=1)[:, -top, np.newaxis]
        best = np.where(scores >= least, scores, 0.0).max(axis=0).tolist()
        pairs = zip(catalog, best, strict=True)
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


_INDEXES = {"lsh": LSH(), "trigram": Trigram(), "none": None}


def with_retrieval(step: Any, setting: str | Mapping[str, Any]) -> Any:
    """Return the step with an experiment's setting `retrieval`, if it compares texts.

    The setting is an index, `lsh` (the papers'), `trigram` (finds more) or `none`; or a mapping
    with any of `index`, `similarity` (letters, or PROVIDER/MODEL of an embedding model), `alike`
    (from which similarity on two texts count as alike), `descriptions` (how many a query retrieves)
    and `matching` (paper, or released: `Matching.rule`). What the step leaves out stays left out.
    Steps other than a `Retrieval`, such as `Nearest`, take its similarity.
    """
    if not isinstance(getattr(step, "similarity", None), Similarity):
        return step
    settings = {"index": setting} if isinstance(setting, str) else setting
    changes = _changes(settings)
    if not isinstance(step, Retrieval):
        similarity = changes.get("similarity", step.similarity)
        return replace(step, similarity=similarity)
    if not step.compares:
        return step
    if "matching" in changes:
        changes["matching"] = replace(step.matching, rule=changes["matching"])
    kept = {name: changes[name] for name in changes if getattr(step, name) is not None}
    return replace(step, **kept)


def _changes(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a `Retrieval` that the settings change, checked."""
    for name in settings:
        one_of(
            ("index", "similarity", "alike", "descriptions", "matching"), retrieval=name
        )
    changes: dict[str, Any] = {}
    if "index" in settings:
        index = settings["index"]
        one_of([*_INDEXES], **{"retrieval, index": index})
        changes["index"] = _INDEXES[index]
    if "similarity" in settings or "alike" in settings:
        name = settings.get("similarity", "letters")
        changes["similarity"] = _similarity(name, settings.get("alike"))
    if "descriptions" in settings:
        changes["descriptions"] = Descriptions(settings["descriptions"])
    if "matching" in settings:
        changes["matching"] = settings["matching"]
        one_of(("paper", "released"), **{"retrieval, matching": changes["matching"]})
    return changes


def _similarity(name: object, alike: float | None) -> Similarity:
    if name == "letters":
        return Lexical() if alike is None else Lexical(alike)
    if not isinstance(name, str) or "/" not in name:
        raise BadInputError(f"similarity is {name!r}: give letters, or PROVIDER/MODEL")
    return Embedding(name, alike)


def by_letters(step: Any) -> bool:
    """Whether a step of the system compares by letters."""
    if isinstance(step, Lexical):
        return True
    if isinstance(step, Retrieval) and not step.compares:
        return False
    if isinstance(step, tuple):
        return any(map(by_letters, step))
    parts = fields(step) if is_dataclass(step) else ()
    return any(by_letters(getattr(step, part.name)) for part in parts)
