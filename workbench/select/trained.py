"""A selector that was learned and asks no model: votes against doubts.

A group of equal results stands on the votes of its members, each of whom counts as much as it proved
reliable, and falls by the doubts about its queries (`features.DOUBTS`). Who is not known counts as the mean,
so the same weights serve for other systems and for many samples of one model.

Its scores are an order of the groups. A tournament among them would only find the first of that order, so
there is no judge for one here.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from math import exp, fsum, log
from pathlib import Path
from typing import Any, Self

import orjson

from workbench.canonical import content_hash
from workbench.errors import BadInputError, naming
from workbench.lab import Lab
from workbench.select.features import DOUBTS, Doubter
from workbench.select.grounding import missing
from workbench.select.groups import Group, groups
from workbench.types import Context, Question, Selection, Trial

_BUNDLED = Path(__file__).with_name("bundled_selector.json")  # by benchmarks/measure_selection.py
_SUREST = 0.999  # more than this no softmax over a few groups can know


@dataclass(frozen=True, slots=True)
class Evidence:
    """What is known of a group: who is in it, and the mean of its members' doubts."""

    group: Group
    generators: tuple[str, ...]
    doubts: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Weights:
    """What was learned: the weight of the logarithm of a group's share of the votes, of each doubt, and the
    vote of each generator (1 on average). `slope` and `intercept` turn a share of belief into a chance.
    """

    votes: float = 1.0
    doubts: Mapping[str, float] = field(default_factory=dict)
    generators: Mapping[str, float] = field(default_factory=dict)
    slope: float = 1.0
    intercept: float = 0.0
    learned_from: Mapping[str, Any] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"Weights({content_hash('selector', self)[:21]})"

    @classmethod
    def load(cls, path: Path) -> Self:
        """What `save` wrote."""
        try:
            with naming(path):
                told = orjson.loads(path.read_bytes())
            found = cls(**told)
            if lacking := {"votes", "doubts"} - told.keys():
                raise ValueError(f"it does not say: {', '.join(sorted(lacking))}")
            numbers = [found.votes, found.slope, found.intercept]
            numbers += [*found.doubts.values(), *found.generators.values()]
            if unknown := found.doubts.keys() - DOUBTS.keys():
                raise ValueError(f"no doubt is called {', '.join(sorted(unknown))}")
            if not all(type(number) in {int, float} for number in numbers):  # a bool is an int
                raise ValueError("a weight is no number")
            if min(found.votes, found.slope) < 0 or min(found.generators.values(), default=1) <= 0:
                raise ValueError("votes or slope is below 0, or a generator's vote not above 0")
        except (ValueError, TypeError, AttributeError) as error:
            raise BadInputError(
                f"{path}: {error}; expected the JSON that `workbench train selector` writes"
            ) from error
        return found

    def save(self, path: Path) -> None:
        """As JSON that a person can read."""
        with naming(path):
            path.write_bytes(orjson.dumps(asdict(self), option=orjson.OPT_INDENT_2) + b"\n")

    def scores(self, found: Sequence[Evidence]) -> list[float]:
        """What speaks for each group, by which they are ordered. The order of members does not matter."""
        votes = [fsum(self.generators.get(name, 1.0) for name in e.generators) for e in found]
        return [
            self.votes * log(own / fsum(votes))
            + fsum(self.doubts.get(name, 0.0) * much for name, much in e.doubts.items())
            for own, e in zip(votes, found, strict=True)
        ]

    def chances(self, found: Sequence[Evidence]) -> list[float]:
        """For each group the calibrated chance that it is right; they need not add up to 1."""
        return [
            1 / (1 + exp(-self.slope * belief - self.intercept))
            for belief in beliefs(self.scores(found))
        ]


def beliefs(scores: Sequence[float]) -> list[float]:
    """Each one's share of all belief, as a logarithm of odds."""
    most = max(scores, default=0.0)
    odds = [exp(score - most) for score in scores]
    shares = (min(max(one / fsum(odds), 1 - _SUREST), _SUREST) for one in odds)
    return [log(share / (1 - share)) for share in shares]


def evidence(
    lab: Lab, question: Question, trials: Sequence[Trial], seed: int = 0
) -> tuple[Evidence, ...]:
    """The groups that the trials form, those without rows among them, and what is known of each."""
    found = groups(trials, f"{seed}{question.id}", empty_apart=False)
    schema = lab.schema(question.db_id)  # the whole one: a query may use what was pruned
    doubter = Doubter(question, schema)
    queries = {trials[place].candidate.sql for group in found for place in group.members}
    values = {value for sql in queries for value in doubter.wanted(sql)}
    absent = missing(lab.executor, lab.database(question.db_id), values)
    told = []
    for group in found:
        members = [trials[place] for place in group.members]
        result = members[0].execution
        each = {
            sql: doubter.doubts(sql, result, absent) for sql in {m.candidate.sql for m in members}
        }
        doubts = {
            name: fsum(each[m.candidate.sql][name] for m in members) / len(members)
            for name in DOUBTS
        }
        told.append(Evidence(group, tuple(m.candidate.generator for m in members), doubts))
    return tuple(told)


@dataclass(frozen=True, slots=True)
class Trained:
    """Picks the speaker of the group that most speaks for; a trial's score is its chance to be right."""

    weights: Weights
    seed: int = 0

    @classmethod
    def load(cls, path: Path, seed: int = 0) -> Self:
        """With the weights that `workbench train selector` left in a file."""
        return cls(Weights.load(path), seed)

    @classmethod
    def bundled(cls, seed: int = 0) -> Self:
        """With the weights that the embedded model's candidates for the bundled train split taught.

        No generator has a vote of its own, so they serve for anybody's candidates.
        """
        return cls.load(_BUNDLED, seed)

    def __call__(self, lab: Lab, context: Context, trials: Sequence[Trial]) -> Selection:
        found = evidence(lab, context.question, trials, self.seed)
        chances = [0.0] * len(trials)
        for e, chance in zip(found, self.weights.chances(found), strict=True):
            for place in e.group.members:
                chances[place] = chance
        scores = self.weights.scores(found)
        best = scores.index(max(scores)) if scores else None
        return Selection(
            context.question.id,
            tuple(trials),
            None if best is None else found[best].group.speaker,
            "trained",
            tuple(chances),
        )
