"""A selector at work on candidates that are there already: a pool, from anybody's files."""

from collections.abc import Iterator, Sequence

from workbench.lab import Lab
from workbench.pool import Pool, chosen
from workbench.systems.system import Select
from workbench.types import Candidate, Context, Question, Selection, Trial


def ran(lab: Lab, question: Question, candidates: Sequence[Candidate]) -> tuple[Trial, ...]:
    """The candidates, run on the question's database."""
    path = lab.database(question.db_id)
    executions = lab.executor.execute_many([(path, one.sql) for one in candidates])
    return tuple(map(Trial, candidates, executions))


def picks(name: str, select: Select, lab: Lab, questions: Sequence[Question], pool: Pool) -> Pool:
    """What a selector picks from a pool, under a name: a pool of one candidate a question."""
    return chosen(name, select_from(pool, select, lab, questions))


def select_from(
    pool: Pool, select: Select, lab: Lab, questions: Sequence[Question]
) -> Iterator[Selection]:
    """The selection for each question that the pool answers; the selector sees the whole schema."""
    for question in questions:
        candidates = [trial.candidate for trial in pool.trials.get(question.id, ())]
        if candidates:
            context = Context(question, lab.schema(question.db_id))
            yield select(lab, context, ran(lab, question, candidates))
