"""From a context to SQL: the queries that a question may ask for, each with its score.

A score is a sum of features times weights (log-linear): exp(score) is, up to a factor, the probability that
the model gives a query. Samples of one prompt differ in the draw only, so the last few results are cached.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

from workbench.embedded.grammar.head import Head
from workbench.embedded.grammar.heads import heads
from workbench.embedded.grammar.joint import Draft, Joint, Style, gains
from workbench.embedded.grammar.render import render
from workbench.embedded.grammar.tests import Tests, sets, tests
from workbench.embedded.linking.reading import Reading, added, read_question
from workbench.types import Context

WEIGHTS_FILE = Path(__file__).with_name("weights.json")  # written by training.learn
WEIGHTS: dict[str, float] = json.loads(WEIGHTS_FILE.read_text(encoding="utf-8"))
_RECENT = 64  # prompts whose hypotheses are cached
Parts = tuple[Reading, list[Head], list[Tests]]


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
    reading, heads, sets = _parts(replace(context, examples=()))
    return combined(replace(reading, context=context), heads, sets, style)


@lru_cache(maxsize=8)  # prompts of several styles, with and without examples, are about one context
def _parts(context: Context) -> Parts:
    return parts(context, WEIGHTS)


def parts(context: Context, weights: Mapping[str, float]) -> Parts:
    """The question as it is read, and the heads and tests of its queries, under any weights."""
    reading = read_question(context, weights)
    return reading, heads(reading), sets(tests(reading), gains(reading))


def combined(
    reading: Reading, heads: list[Head], sets: list[Tests], style: Style, kept: int = 40
) -> tuple[Hypothesis, ...]:
    """The queries that heads and tests make up together."""
    if not reading.made.sheets or not reading.text:
        return ()
    drafts = list(Joint(reading, style, gains(reading)).drafts(heads, sets))
    found: dict[str, Hypothesis] = {}
    for draft in sorted(drafts, key=lambda d: -d.score):
        if len(found) >= kept:
            break
        hypothesis = _hypothesis(reading, draft)
        found.setdefault(hypothesis.sql, hypothesis)
    return tuple(sorted(found.values(), key=lambda h: (-h.score, h.sql)))


def _hypothesis(reading: Reading, draft: Draft) -> Hypothesis:
    made, head, parts = reading.made, draft.head, draft.tests.parts
    features = added((head.features, *draft.joint, *(part.features for part in parts)))
    fields = head.fields.union(draft.tests.fields, *(p for e in draft.tree.edges for p in e.pairs))
    return Hypothesis(
        render(made, head, parts, draft.tree, distinct="distinct" in reading.cues),
        draft.score,
        features,
        tuple(made.sheets[t].name for t in draft.tree.tables),
        tuple(made.where(i) for i in sorted(fields)),
    )


@lru_cache(maxsize=_RECENT)
def spoken(context: Context) -> Mapping[tuple[str, str], float]:
    """How surely question and hint speak of each column, by name or by a value; of a table under ""."""
    reading = read_question(context, WEIGHTS)
    made, linked = reading.made, reading.linked
    found = {
        (made.sheets[t].name, ""): mentions[0].strength for t, mentions in linked.tables.items()
    }
    for i in linked.fields.keys() | reading.hinted.keys():
        named = linked.fields[i][0].strength if i in linked.fields else 0.0
        found[made.where(i)] = named + reading.hinted.get(i, 0.0)
    for part in tests(reading):
        if part.value and part.column >= 0 and part.score > 0:
            where = made.where(part.column)
            found[where] = max(found.get(where, 0.0), part.score)
    return found
