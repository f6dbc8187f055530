"""Labelled pairs to train a selection model on: CHASE-SQL, section 2.5.

The candidates of a question are grouped by result. The right group is paired with each wrong one, each group
represented by the query that most of its members wrote. A seed draws which of the two comes first, so that a
model cannot learn a position. If no candidate is right, the paper gives the gold query to the generator as a
hint (`hinted_candidates`); without a generator, the gold query itself is the right candidate.

A pair has the context of the system in which the judge will be asked: its retrieval and its pruning are run for
each question. So the prompts that the judge learns from equal those that it will read.
"""

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Literal

from workbench.benchmarks.benchmark import Benchmark
from workbench.evaluate.ex import ex_verdicts
from workbench.lab import Lab
from workbench.systems.chase_sql import chase_sql
from workbench.systems.select import representatives
from workbench.systems.system import Propose, System, prepare
from workbench.types import Candidate, Context, Gold, Question, Trial


@dataclass(frozen=True, slots=True)
class JudgePair:
    """Two trials of a question in the order in which the judge sees them, and the letter of the right one."""

    context: Context
    first: Trial
    second: Trial
    right: Literal["A", "B"]


@dataclass(frozen=True, slots=True)
class Pairs:
    """Makes the pairs of candidates, which are given by question id."""

    system: System = field(default_factory=chase_sql)
    """The system whose judge is trained; its retrieval and pruning make the contexts."""
    generate: Propose | None = None
    """Writes candidates with the gold query as a hint if no candidate is right."""
    from_gold: bool = True
    """Whether to keep questions without a right candidate, with a hinted candidate or the gold query."""
    seed: int = 0

    def __call__(
        self, lab: Lab, benchmark: Benchmark, candidates: Mapping[str, tuple[Candidate, ...]]
    ) -> Iterator[JudgePair]:
        for question in benchmark.questions:
            own = candidates.get(question.id, ())
            gold = benchmark.golds[question.id]
            run = partial(lab.run_candidates, question)
            gold_trial, *trials = run([Candidate(gold.sql, "gold"), *own])
            right, wrong = _right_and_wrong(lab, benchmark, question, trials)
            if not wrong:
                continue
            context = prepare(self.system, question, lab)
            gold_works = gold_trial.execution is not None and gold_trial.execution.fingerprint != ""
            if not right and self.from_gold and gold_works:
                if self.generate:
                    hinted = run(hinted_candidates(lab, context, gold, self.generate))
                    right, _ = _right_and_wrong(lab, benchmark, question, hinted)
                right = right or [gold_trial]
            rng = random.Random(f"{self.seed}{question.id}")  # noqa: S311  order, not secrecy
            for right_trial in right:
                for wrong_trial in wrong:
                    is_first = rng.random() < 0.5
                    pair = (right_trial, wrong_trial) if is_first else (wrong_trial, right_trial)
                    yield JudgePair(context, *pair, "A" if is_first else "B")


def hinted_candidates(
    lab: Lab, context: Context, gold: Gold, generate: Propose
) -> tuple[Candidate, ...]:
    """Candidates of a generator whose hint contains the gold query. Only for training: it leaks the answer."""
    hint = f"{context.question.evidence} A query that answers the question: {gold.sql}".strip()
    question = replace(context.question, evidence=hint)
    return generate(lab, replace(context, question=question))


def _right_and_wrong(
    lab: Lab, benchmark: Benchmark, question: Question, trials: Sequence[Trial]
) -> tuple[list[Trial], list[Trial]]:
    """The representatives of the groups with a right result, and of those with a wrong one."""
    ran = [i for i, t in enumerate(trials) if t.execution and not t.execution.is_suspect("failed")]
    shown = [trials[index] for index in representatives(trials, ran).values()]
    pairs = [(question.id, trial.candidate.sql) for trial in shown]
    known = {
        pair: trial.execution.fingerprint
        for pair, trial in zip(pairs, shown, strict=True)
        if trial.execution
    }
    verdicts = ex_verdicts(benchmark, pairs, lab.executor, sense="bird", known=known)
    judged = list(zip(shown, verdicts, strict=True))
    return [t for t, right in judged if right], [t for t, right in judged if not right]
