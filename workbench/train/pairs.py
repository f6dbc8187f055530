"""Pairs of candidates to tune a judge on (CHASE-SQL, section 2.5).

The candidates of a question are grouped by result, and the right group is paired with each wrong one, each represented by
the query that most of its members wrote. A seed draws which of the two comes first, so that no position can be learned.
If no candidate is right, the generators are asked again with the gold query as a hint.

A pair has the context of the system in which the judge will be asked, so the prompts that it learns equal those that it
will read.
"""

import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import product

from workbench.benchmarks.benchmark import Benchmark
from workbench.evaluate.ex import ex_verdicts
from workbench.lab import Lab
from workbench.systems.chase_sql import Pairwise, chase_sql
from workbench.systems.system import System, prepare
from workbench.train.export import Conversation, conversation
from workbench.types import Candidate, Question, Trial


@dataclass(frozen=True)
class Pairs:
    """Makes a conversation of each pair: the judge's prompt, and the letter that it should answer.

    system: the system whose judge is tuned; its retrieval and pruning make the contexts, and its generators get hints.
    hinted: whether the generators are asked again where no candidate is right.
    gold: whether the gold query stands for a right candidate where there still is none (ours).
    """

    system: System = field(default_factory=chase_sql)
    hinted: bool = True
    gold: bool = False
    seed: int = 0

    def __call__(
        self, lab: Lab, benchmark: Benchmark, candidates: Mapping[str, Sequence[Candidate]]
    ) -> Iterator[Conversation]:
        judge = Pairwise(model="")  # the model is no part of the prompt
        for question in benchmark.questions:
            gold = benchmark.golds[question.id]
            judged = partial(_right_and_wrong, lab, benchmark, question)
            right, wrong = judged(candidates.get(question.id, ()))
            if not wrong:
                continue
            context = prepare(self.system, question, lab)
            if not right and self.hinted:
                hint = f"{question.evidence} A query that answers the question: {gold.sql}".strip()
                told = replace(context, question=replace(question, evidence=hint))
                right, _ = judged([c for ask in self.system.generate for c in ask(lab, told)])
            if not right and self.gold:
                right, _ = judged([Candidate(gold.sql, "gold")])
            rng = random.Random(f"{self.seed}{question.id}")  # noqa: S311  order, not secrecy
            for good, bad in product(right, wrong):
                letter, shown = ("A", (good, bad)) if rng.random() < 0.5 else ("B", (bad, good))
                yield conversation(question, judge.request(lab, context, *shown), letter)


def _right_and_wrong(
    lab: Lab, benchmark: Benchmark, question: Question, candidates: Sequence[Candidate]
) -> tuple[list[Trial], list[Trial]]:
    """A trial for each right result, and for each wrong one; failed queries have none."""
    asked = [candidate for candidate in candidates if candidate.sql.strip()]
    counts = Counter(candidate.sql for candidate in asked)
    asked.sort(key=lambda candidate: (counts[candidate.sql], candidate.sql))
    trials = map(Trial, asked, lab.run_many(question, [candidate.sql for candidate in asked]))
    by_result = {t.execution.fingerprint: t for t in trials if t.execution}  # the most frequent
    shown = [trial for result, trial in sorted(by_result.items()) if result]
    queries = [(question.id, trial.candidate.sql) for trial in shown]
    judged = list(zip(shown, ex_verdicts(benchmark, queries, lab.executor), strict=True))
    return [t for t, right in judged if right], [t for t, right in judged if not right]
