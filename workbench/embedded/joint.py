"""What a head, tests and joins are worth together, beyond what each is alone."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from heapq import heappop, heappush

from workbench.embedded.experience import Experience, experience
from workbench.embedded.filters import Tests
from workbench.embedded.head import Head, asked
from workbench.embedded.joins import Tree, graph
from workbench.embedded.reading import Features, Reading

_HELD = 120  # drafts whose scores are remembered


@dataclass(frozen=True, slots=True)
class Style:
    """How a prompt asks to think. `nest` favours queries within queries, `plan` short and sure joins."""

    nest: bool = False
    plan: bool = False


@dataclass(slots=True)
class Draft:
    head: Head
    tests: Tests
    tree: Tree
    joint: Features
    score: float


class Joint:
    """Puts heads and tests together; what would come far behind the best is not looked at to the end."""

    def __init__(self, reading: Reading, style: Style, worth: Mapping[int, float]) -> None:
        self.reading = reading
        self.ways = graph(reading.made)
        self.style = style
        self.masks = {t: _said_mask(reading, t) for t in reading.linked.tables}
        self.asked = asked(reading)
        self.experience = experience(reading.context.examples, reading.text)
        self.left: dict[int, Features] = {}
        self.best: list[float] = []  # scores, of which the lowest is the `floor` that counts
        self.floor = -math.inf
        self.all = sum(1 << i for i in worth)

    def drafts(self, head: Head, held: Tests) -> Iterator[Draft]:
        """The head with these tests, once for each way to join the tables that they need."""
        reading, parts = self.reading, held.parts
        if any(p.pieces in head.inner_tests or p.hints & head.inner for p in parts):
            return
        fields = head.fields.union(*(p.fields for p in parts))
        used = {reading.made.fields[i].table for i in fields}
        used.update(head.needs, *(p.needs for p in parts))
        if not used:
            return
        shared = self._features(head, held, fields)
        if self.experience:
            shared |= self._usual(self.experience, head, held, fields)
        nested = head.nested or any("SELECT" in str(p.pieces[-1]) for p in parts)
        shared["style.nest"] = self.style.nest and nested
        base = head.score + sum(p.score for p in parts) + reading.score(shared)
        for rank, tree in enumerate(self.ways.trees(used) if base >= self.floor else ()):
            covered = head.mask | held.mask
            for table in tree.tables:
                covered |= self.masks.get(table, 0)
            features = {**self._uncovered(covered), **self._joins(tree, rank, used)}
            features["group.degenerate"] = bool(head.group) and _degenerate(reading, head, tree)
            features["style.plan"] = self.style.plan * tree.cost
            score = base + reading.score(features)
            heappush(self.best, score)
            if len(self.best) > _HELD:
                self.floor = heappop(self.best)
            if score >= self.floor:
                yield Draft(head, held, tree, shared | features, score)

    def _usual(self, usual: Experience, head: Head, held: Tests, fields: set[int]) -> Features:
        """How much a hypothesis is like the examples."""
        pieces = (*head.select, head.order, head.having, *(p.pieces for p in held.parts))
        texts = [p for some in pieces for p in some if isinstance(p, str)]
        texts += ["GROUP BY"] * bool(head.group) + ["LIMIT 1"] * bool(head.limit)
        names = [self.reading.made.fields[i].name for i in sorted(fields)]
        return {"examples.form": usual.form(texts), "examples.columns": usual.columns(names)}

    def _features(self, head: Head, held: Tests, fields: set[int]) -> Features:
        reading = self.reading
        features: Features = {"overlap": (head.mask & held.mask & self.all).bit_count()}
        operations = head.operations or frozenset({"list"})
        for name, answers, mask in self.asked:
            if not answers & operations and mask & ~held.mask:
                features[name] = 1.0
        hints = head.hints
        for part in held.parts:
            hints |= part.hints
        hints |= head.inner
        selected = {p for piece in head.select for p in piece if isinstance(p, int)}
        for part in held.parts:
            if part.column in selected:
                features["tests.selected"] = 1.0
        if head.having and any(p.mask & head.mask for p in held.parts):
            features["tests.of_having"] = 1.0
        columns = [p.column for p in held.parts if p.column >= 0]
        if len(columns) > len(set(columns)):
            features["either.asked" if "either" in reading.cues else "either.unasked"] = 1.0
        for found in reading.definitions:
            if hints >> found.number & 1 or not found.formulas:
                continue
            kind = found.formulas[0].kind
            if kind in {"row", "columns"} and fields.intersection(found.fields):
                continue
            name = "unused.row" if kind in {"row", "columns", "literal"} else f"unused.{kind}"
            whole = kind in {"total", "best", "group_test"}
            features[name] = features.get(name, 0.0) + (1.0 if whole else 0.3 + 0.7 * found.fit)
        features["tests.none"] = float(not held.parts)
        return features

    def _uncovered(self, covered: int) -> Features:
        left = self.all & ~covered
        if left not in self.left:
            features: Features = {}
            for i in range(left.bit_length()):
                if left >> i & 1:
                    name = f"left.{kind_of_loss(self.reading, i)}"
                    features[name] = features.get(name, 0.0) + 1.0
            self.left[left] = features
        return self.left[left]

    def _joins(self, tree: Tree, rank: int, used: set[int]) -> Features:
        said = 0.0
        for edge in tree.edges:
            for child, _ in edge.pairs:
                mentions = self.reading.mentions(child)
                said += min(1.0, mentions[0].strength) if mentions else 0.0
        return {
            "tree.used": len(used) - 1.0,
            "tree.fan": _fans(tree),
            "tree.guessed": sum(e.cost > 1 for e in tree.edges) * 1.0,
            "tree.between": len(tree.tables) - len(used),
            "tree.other": rank > 0,
            "tree.key_said": said,
            "tree.self": any(self.reading.made.sheets[t].role >= 0 for t in tree.tables),
            "tree.self_said": max(
                (self._role_said(t) for t in tree.tables if self.reading.made.sheets[t].role >= 0),
                default=0.0,
            ),
        }

    def _role_said(self, table: int) -> float:
        mentions = self.reading.mentions(self.reading.made.sheets[table].role)
        return min(1.0, mentions[0].strength) if mentions else 0.0


def _said_mask(reading: Reading, table: int) -> int:
    mask = 0
    for mention in reading.linked.tables[table]:
        if mention.strength >= 0.4:
            mask |= mention.mask
    return mask


def kind_of_loss(reading: Reading, place: int) -> str:
    """What kind of thing it is to leave this token unexplained; "" where it is nothing."""
    token = reading.text[place]
    if token.quoted or token.capital:
        return "name" if token.low.isalnum() and token.content else ""
    if token.number is not None:
        return "number" if token.low != "one" else ""
    if not token.content:
        return ""
    if any(
        m.mask >> place & 1 and m.name >= 0.5
        for found in reading.linked.fields.values()
        for m in found
    ):
        return "column"
    return "word" if token.stem in reading.made.words else "other"


def _fans(tree: Tree) -> int:
    """The tables in it that several others refer to: each multiplies the rows of the others."""
    parents = [edge.parent for edge in tree.edges]
    return len(parents) - len(set(parents))


def _degenerate(reading: Reading, head: Head, tree: Tree) -> bool:
    """Does every group hold one row, since nothing that is joined refers to its table?"""
    sheet = reading.made.sheets[reading.made.fields[head.group[0]].table]
    return head.group == sheet.key and not any(e.parent == sheet.id for e in tree.edges)
