"""The share of the gap that the trained selector closes where its evidence, too, is chosen without the judged database.

    python tests/benchmarks/measure/nested.py --spider FOLDER [--bundled]

For each database that is left out, the groups of evidence are chosen on the other databases by cross-validation among
them, the weights are learned on the same databases, and the one left out is judged once. With --bundled, evidence and
weights are also chosen and learned on the bundled train split alone and judged on Spider, and the other way round on
both bundled splits. Intervals are of 10,000 resamplings of the databases.

The evidence itself was thought of by people who had read some of these databases; nothing here takes that back.
"""

import argparse
import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path

from selection import as_pool, candidates

from workbench.benchmarks.named import open_benchmark
from workbench.benchmarks.predictions import file_names, load_pool, prediction_files
from workbench.db.execute import Executor
from workbench.lab import Lab
from workbench.llm.client import Client
from workbench.select.trained import Weights
from workbench.store import Store
from workbench.train.cross_validate import picks_right
from workbench.train.selector import JudgedQuestion, Learner, has_comparisons, judged_questions

# What may be chosen. Votes for results are always there.
GROUPS: Mapping[str, tuple[str, ...]] = {
    "votes for parts of queries": (),
    "results that do not react": ("unreactive_result",),
    "empty results and unknown literals": (
        "empty_result_unknown_literal",
        "empty_result_known_literals",
        "rows_unknown_literal",
    ),
    "comparisons and keys": ("mismatched_comparisons", "row_reference_column"),
    "words and columns": (
        "uncovered_question_words",
        "unrequested_columns",
        "missing_columns",
        "columns_out_of_order",
    ),
    "words and operations": ("missing_operations", "unrequested_operations"),
}
PARTS = "votes for parts of queries"
Choice = frozenset[str]
CHOICES = [frozenset(c) for size in range(len(GROUPS) + 1) for c in combinations(GROUPS, size)]
Cases = Sequence[JudgedQuestion]


def learner(choice: Choice) -> Learner:
    """A learner with these groups of evidence; generators are not told apart, so that it serves for any pool."""
    doubts = tuple(name for group in GROUPS if group in choice for name in GROUPS[group])
    parts = Learner().parts if PARTS in choice else 0.0
    return Learner(reliability=False, doubts=doubts, parts=parts)


@dataclass
class Nested:
    """Chooses evidence and learns weights; what was learned without some databases is learned once."""

    cases: Cases
    _learned: dict[tuple[Choice, frozenset[str]], Weights] = field(default_factory=dict)

    def weights(self, choice: Choice, without: frozenset[str]) -> Weights:
        if (choice, without) not in self._learned:
            rest = [case for case in self.cases if case.db_id not in without]
            found = learner(choice).weights(rest) if has_comparisons(rest) else Weights()
            self._learned[choice, without] = found
        return self._learned[choice, without]

    def choose(self, without: frozenset[str] = frozenset()) -> Choice:
        """The groups that picks_right most right answers, each other database left out in turn; the fewest groups of equals."""
        others = sorted({case.db_id for case in self.cases} - without)
        right: Counter[Choice] = Counter()
        for choice in CHOICES:
            for database in others:
                weights = self.weights(choice, without | {database})
                own = [case for case in self.cases if case.db_id == database]
                right[choice] += sum(picks_right(weights, case) for case in own)
        most = max(right.values())
        return next(choice for choice in CHOICES if right[choice] == most)

    def judged(self) -> Iterator[tuple[JudgedQuestion, bool, Choice]]:
        """Each question, whether the picks_right is right, and the choice made without the question's database."""
        for database in sorted({case.db_id for case in self.cases}):
            without = frozenset({database})
            choice = self.choose(without)
            weights = self.weights(choice, without)
            for case in self.cases:
                if case.db_id == database:
                    yield case, picks_right(weights, case), choice


def closed(picks: Sequence[tuple[JudgedQuestion, bool]]) -> tuple[float, float, float]:
    """The share of the gap from majority to oracle that the picks close, with the ends of its interval."""
    gain: Counter[str] = Counter()
    gap: Counter[str] = Counter()
    for case, right in picks:
        gain[case.db_id] += right - case.majority
        gap[case.db_id] += any(case.right) - case.majority
    databases = sorted(gap)
    draw = random.Random(0)
    shares = []
    for _ in range(10_000):
        drawn = draw.choices(databases, k=len(databases))
        if total := sum(gap[name] for name in drawn):
            shares.append(sum(gain[name] for name in drawn) / total)
    shares.sort()
    low, high = (shares[int(part * len(shares))] for part in (0.025, 0.975))
    return sum(gain.values()) / sum(gap.values()), low, high


def shown(name: str, picks: Sequence[tuple[JudgedQuestion, bool]]) -> None:
    share, low, high = closed(picks)
    won = sum(right and not case.majority for case, right in picks)
    lost = sum(case.majority and not right for case, right in picks)
    print(f"{name:60} {share:4.0%} ({low:.0%} to {high:.0%}), {won} won, {lost} lost")


def across(name: str, learned: Cases, judged: Cases) -> None:
    """Choose and learn on some questions, and judge on others."""
    nested = Nested(learned)
    choice = nested.choose()
    weights = nested.weights(choice, frozenset())
    shown(name, [(case, picks_right(weights, case)) for case in judged])
    print(f"    with {', '.join(sorted(choice)) or 'votes for results alone'}")


def within(name: str, cases: Cases) -> None:
    """Choose, learn and judge on one benchmark, one database left out at a time."""
    found = list(Nested(cases).judged())
    shown(name, [(case, right) for case, right, _ in found])
    choices = {case.db_id: choice for case, _, choice in found}
    for group in GROUPS:
        count = sum(group in choice for choice in choices.values())
        print(f"    {group}: chosen for {count} of {len(choices)} databases")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--spider", type=Path, required=True, help="a folder with predictions")
    parser.add_argument("--bundled", action="store_true")
    arguments = parser.parse_args()
    with Store() as store, Executor(store) as executor:
        real = open_benchmark("spider-dev", arguments.spider)
        files = prediction_files([str(arguments.spider / "predictions")])
        lab = Lab(Client(store), executor, real.database)
        public = judged_questions(lab, real, load_pool(file_names(files), real))
        within("public databases, one left out at a time", public)
        if not arguments.bundled:
            return
        splits = {}
        for name in ("bundled-train", "bundled-dev"):
            benchmark = open_benchmark(name)
            lab = Lab(Client(store), executor, benchmark.database)
            splits[name] = judged_questions(lab, benchmark, as_pool(candidates(lab, benchmark)))
        across("bundled train to public databases", splits["bundled-train"], public)
        across("bundled train to bundled dev", splits["bundled-train"], splits["bundled-dev"])
        for name, cases in splits.items():
            across(f"public databases to {name}", public, cases)


if __name__ == "__main__":
    main()
