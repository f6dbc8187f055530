"""Labelled pairs to train a selection model on: CHASE-SQL, section 2.5.

The candidates of a question are grouped by result, and the right group meets each wrong one through the
query that most of its members wrote. Which of the two stands first is drawn from a seed, so that a model
cannot learn a place. Where no candidate is right, the paper gives the gold query to the generator as a
hint, for candidates that are right: `guided` does; without a generator, the gold query stands in for them.
"""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from workbench.benchmarks.benchmark import Benchmark
from workbench.db.compare import bird_equal
from workbench.lab import Lab
from workbench.pool import Pool
from workbench.select.groups import groups
from workbench.systems.system import Generate, ran
from workbench.types import Candidate, Context, Execution, Gold, Trial


@dataclass(frozen=True, slots=True)
class Pair:
    """Two trials of a question, in the order in which a judge is to see them, and which is right."""

    context: Context
    first: Trial
    second: Trial
    right: Literal["A", "B"]


@dataclass(frozen=True, slots=True)
class Pairs:
    """Makes the pairs. `generate` writes candidates with the gold query as a hint, where none is right;
    with `from_gold` off, such questions are left out.
    """

    generate: Generate | None = None
    from_gold: bool = True
    seed: int = 0

    def __call__(self, lab: Lab, benchmark: Benchmark, pool: Pool) -> Iterator[Pair]:
        for question in benchmark.questions:
            candidates = [trial.candidate for trial in pool.trials.get(question.id, ())]
            gold = benchmark.golds[question.id]
            context = Context(question, lab.schema(question.db_id))
            ideal, *trials = ran(lab, question, [Candidate(gold.sql, "gold"), *candidates])
            expected = ideal.execution or Execution("error")
            right, wrong = _sides(trials, expected, question.id)
            if not right and wrong and self.from_gold and expected.fingerprint:
                hinted = guided(lab, context, gold, self.generate) if self.generate else ()
                right, _ = _sides(ran(lab, question, hinted), expected, question.id)
                right = right or [ideal]
            chance = random.Random(f"{self.seed}{question.id}")  # noqa: S311  order, not secrecy
            for good in right:
                for bad in wrong:
                    if chance.random() < 0.5:
                        yield Pair(context, good, bad, "A")
                    else:
                        yield Pair(context, bad, good, "B")


def guided(lab: Lab, context: Context, gold: Gold, generate: Generate) -> tuple[Candidate, ...]:
    """Candidates of a generator whose hint holds the gold query. For training alone: it gives the answer."""
    hint = f"{context.question.evidence} A query that answers the question: {gold.sql}".strip()
    question = replace(context.question, evidence=hint)
    return generate(lab, replace(context, question=question))


def _sides(
    trials: Sequence[Trial], expected: Execution, seed: str
) -> tuple[list[Trial], list[Trial]]:
    """The speakers of the groups with a right and with a wrong result."""
    speakers = [trials[g.speaker] for g in groups(trials, seed, empty_apart=False)]
    right = [t for t in speakers if t.execution and bird_equal(t.execution, expected)]
    return right, [t for t in speakers if t not in right]
