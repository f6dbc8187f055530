"""Retrieval (CHASE-SQL, section 2.2; CHESS, section 3.1): keywords, then values and descriptions that are like them.

What departs from the papers, for want of a model that every experiment has: similarity is by letters where none is
named, and a study's stamp says so. CHESS names openai/text-embedding-3-small, CHASE-SQL none.
"""

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from typing import Any, Self

import numpy as np
from rapidfuzz import fuzz

from workbench import replies
from workbench.errors import BadInputError, at_least, one_of
from workbench.lab import Lab
from workbench.retrieve.similarity import Embedding, Lexical, Similarity
from workbench.retrieve.values import LSH, Search, Trigram, Values, folded, open_values
from workbench.types import Column, Context, DescriptionMatch, Question, Schema, ValueMatch

_MOST, _LONGEST = 60, 200  # keywords taken from one reply, and characters of a keyword


@dataclass(frozen=True)
class Keywords:
    """extract_keywords: a model lists them, shown examples (CHESS, figure 7), at the temperature of CHESS's code.

    A reply that cannot be read gives none. A notebook's own rule is any function of the lab and the question.
    """

    model: str
    temperature: float = 0.2

    def __call__(self, lab: Lab, question: Question) -> tuple[str, ...]:
        """The keywords in the order of the reply, each once."""
        data = {"question": question.text, "hint": question.evidence}
        answer = lab.ask(self, "retrieve/keywords", question, replies.strings, **data)
        once = dict.fromkeys(" ".join(keyword.split()) for keyword in answer.value or ())
        return tuple(keyword for keyword in once if 0 < len(keyword) <= _LONGEST)[:_MOST]


@dataclass(frozen=True)
class Matching:
    """retrieve_entity: the values that the keywords may mean (CHESS, appendix A.1).

    A search returns the `candidates` that are most like each keyword, and like the beginnings and ends of a phrase, as
    in CHESS's code and as "free" and "rate" show in CHASE-SQL's appendix A.5. Values far from it in meaning or in
    spelling are left out. Of each keyword and column the closest in spelling stay: one in CHESS; several in CHASE-SQL,
    where A.5 shows "Kate" and "Nate" for the rate of "free rate".

    edit: least similarity by spelling: the letters that both have in one order, as a share of all.
    semantic: least similarity by meaning; None stands for the measure's own (`Similarity.alike`).
    keep: least part of the best similarity by spelling in the value's column, whatever the keyword, as in CHESS's code.
    per_keyword: how many values of a column are kept for one keyword.
    """

    candidates: int = 10
    edit: float = 0.3
    semantic: float | None = None
    keep: float = 0.9
    per_keyword: int = 5

    def __post_init__(self) -> None:
        at_least(1, candidates=self.candidates, per_keyword=self.per_keyword)
        shares = {name: getattr(self, name) for name in ("edit", "semantic", "keep")}
        for name, given in shares.items():
            if given is not None and not (isinstance(given, int | float) and 0 <= given <= 1):
                raise BadInputError(f"{name} is {given!r}, and should be a number from 0 to 1")

    def __call__(
        self, lab: Lab, values: Values, schema: Schema, keywords: Sequence[str], similarity: Similarity
    ) -> tuple[ValueMatch, ...]:  # fmt: skip
        """The kept values in the order of the schema's columns, the closest of each column first."""
        near = [
            ValueMatch(*place, text, edit, 0.0)
            for text in _searches(keywords)
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
        # Equals come in the same order in every run.
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


def _searches(keywords: Sequence[str]) -> Iterable[str]:
    """The keywords, and the beginnings and ends of those of several words, each text once."""
    parts = [keyword.split() for keyword in keywords]
    cuts = ((own[:n], own[n:]) for own in parts for n in range(1, len(own)))
    return dict.fromkeys([*keywords, *(" ".join(cut) for both in cuts for cut in both)])


@dataclass(frozen=True)
class Descriptions:
    """retrieve_context: the column descriptions most like the question (CHESS, appendix A.2).

    As in CHESS's code, each keyword is a query together with the question, and another with the hint; each query
    retrieves `top` descriptions. CHESS keeps them in a vector database: thousands of columns fit into memory.
    """

    top: int = 5

    def __post_init__(self) -> None:
        at_least(1, top=self.top)

    def __call__(
        self, lab: Lab, question: Question, schema: Schema, keywords: Sequence[str], similarity: Similarity
    ) -> tuple[DescriptionMatch, ...]:  # fmt: skip
        """The descriptions that any query retrieves, the most like it first; equals in the order of the schema."""
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
        fifth = np.sort(scores, axis=1)[:, -self.top :][:, :1]
        best = np.where(scores >= fifth, scores, 0.0).max(axis=0)
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
    """Gathers a question's context: the schema, with the values and descriptions that fit the question.

    keywords: asks a model for keywords; None looks up nothing.
    index: the search among the values; None retrieves none.
    similarity: compares values and descriptions by meaning.
    descriptions: None retrieves none, so the schema's comments have them all.
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
    """The step with an experiment's setting `retrieval`, if it is a `Retrieval`; what that leaves out stays left out.

    The setting is the name of an index, `lsh` (the papers'), `trigram` (finds more) or `none`; or it names what differs
    from each system's own: `index`, `similarity` (letters, or PROVIDER/MODEL of an embedding model), `descriptions` (how
    many a query retrieves), and the fields of `Matching`.
    """
    if not isinstance(step, Retrieval) or not (step.index or step.descriptions):
        return step
    changes: dict[str, Any] = {}
    numbers = {part.name: getattr(step.matching, part.name) for part in fields(Matching)}
    named: Mapping[str, Any] = {"index": setting} if isinstance(setting, str) else setting
    for name, given in named.items():
        one_of(("index", "similarity", "descriptions", *numbers), retrieval=name)
        if name == "index":
            one_of([*_INDEXES], **{"retrieval, index": given})
            changes[name] = _INDEXES[given]
        elif name == "similarity":
            if given != "letters" and not (isinstance(given, str) and "/" in given):
                raise BadInputError(f"similarity is {given!r}: give letters, or PROVIDER/MODEL")
            changes[name] = Lexical() if given == "letters" else Embedding(given)
        elif name == "descriptions":
            changes[name] = Descriptions(given)
        else:
            numbers[name] = given
    kept = {name: new for name, new in changes.items() if getattr(step, name) is not None}
    return replace(step, matching=Matching(**numbers), **kept)


def by_letters(step: Any) -> bool:
    """Whether anything in a system is compared by letters, for want of an embedding model."""
    if isinstance(step, Retrieval) and not (step.index or step.descriptions):
        return False
    own = [getattr(step, part.name) for part in fields(step)] if is_dataclass(step) else ()
    parts = step if isinstance(step, tuple) else own
    return isinstance(step, Lexical) or any(map(by_letters, parts))
