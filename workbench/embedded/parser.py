"""From a context to SQL: the queries that a question may ask for, each with its score.

A score is a sum of features times weights (log-linear): exp(score) is, up to a factor, the probability that
the model gives a query. Samples of one prompt differ in the draw only, so the last few results are cached.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from workbench.embedded.grammar.heads import heads
from workbench.embedded.grammar.joint import Draft, Joint, Style, gains
from workbench.embedded.grammar.render import render
from workbench.embedded.grammar.tests import sets, tests
from workbench.embedded.linking.reading import Features, Reading, read_question
from workbench.types import Context

WEIGHTS_FILE = Path(__file__).with_name("weights.json")  # written by training.learn
WEIGHTS: dict[str, float] = json.loads(WEIGHTS_FILE.read_text(encoding="utf-8"))
_RECENT = 64  # prompts whose hypotheses are cached


@dataclass(frozen=True, slots=True)
class Link:
    """Words of the question and the part of the schema that they are taken to speak of."""

    words: str
    kind: str  # table, column, value or hint
    table: str
    column: str
    value: str
    score: float


@dataclass(frozen=True, slots=True)
class Hypothesis:
    """A query, the log of its probability up to a constant, and the features that it is the sum of."""

    sql: str
    score: float
    features: Mapping[str, float]
    tables: tuple[str, ...]
    columns: tuple[tuple[str, str], ...]


@lru_cache(maxsize=_RECENT)
def hypotheses(context: Context, style: Style = Style()) -> tuple[Hypothesis, ...]:  # noqa: B008
    """The queries that the question may ask for, the most probable first, no two the same."""
    return propose(context, style, WEIGHTS)


def propose(
    context: Context, style: Style, weights: Mapping[str, float], kept: int = 40
) -> tuple[Hypothesis, ...]:
    """Hypotheses under any weights: the trainer's are not those of the package."""
    if not context.schema.tables or not context.question.text.strip():
        return ()
    reading = read_question(context, weights)
    gain = gains(reading)
    drafts = list(Joint(reading, style, gain).drafts(heads(reading), sets(tests(reading), gain)))
    found: dict[str, Hypothesis] = {}
    for draft in sorted(drafts, key=lambda d: -d.score):
        if len(found) >= kept:
            break
        hypothesis = _hypothesis(reading, draft)
        found.setdefault(hypothesis.sql, hypothesis)
    return tuple(sorted(found.values(), key=lambda h: (-h.score, h.sql)))


def _hypothesis(reading: Reading, draft: Draft) -> Hypothesis:
    made, head, parts = reading.made, draft.head, draft.tests.parts
    features: Features = {}
    for some in (head.features, *draft.joint, *(part.features for part in parts)):
        for name, value in some.items():
            if value:
                features[name] = features.get(name, 0.0) + value
    fields = head.fields.union(draft.tests.fields, *(p for e in draft.tree.edges for p in e.pairs))
    return Hypothesis(
        render(made, head, parts, draft.tree, distinct="distinct" in reading.cues),
        draft.score,
        features,
        tuple(made.sheets[t].name for t in draft.tree.tables),
        tuple(made.where(i) for i in sorted(fields)),
    )


@lru_cache(maxsize=_RECENT)
def links(context: Context) -> tuple[Link, ...]:
    """The tables, columns and values that question and hint speak of, the surest first."""
    reading = read_question(context, WEIGHTS)
    found = sorted(_links(reading), key=lambda k: (-k.score, k.kind, k.table, k.column, k.value))
    return tuple(found)


def _links(reading: Reading) -> Iterator[Link]:
    made = reading.made
    for table, mentions in reading.linked.tables.items():
        words = reading.words(mentions[0].mask)
        yield Link(words, "table", made.sheets[table].name, "", "", mentions[0].strength)
    for i, mentions in reading.linked.fields.items():
        strength = mentions[0].strength + reading.hinted.get(i, 0.0)
        yield Link(reading.words(mentions[0].mask), "column", *made.where(i), "", strength)
    for i, sure in reading.hinted.items():
        if i not in reading.linked.fields:
            yield Link("", "hint", *made.where(i), "", sure)
    for part in tests(reading):
        if part.value and part.column >= 0 and part.score > 0:
            where = made.where(part.column)
            yield Link(reading.words(part.mask), "value", *where, part.value, part.score)
