"""The cases to look at: wrong answers, filtered and sampled.

Which ones are drawn depends on the seed and the question's id alone, not on how many others there are: after
a rerun in which a few answers changed, most of the sample is the same, and so are its labels.
"""

import math
import random
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace
from fractions import Fraction

from workbench.benchmarks.benchmark import Benchmark
from workbench.db.spelling import one_spelling
from workbench.errors import BadInputError
from workbench.evaluate.judge import own_verdicts
from workbench.lab import Lab
from workbench.label.case import Case
from workbench.label.taxonomy import WHICH
from workbench.pool import Pool
from workbench.types import Context, Execution, Question, Selection, Trial

KEPT_ROWS = 1_000  # of each result; nobody reads more, and three hundred cases fit in memory


def cases(
    benchmark: Benchmark,
    answers: Pool | Iterable[Selection],
    lab: Lab,
    *,
    which: str = "wrong",
    share: Fraction | float = 1,
    limit: int | None = None,
    seed: int = 0,
    difficulty: Collection[str] = (),
    databases: Collection[str] = (),
    contexts: Callable[[Question], Context] | None = None,
) -> tuple[Case, ...]:
    """A share of the questions that were answered wrongly, in the benchmark's order.

    `which` is "wrong", "no correct candidate" or "selection failed", which is when a right candidate was
    there; wrong is what EX says is, in the benchmark's own sense. Of selections the case is about what was
    chosen, of a pool about a wrong candidate drawn by the seed. `contexts` tells what a system knew of a
    question, such as `partial(prepare, system, lab=lab)`; without it a case has the whole schema and no
    retrieved values.
    """
    if which not in WHICH:
        raise BadInputError(f"which is {which!r}; there are {', '.join(WHICH)}")
    if not 0 < share <= 1:
        raise BadInputError(f"share is {share}: it must be above 0 and at most 1")
    if isinstance(answers, Pool):
        if which == "selection failed":
            raise BadInputError("a pool holds no selection that could have failed: give Selections")
        pool, picked = answers, None
    else:
        selections = tuple(answers)
        pool = Pool({one.question_id: one.trials for one in selections})
        picked = {one.question_id: one.chosen for one in selections}
    asked = [
        question
        for question in benchmark.questions
        if (not difficulty or benchmark.golds[question.id].difficulty in difficulty)
        and (not databases or question.db_id in databases)
    ]
    verdicts = own_verdicts(replace(benchmark, questions=tuple(asked)), pool, lab.executor)
    places: dict[str, int] = {}
    for question_id, right in verdicts.items():
        wrong = [place for place, is_right in enumerate(right) if not is_right]
        place = picked[question_id] if picked else None
        if picked is None and wrong:
            place = wrong[int(_draw(seed, question_id, "candidate") * len(wrong))]
        none_right = which == "no correct candidate"
        if place in wrong and (which == "wrong" or none_right != any(right)):
            places[question_id] = place
    drawn = sorted(places, key=lambda question_id: _draw(seed, question_id))
    kept = set(drawn[: math.ceil(len(drawn) * share)][:limit])
    return tuple(
        _case(benchmark, question, pool.trials[question.id], places[question.id], lab, contexts)
        for question in asked
        if question.id in kept
    )


def _draw(seed: int, question_id: str, what: str = "question") -> float:
    """A number from 0 up to 1 that belongs to this question and this seed."""
    return random.Random(f"{seed} {question_id} {what}").random()  # noqa: S311  a sample, no secret


def _case(
    benchmark: Benchmark,
    question: Question,
    trials: Sequence[Trial],
    place: int,
    lab: Lab,
    contexts: Callable[[Question], Context] | None,
) -> Case:
    gold = benchmark.golds[question.id]
    candidate = trials[place].candidate
    path = benchmark.database(question.db_id)
    texts = [one_spelling(trial.candidate.sql) for trial in trials]  # as they were judged, so known
    answers = lab.executor.result_fingerprints([(path, text) for text in texts])
    gold_execution, execution = (
        _trimmed(one)
        for one in lab.executor.execute_many([(path, one_spelling(gold.sql)), (path, texts[place])])
    )
    schema = lab.schema(question.db_id)
    context = contexts(question) if contexts else Context(question, schema)
    return Case(
        question,
        gold.difficulty,
        gold.sql,
        candidate.sql,
        candidate.generator,
        gold_execution,
        execution,
        schema,
        context.schema,
        context.values,
        agreeing=answers.count(answers[place]) if answers[place] else 1,
        candidates=len(trials),
    )


def _trimmed(execution: Execution) -> Execution:
    if len(execution.rows) <= KEPT_ROWS:
        return execution
    return replace(execution, rows=execution.rows[:KEPT_ROWS], truncated=True)
