"""A learned selector that makes no model calls: it weighs votes against doubts.

The score of a group of equal results is the weighted logarithm of its share of the votes, less the weighted
doubts about its queries (`features.DOUBTS`). A generator's vote counts as much as it proved reliable, and
that of an unknown generator as the mean, so that the same weights serve for other systems and for many
samples of one model. Since the scores order the groups already, no pairwise comparisons are needed.

No paper describes it; it stands where CHASE-SQL has a fine-tuned judge (section 2.5).
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
from workbench.select.features import DOUBTS, DoubtExtractor
from workbench.select.grounding import absent_values
from workbench.select.groups import Group, groups, select_group
from workbench.types import Context, Question, Selection, Trial

_BUNDLED = Path(__file__).with_name("bundled_selector.json")  # by benchmarks/measure/selection.py
_SUREST = 0.999  # the largest belief: a softmax over a few groups cannot be surer
_OLD_NAMES = {  # of doubts, in selectors saved by earlier versions
    "lost": "empty_result_unknown_literal",
    "hollow": "empty_result_known_literals",
    "astray": "rows_unknown_literal",
    "unsound": "mismatched_comparisons",
    "uncovered": "uncovered_question_words",
    "unasked": "unrequested_columns",
    "disordered": "columns_out_of_order",
    "reference": "row_reference_column",
    "undone": "missing_operations",
    "uncalled": "unrequested_operations",
}


@dataclass(frozen=True, slots=True)
class Evidence:
    """A group, the generators of its members, and the mean of its members' doubts."""

    group: Group
    generators: tuple[str, ...]
    doubts: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Weights:
    """The parameters of the selector.

    votes: weight of the logarithm of a group's share of the votes.
    doubts: weight of each doubt, 0 or below.
    generators: the vote of each generator, 1 on average.
    slope, intercept: the logistic calibration that turns a group's share of belief into a probability.
    learned_from: a note on the training data; not used.
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
        """The weights in a file that `save` wrote, in this version or an earlier one."""
        try:
            with naming(path):
                saved = orjson.loads(path.read_bytes())
            if lacking := {"votes", "doubts"} - saved.keys():
                raise ValueError(f"it lacks {', '.join(sorted(lacking))}")
            doubts = {_OLD_NAMES.get(name, name): w for name, w in saved["doubts"].items()}
            weights = cls(**saved | {"doubts": doubts})
            numbers = [weights.votes, weights.slope, weights.intercept]
            numbers += [*weights.doubts.values(), *weights.generators.values()]
            if unknown := weights.doubts.keys() - DOUBTS.keys():
                raise ValueError(f"no doubt is called {', '.join(sorted(unknown))}")
            if not all(type(number) in {int, float} for number in numbers):  # a bool is an int
                raise ValueError("a weight is no number")
            if min(weights.votes, weights.slope) < 0:
                raise ValueError("votes or slope is below 0")
            if min(weights.generators.values(), default=1) <= 0:
                raise ValueError("a generator's vote is not above 0")
        except (ValueError, TypeError, AttributeError) as error:
            raise BadInputError(
                f"{path}: {error}; expected the JSON that `workbench train selector` writes"
            ) from error
        return weights

    def save(self, path: Path) -> None:
        """Write the weights as indented JSON."""
        with naming(path):
            path.write_bytes(orjson.dumps(asdict(self), option=orjson.OPT_INDENT_2) + b"\n")

    def scores(self, found: Sequence[Evidence]) -> list[float]:
        """The score of each group; the highest is selected. The order of a group's members does not matter."""
        votes = [fsum(self.generators.get(name, 1.0) for name in e.generators) for e in found]
        return [
            self.votes * log(own / fsum(votes))
            + fsum(self.doubts.get(name, 0.0) * doubt for name, doubt in e.doubts.items())
            for own, e in zip(votes, found, strict=True)
        ]

    def chances(self, found: Sequence[Evidence]) -> list[float]:
        """The calibrated probability that each group is right; they need not add up to 1."""
        return [
            1 / (1 + exp(-self.slope * belief - self.intercept))
            for belief in beliefs(self.scores(found))
        ]


def beliefs(scores: Sequence[float]) -> list[float]:
    """The softmax of the scores, each as the logarithm of its odds."""
    most = max(scores, default=0.0)
    exponentials = [exp(score - most) for score in scores]
    total = fsum(exponentials)
    shares = (min(max(e / total, 1 - _SUREST), _SUREST) for e in exponentials)
    return [log(share / (1 - share)) for share in shares]


def evidence(
    lab: Lab, question: Question, trials: Sequence[Trial], seed: int = 0
) -> tuple[Evidence, ...]:
    """The evidence on each group of the trials, groups without rows included."""
    found = groups(trials, f"{seed}{question.id}", suspect="failed")
    schema = lab.schema(question.db_id)  # the whole schema: a query may use what was pruned
    extractor = DoubtExtractor(question, schema)
    queries = {trials[index].candidate.sql for group in found for index in group.members}
    literals = {literal for sql in queries for literal in extractor.literals(sql)}
    absent = absent_values(lab.executor, lab.database(question.db_id), literals)
    rows = []
    for group in found:
        candidates = [trials[index].candidate for index in group.members]
        result = trials[group.members[0]].execution
        by_sql = {sql: extractor.doubts(sql, result, absent) for sql in {c.sql for c in candidates}}
        means = {
            name: fsum(by_sql[c.sql][name] for c in candidates) / len(candidates) for name in DOUBTS
        }
        rows.append(Evidence(group, tuple(c.generator for c in candidates), means))
    return tuple(rows)


@dataclass(frozen=True, slots=True)
class Trained:
    """Picks the representative of the group with the highest score.

    A trial's score in the selection is the probability that its group is right. `seed` breaks ties.
    """

    weights: Weights
    seed: int = 0

    @classmethod
    def load(cls, path: Path, seed: int = 0) -> Self:
        """A selector with the weights that `workbench train selector` saved."""
        return cls(Weights.load(path), seed)

    @classmethod
    def bundled(cls, seed: int = 0) -> Self:
        """A selector trained on the embedded model's candidates for the bundled train split.

        Its weights have no votes of single generators, so they serve for any system's candidates.
        """
        return cls.load(_BUNDLED, seed)

    def __call__(self, lab: Lab, context: Context, trials: Sequence[Trial]) -> Selection:
        found = evidence(lab, context.question, trials, self.seed)
        scores = self.weights.scores(found)
        best = scores.index(max(scores)) if scores else None
        chances = self.weights.chances(found)
        return select_group("trained", context, trials, [e.group for e in found], chances, best)
