"""The cases to label: wrong predictions, filtered and sampled.

Whether a question is drawn depends on the seed and the question's id alone. So a rerun that changes a few answers
keeps most of the sample, and its labels.
"""

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

from workbench.benchmarks.benchmark import Benchmark
from workbench.errors import BadInputError, one_of
from workbench.evaluate.ex import ex_verdicts
from workbench.lab import Lab
from workbench.label.case import Case, draw
from workbench.label.taxonomy import WHICH
from workbench.sql.reading import normalise_text
from workbench.types import Candidate, Context, Execution, Question, Selection

KEPT_ROWS = 1_000  # rows of each result, so that three hundred cases fit in memory


def cases(
    benchmark: Benchmark,
    answers: Mapping[str, Sequence[Candidate]] | Iterable[Selection],
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
    """A share of the wrongly answered questions, in the benchmark's order.

    `which` names the questions: "wrong" (by the benchmark's EX), "no correct candidate", or "selection failed" (a
    right candidate was not chosen). A case of a selection shows the chosen candidate; a case of candidates by question id
    shows a wrong one drawn by the seed. `contexts` returns a question's context in a system, such as
    `partial(prepare, system, lab=lab)`; without it, a case has the whole schema and no retrieved values.
    """
    one_of(WHICH, which=which)
    if not 0 < share <= 1:
        raise BadInputError(f"share is {share}: it must be above 0 and at most 1")
    if isinstance(answers, Mapping):
        if which == "selection failed":
            raise BadInputError(
                "candidates have no selection that could have failed: give Selections"
            )
        candidates, chosen = answers, None
    else:
        selections = tuple(answers)
        candidates = {s.question_id: [t.candidate for t in s.trials] for s in selections}
        chosen = {selection.question_id: selection.chosen for selection in selections}
    questions = [
        question
        for question in benchmark.questions
        if (not difficulty or benchmark.golds[question.id].difficulty in difficulty)
        and (not databases or question.db_id in databases)
    ]
    pairs = [(q.id, one.sql) for q in questions for one in candidates.get(q.id, ())]
    verdicts = dict(zip(pairs, ex_verdicts(benchmark, pairs, lab.executor), strict=True))
    indexes: dict[str, int] = {}  # the candidate that the case of a question shows
    for question_id in dict.fromkeys(key for key, _ in pairs):
        right = [verdicts[question_id, one.sql] for one in candidates[question_id]]
        wrong = [index for index, is_right in enumerate(right) if not is_right]
        index = chosen[question_id] if chosen else None
        if chosen is None and wrong:
            index = wrong[int(draw(seed, question_id, "candidate") * len(wrong))]
        # "no correct candidate" takes the questions without a right candidate, "selection failed" those with one.
        none_right = which == "no correct candidate"
        if index in wrong and (which == "wrong" or none_right != any(right)):
            indexes[question_id] = index
    drawn = sorted(indexes, key=lambda question_id: draw(seed, question_id, "question"))
    kept = set(drawn[: math.ceil(len(drawn) * share)][:limit])
    return tuple(
        _case(benchmark, question, candidates[question.id], indexes[question.id], lab, contexts)
        for question in questions
        if question.id in kept
    )


def _case(
    benchmark: Benchmark,
    question: Question,
    candidates: Sequence[Candidate],
    index: int,
    lab: Lab,
    contexts: Callable[[Question], Context] | None,
) -> Case:
    gold = benchmark.golds[question.id]
    candidate = candidates[index]
    path = benchmark.database(question.db_id)
    # In this form, as the verdicts ran them, the queries have cached results.
    texts = [normalise_text(one.sql) for one in candidates]
    results = lab.executor.result_fingerprints([(path, text) for text in texts])
    pair = [(path, normalise_text(gold.sql)), (path, texts[index])]
    gold_execution, execution = map(_trimmed, lab.executor.execute_many(pair))
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
        agreeing=results.count(results[index]) if results[index] else 1,
        candidates=len(candidates),
        sense=benchmark.sense,
        benchmark=benchmark.name,
    )


def _trimmed(execution: Execution) -> Execution:
    if len(execution.rows) <= KEPT_ROWS:
        return execution
    return replace(execution, rows=execution.rows[:KEPT_ROWS], truncated=True)
