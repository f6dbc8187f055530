"""From a question and what a prompt tells about its database to SQL queries, each with a score.

The question is read (`reading`), tests and heads are proposed (`filters`, `heads`), and the best of both are
put together with the joins they need (`joint`). A score is a sum of features times weights, so that
exp(score) is, up to a factor, how probable the model holds a query to be.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from workbench.embedded.filters import Tests, sets, tests
from workbench.embedded.formula import Pieces
from workbench.embedded.head import Head
from workbench.embedded.heads import heads
from workbench.embedded.joint import Draft, Joint, Style, kind_of_loss
from workbench.embedded.reading import Features, Reading, read_question
from workbench.embedded.render import render
from workbench.embedded.weights import WEIGHTS
from workbench.types import Context

__all__ = ["Hypothesis", "Link", "Style", "hypotheses", "links"]

_COMBINED = 90  # pairs of a head's and a set's rank, multiplied, up to which they are put together
_KEPT = 40


@dataclass(frozen=True, slots=True)
class Link:
    """Words of the question and what of the schema they were taken to speak of."""

    words: str
    kind: str  # table, column, value or hint
    table: str
    column: str
    value: str
    score: float


@dataclass(frozen=True, slots=True)
class Hypothesis:
    """A query, the log of its probability up to a constant, and what explains it."""

    sql: str
    score: float
    features: Mapping[str, float]
    tables: tuple[str, ...]
    columns: tuple[tuple[str, str], ...]
    links: tuple[Link, ...]
    joins: tuple[str, ...]


def hypotheses(
    context: Context,
    style: Style = Style(),  # noqa: B008  # frozen
    weights: Mapping[str, float] = WEIGHTS,
    kept: int = _KEPT,
) -> tuple[Hypothesis, ...]:
    """The queries that the question may ask for, the most probable first, no two the same."""
    if not context.schema.tables or not context.question.text.strip():
        return ()
    reading = read_question(context, weights)
    found: dict[str, Hypothesis] = {}
    for draft in sorted(_drafts(reading, style), key=lambda d: -d.score):
        if len(found) >= kept:
            break
        made = _hypothesis(reading, draft)
        found.setdefault(made.sql, made)
    return tuple(sorted(found.values(), key=lambda h: (-h.score, h.sql)))


def _drafts(reading: Reading, style: Style) -> Iterator[Draft]:
    losses = {i: kind_of_loss(reading, i) for i in range(len(reading.text))}
    worth = {i: -reading.weights.get(f"left.{kind}", 0.0) for i, kind in losses.items() if kind}
    chosen = sets(tests(reading), worth)
    joint = Joint(reading, style, worth)
    for i, head in enumerate(heads(reading)):
        for j, held in enumerate(chosen):
            if (i + 1) * (j + 1) > _COMBINED:
                break
            for whole, rest in _shared(head, held):
                yield from joint.drafts(whole, rest)


def _shared(head: Head, held: Tests) -> Iterator[tuple[Head, Tests]]:
    """The head with this set of tests; of a share, with each of them as what is counted."""
    parts = sorted(held.parts, key=lambda p: p.first)
    one = " THEN 1 ELSE 0 END)"
    if head.shape == "percent":
        for part in parts:
            pieces: Pieces = (
                "CAST(SUM(CASE WHEN ",
                *part.pieces,
                f"{one} AS REAL) * 100 / COUNT(*)",
            )
            features = {**head.features, "share.first": part is parts[0]}
            rest = tuple(p for p in held.parts if p is not part)
            yield replace(head, select=(pieces,), features=features), replace(held, parts=rest)
    elif head.shape == "differ":
        for i, part in enumerate(parts):
            for other in parts[i + 1 :]:
                if part.column == other.column >= 0:
                    first: Pieces = ("SUM(CASE WHEN ", *part.pieces, one)
                    pieces = (*first, " - SUM(CASE WHEN ", *other.pieces, one)
                    rest = tuple(p for p in held.parts if p not in (part, other))
                    yield replace(head, select=(pieces,)), replace(held, parts=rest)
    else:
        yield head, held


def _hypothesis(reading: Reading, draft: Draft) -> Hypothesis:
    made, head, parts = reading.made, draft.head, draft.tests.parts
    features: Features = {}
    for some in (head.features, draft.joint, *(p.features for p in parts)):
        for name, value in some.items():
            if value:
                features[name] = features.get(name, 0.0) + value
    joins = [pair for edge in draft.tree.edges for pair in edge.pairs]
    fields = head.fields.union(*(p.fields for p in parts), *joins)
    return Hypothesis(
        render(made, head, parts, draft.tree, distinct="distinct" in reading.cues),
        draft.score,
        features,
        tuple(made.sheets[t].name for t in draft.tree.tables),
        tuple(made.where(i) for i in sorted(fields)),
        tuple(_links(reading, draft)),
        tuple(" = ".join(".".join(made.where(i)) for i in pair) for pair in joins),
    )


def _links(reading: Reading, draft: Draft) -> Iterator[Link]:
    for part in draft.tests.parts:
        kind = "hint" if part.hints else "value" if part.value else "column"
        where = reading.made.where(part.fields[0])
        yield Link(reading.words(part.mask), kind, *where, part.value, part.score)
    for i in sorted(draft.head.fields):
        for mention in reading.mentions(i)[:1]:
            words = reading.words(mention.mask)
            yield Link(words, "column", *reading.made.where(i), "", mention.strength)


def links(context: Context) -> tuple[Link, ...]:
    """What the question and the hint speak of: tables, columns and values, the surest first."""
    reading = read_question(context, WEIGHTS)
    made = reading.made
    found = []
    for table, mentions in reading.linked.tables.items():
        words = reading.words(mentions[0].mask)
        found.append(Link(words, "table", made.sheets[table].name, "", "", mentions[0].strength))
    for i, mentions in reading.linked.fields.items():
        strength = mentions[0].strength + reading.hinted.get(i, 0.0)
        words = reading.words(mentions[0].mask)
        found.append(Link(words, "column", *made.where(i), "", strength))
    for i, sure in reading.hinted.items():
        if i not in reading.linked.fields:
            found.append(Link("", "hint", *made.where(i), "", sure))
    for part in tests(reading):
        if part.value and part.column >= 0 and part.score > 0:
            words = reading.words(part.mask)
            found.append(Link(words, "value", *made.where(part.column), part.value, part.score))
    return tuple(sorted(found, key=lambda k: (-k.score, k.kind, k.table, k.column, k.value)))
