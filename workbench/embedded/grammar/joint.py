"""The score of a head, a set of tests and a way to join their tables together.

A head has a score of its own and so has each test: the features that speak for it alone, weighed. This
module adds what can only be said of the whole: which words of the question nothing explains, which clauses of
the hint nothing uses, how far-fetched the joins are. There are some seventy heads, a dozen sets and a few
ways to join for each pair, so most of the time of an answer is spent here; hence the caches below.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush

from workbench.embedded.grammar.head import Head, asked
from workbench.embedded.grammar.joins import Tree, joins
from workbench.embedded.grammar.tests import Tests
from workbench.embedded.linking.experience import likeness, usual_forms
from workbench.embedded.linking.reading import Features, Reading

_HELD = 60  # the best scores so far; a draft below all of them is dropped
_COMBINED = 90  # the product of a head's rank and a set's, from which a pair is not tried


@dataclass(frozen=True, slots=True)
class Style:
    """How a prompt asks to think: `nest` favours nested queries, `plan` favours few joins."""

    nest: bool = False
    plan: bool = False


@dataclass(slots=True)
class Draft:
    """A query before it is written. `joint` are the features of the whole, in three parts."""

    head: Head
    tests: Tests
    tree: Tree
    joint: tuple[Features, Features, Features]
    score: float


@dataclass(slots=True)
class _Way:
    """A way to join some tables, with its score and the tokens that name its tables."""

    tree: Tree
    features: Features
    score: float
    mask: int


class Joint:
    """Puts heads and tests together. `gain` has the gain of explaining each token of the question."""

    def __init__(self, reading: Reading, style: Style, gain: Mapping[int, float]) -> None:
        self.reading = reading
        self.style = style
        self.joins = joins(reading.made)
        self.asked = asked(reading)
        self.usual = usual_forms(reading.context.examples, reading.text)
        self.all = sum(1 << i for i in gain)  # tokens that a query should explain
        # The same few sets of tables, and of tokens left over, come back hundreds of times.
        self.ways: dict[frozenset[int], list[_Way]] = {}
        self.left: dict[int, tuple[Features, float]] = {}
        # A heap of the best scores: its smallest is the bar that a new draft must pass. Without it every
        # pair would be scored to the end, though only `kept` of them are ever rendered.
        self.best: list[float] = []
        self.bar = -math.inf

    def drafts(self, heads: Sequence[Head], sets: Sequence[Tests]) -> Iterator[Draft]:
        """Heads with sets of tests, both from the best on, so that the bar rises early.

        The product of the ranks is bounded, not each rank: a good head is tried with all sets and a poor
        one with the best sets only, which costs a fraction of the full rectangle.
        """
        for i, head in enumerate(heads, 1):
            for tests in sets[: _COMBINED // i]:
                yield from self._joined(head, tests)

    def _joined(self, head: Head, tests: Tests) -> Iterator[Draft]:
        """The head with these tests, once for each way to join the tables that they need."""
        if any(p.pieces in head.inner_tests for p in tests.parts):
            return  # a total of the hint already holds this test
        used = head.tables | tests.tables
        if not used:
            return
        pair = self._pair(head, tests)
        score = head.score + tests.worth + self.reading.score(pair)
        if score < self.bar:
            return  # joins and unexplained words nearly always cost: it would fall further
        for way in self._ways(used):
            left, left_score = self._left(self.all & ~(head.mask | tests.mask | way.mask))
            features, whole = way.features, score + way.score + left_score
            if head.group and _single_rows(self.reading, head, way.tree):
                features = {**features, "group.degenerate": 1.0}
                whole += self.reading.score({"group.degenerate": 1.0})
            heappush(self.best, whole)
            if len(self.best) > _HELD:
                self.bar = heappop(self.best)
            if whole >= self.bar:
                yield Draft(head, tests, way.tree, (pair, left, features), whole)

    def _pair(self, head: Head, tests: Tests) -> Features:
        """The features of a head with a set of tests, however their tables are joined."""
        reading = self.reading
        features: Features = {
            "overlap": (head.mask & tests.mask & self.all).bit_count(),
            "tests.selected": not tests.columns.isdisjoint(head.selected),
            "tests.of_having": bool(head.having and head.mask & tests.mask),
            "style.nest": self.style.nest and (head.nested or tests.nested),
        }
        if tests.alternatives:
            features["either.asked" if "either" in reading.cues else "either.unasked"] = 1.0
        for name, answers, mask in self.asked:
            if mask & ~tests.mask and answers.isdisjoint(head.operations):
                features[name] = 1.0
        hints = head.hints | tests.hints
        for clause in reading.definitions:
            if not clause.formulas or hints >> clause.number & 1:
                continue
            if any(f.pieces in head.inner_tests for f in clause.formulas):
                continue
            kind = clause.formulas[0].kind
            if kind == "row" and any(i in head.fields or i in tests.fields for i in clause.fields):
                continue  # its columns are used, if not through the hint
            name = "unused.row" if kind == "literal" else f"unused.{kind}"
            # A total is the whole of what is asked; a test may be about words that mean something else.
            sure = 1.0 if kind in {"total", "best", "group_test"} else 0.3 + 0.7 * clause.fit
            features[name] = features.get(name, 0.0) + sure
        if self.usual:
            pieces = (*head.select, head.order, head.having, *(p.pieces for p in tests.parts))
            texts = [p for some in pieces for p in some if isinstance(p, str)]
            texts += ["GROUP BY"] * bool(head.group)
            texts += ["(SELECT MAX("] if head.nested else ["LIMIT 1"] * bool(head.limit)
            features["examples.form"] = likeness(" ".join(texts), self.usual)
        return features

    def _ways(self, used: frozenset[int]) -> list[_Way]:
        if used not in self.ways:
            self.ways[used] = [self._way(tree, len(used)) for tree in self.joins.trees(used)]
        return self.ways[used]

    def _way(self, tree: Tree, used: int) -> _Way:
        reading = self.reading
        parents = [edge.parent for edge in tree.edges]
        features: Features = {
            "tree.used": used - 1.0,
            "tree.between": len(tree.tables) - used,
            # Tables that several others refer to: each multiplies the rows of the others.
            "tree.fan": len(parents) - len(set(parents)),
            "tree.key_said": sum(self._said(a) for e in tree.edges for a, _ in e.pairs),
            "style.plan": self.style.plan * len(tree.edges),
        }
        mask = 0
        for table in tree.tables:
            for mention in reading.linked.tables.get(table, ()):
                mask |= mention.mask * (mention.strength >= 0.4)
        return _Way(tree, features, reading.score(features), mask)

    def _said(self, column: int) -> float:
        """How surely the question speaks of a foreign key, and so of the join along it."""
        mentions = self.reading.linked.fields.get(column)
        return min(1.0, mentions[0].strength) if mentions else 0.0

    def _left(self, mask: int) -> tuple[Features, float]:
        """The cost of tokens that nothing explains. Without it the shortest query would always win."""
        if mask not in self.left:
            features: Features = {}
            for i in range(mask.bit_length()):
                if mask >> i & 1:
                    name = f"left.{kind_of_loss(self.reading, i)}"
                    features[name] = features.get(name, 0.0) + 1.0
            self.left[mask] = features, self.reading.score(features)
        return self.left[mask]


def gains(reading: Reading) -> dict[int, float]:
    """The gain of explaining each token: the cost of leaving it, with the sign turned."""
    kinds = {i: kind_of_loss(reading, i) for i in range(len(reading.text))}
    return {i: -reading.weights.get(f"left.{kind}", 0.0) for i, kind in kinds.items() if kind}


def kind_of_loss(reading: Reading, index: int) -> str:
    """The kind of token that would be left unexplained; "" for one that need not be explained."""
    token = reading.text[index]
    if token.quoted or token.capital:
        return "name" if token.low.isalnum() and token.content else ""
    if token.number is not None:
        return "number" if token.low != "one" else ""
    if not token.content:
        return ""
    if reading.named >> index & 1:
        return "column"
    return "word" if token.stem in reading.made.words else "other"


def _single_rows(reading: Reading, head: Head, tree: Tree) -> bool:
    """Does every group hold one row, since no joined table refers to the one that is grouped by its key?"""
    sheet = reading.made.sheets[reading.made.fields[head.group[0]].table]
    return head.group == sheet.key and not any(e.parent == sheet.id for e in tree.edges)
