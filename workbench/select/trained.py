"""A learned selector that makes no model calls: it weighs votes against doubts.

The score of a group of equal results is the weighted logarithm of its share of the votes, less the weighted
doubts about its queries (`features.DOUBTS`). Candidates that disagree on the result often agree on parts of the
query, so they also vote for parts: its result columns, its comparisons and its tables. A generator's vote counts by
how often the generator was right in training; an unknown generator's vote counts as the mean, so that the same
weights serve for other systems and for many samples of one model.

No paper describes this selector. It replaces CHASE-SQL's fine-tuned judge (section 2.5), without pairwise comparisons.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from math import exp, fsum, log
from pathlib import Path
from typing import Any, Self

import orjson

from workbench.canonical import content_hash
from workbench.differ.reaction import unreactive
from workbench.errors import BadInputError, content_of, naming
from workbench.lab import Lab
from workbench.select.features import DOUBTS, DoubtExtractor
from workbench.select.grounding import absent_values
from workbench.select.groups import Group, groups, select_group
from workbench.types import Context, Question, Selection, Trial

_BUNDLED = Path(__file__).with_name("bundled_selector.json")  # by benchmarks/measure/selection.py
_HIGHEST_SHARE = 0.999  # the largest share in `beliefs`: the log-odds of 1 are infinite
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


# The result columns of a query, its comparisons with literals, and its tables, each as a text.
Parts = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class Evidence:
    """A group, the generators of its members, the parts of their queries, and the mean of their doubts."""

    group: Group
    generators: tuple[str, ...]
    parts: tuple[Parts, ...]
    doubts: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Weights:
    """The parameters of the selector.

    votes: weight of the logarithm of a group's share of the votes.
    parts: how much the votes for each part of a query count, as a share of the votes for its result.
    doubts: weight of each doubt, 0 or below.
    most_doubt: the most that all doubts count against a group, in logarithms of votes; None for no bound. With 2,
        a group with e^2 = 7 times the votes of any other is selected whatever the doubts.
    generators: the vote of each generator, 1 on average.
    slope, intercept: the logistic calibration that turns a group's belief (see `beliefs`) into a probability.
    learned_from: a note on the training data; not used.
    """

    votes: float = 1.0
    doubts: Mapping[str, float] = field(default_factory=dict)
    generators: Mapping[str, float] = field(default_factory=dict)
    slope: float = 1.0
    intercept: float = 0.0
    parts: float = 0.0
    most_doubt: float | None = None
    learned_from: Mapping[str, Any] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"Weights({content_hash('selector', self)[:21]})"

    @classmethod
    def load(cls, path: Path) -> Self:
        """The weights in a file that `save` wrote, in this version or an earlier one."""
        try:
            saved = orjson.loads(content_of(path))
            if not isinstance(saved, dict):
                raise ValueError(f"it has no settings by name, but {saved!r:.60}")  # noqa: TRY004  a file's
            if lacking := {"votes", "doubts"} - saved.keys():
                raise ValueError(f"it lacks {', '.join(sorted(lacking))}")
            for name in {"doubts", "generators"} & saved.keys():
                if not isinstance(saved[name], dict):
                    raise ValueError(f"{name} has no numbers by name, but {saved[name]!r:.60}")  # noqa: TRY004
            if unknown := saved.keys() - {one.name for one in fields(cls)}:
                raise ValueError(f"no setting is called {', '.join(sorted(unknown))}")
            doubts = {_OLD_NAMES.get(name, name): w for name, w in saved["doubts"].items()}
            weights = cls(**saved | {"doubts": doubts})
            bound = 0 if weights.most_doubt is None else weights.most_doubt
            numbers = [weights.votes, weights.parts, weights.slope, weights.intercept, bound]
            numbers += [*weights.doubts.values(), *weights.generators.values()]
            if unknown := weights.doubts.keys() - DOUBTS.keys():
                raise ValueError(f"no doubt is called {', '.join(sorted(unknown))}")
            if not all(type(number) in {int, float} for number in numbers):  # a bool is an int
                raise ValueError("a weight is no number")
            if min(weights.votes, weights.parts, weights.slope, bound) < 0:
                raise ValueError("votes, parts, slope or most_doubt is below 0")
            if min(weights.generators.values(), default=1) <= 0:
                raise ValueError("a generator's vote is not above 0")
        except (ValueError, TypeError) as error:
            raise BadInputError(
                f"{path}: {error}; expected the JSON that `workbench train selector` writes"
            ) from error
        return weights

    def save(self, path: Path) -> None:
        with naming(path):
            path.write_bytes(orjson.dumps(asdict(self), option=orjson.OPT_INDENT_2) + b"\n")

    def scores(self, found: Sequence[Evidence]) -> list[float]:
        """The score of each group; the highest is selected. The order of a group's members does not matter."""
        # fsum rounds once, so the order of the members does not change the last digits.
        votes = [fsum(self.generators.get(name, 1.0) for name in e.generators) for e in found]
        agreement = self._agreement_on_parts(found) if self.parts else [0.0] * len(found)
        doubts = [
            fsum(-self.doubts.get(name, 0.0) * doubt for name, doubt in e.doubts.items())
            for e in found
        ]
        if self.most_doubt is not None:  # only doubts beyond the least doubted group's count
            bound, common = self.votes * self.most_doubt, min(doubts, default=0.0)
            doubts = [min(doubt - common, bound) for doubt in doubts]
        return [
            self.votes * (log(own / fsum(votes)) + self.parts * agreed) - doubt
            for own, agreed, doubt in zip(votes, agreement, doubts, strict=True)
        ]

    def _agreement_on_parts(self, found: Sequence[Evidence]) -> list[float]:
        """For each group, the mean over its members of the sum of the logarithms of their parts' shares."""
        votes: dict[tuple[int, str], list[float]] = {}
        for e in found:
            for name, parts in zip(e.generators, e.parts, strict=True):
                for part in enumerate(parts):
                    votes.setdefault(part, []).append(self.generators.get(name, 1.0))
        total = fsum(self.generators.get(name, 1.0) for e in found for name in e.generators)
        logs = {part: log(fsum(given) / total) for part, given in votes.items()}
        return [
            fsum(logs[part] for parts in e.parts for part in enumerate(parts)) / len(e.parts)
            for e in found
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
    shares = (min(max(e / total, 1 - _HIGHEST_SHARE), _HIGHEST_SHARE) for e in exponentials)
    return [log(share / (1 - share)) for share in shares]


def evidence(
    lab: Lab, question: Question, trials: Sequence[Trial], seed: int = 0
) -> tuple[Evidence, ...]:
    """The evidence on each group of the trials, groups without rows included."""
    found = groups(trials, f"{seed}{question.id}", suspect="failed")
    schema = lab.schema(question.db_id)  # the whole schema: a query may use what was pruned
    database = lab.database(question.db_id)
    extractor = DoubtExtractor(question, schema)
    queries = {trials[index].candidate.sql for group in found for index in group.members}
    literals = {literal for sql in queries for literal in extractor.literals(sql)}
    absent = absent_values(lab.executor, database, literals)
    answered = [extractor.answered(sql) for sql in sorted(queries)]
    starts = [trials[group.representative].candidate.sql for group in found]
    unreactive_queries = (
        unreactive(queries, starts, database, lab.executor) if len(found) > 1 else frozenset()
    )
    rows = []
    for group in found:
        candidates = [trials[index].candidate for index in group.members]
        result = trials[group.members[0]].execution
        by_sql = {
            sql: extractor.doubts(
                sql, result, absent, answered, reacts=sql not in unreactive_queries
            )
            for sql in {c.sql for c in candidates}
        }
        means = {
            name: fsum(by_sql[c.sql][name] for c in candidates) / len(candidates) for name in DOUBTS
        }
        generators = tuple(c.generator for c in candidates)
        parts = tuple(_query_parts(extractor, c.sql) for c in candidates)
        rows.append(Evidence(group, generators, parts, means))
    return tuple(rows)


def _query_parts(extractor: DoubtExtractor, sql: str) -> Parts:
    """The parts of a query in lower case; a query that cannot be parsed is all three."""
    if (facts := extractor.facts(sql)) is None:
        return sql, sql, sql
    kinds = (facts.outputs, facts.comparisons, facts.tables)
    outputs, compared, tables = (repr(sorted(set(map(repr, kind)))).lower() for kind in kinds)
    return outputs, compared, tables


@dataclass(frozen=True, slots=True)
class Trained:
    """Picks the representative of the group with the highest score.

    A trial's score in the selection is the probability that its group is right. `seed` breaks ties.
    """

    weights: Weights
    seed: int = 0

    @classmethod
    def load(cls, path: str | Path, seed: int = 0) -> Self:
        """A selector with the weights that `workbench train selector` saved."""
        return cls(Weights.load(Path(path)), seed)

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
