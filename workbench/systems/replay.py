"""A selector at work on candidates that are there already: a pool, from anybody's files."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from workbench.canonical import content_hash
from workbench.lab import Lab
from workbench.pool import Pool, chosen
from workbench.systems.baselines import WHOLE_SCHEMA
from workbench.systems.system import Select, System, ran
from workbench.types import Candidate, Context, Question, Selection


@dataclass(frozen=True, slots=True)
class Proposed:
    """Proposes what a pool holds. Every generator answers every question, if only without SQL.

    `content` stands for the pool's queries: pools that differ in nothing else are the same step.
    """

    generators: tuple[str, ...]
    content: str
    candidates: Mapping[str, tuple[Candidate, ...]] = field(repr=False, compare=False)

    def __call__(self, lab: Lab, context: Context) -> tuple[Candidate, ...]:
        del lab  # nothing is asked
        mine = self.candidates.get(context.question.id, ())
        answered = {candidate.generator for candidate in mine}
        return *mine, *(Candidate("", name) for name in self.generators if name not in answered)


def replayed(name: str, pool: Pool, select: Select) -> System:
    """A system that proposes what the pool holds, and selects."""
    candidates = {
        question: tuple(trial.candidate for trial in trials)
        for question, trials in pool.trials.items()
    }
    told = [(key, c.generator, c.sample, c.sql) for key, some in candidates.items() for c in some]
    proposed = Proposed(pool.generators(), content_hash("pool", told), candidates)
    return System(name, WHOLE_SCHEMA, (), (proposed,), (), select)


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
