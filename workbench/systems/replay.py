"""Runs a selector on existing candidates: a pool, for example from another system's prediction files."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from workbench.canonical import content_hash
from workbench.lab import Lab
from workbench.pool import Pool, chosen
from workbench.systems.baselines import WHOLE_SCHEMA
from workbench.systems.system import Select, System, run_candidates
from workbench.types import Candidate, Context, Question, Selection


@dataclass(frozen=True, slots=True)
class Proposed:
    """A generator that proposes the candidates of a pool.

    generators: the pool's generators. One without a candidate for a question proposes an empty query.
    content: a hash of the pool's queries, which stands for `candidates` when steps are compared.
    candidates: the candidates by question id.
    """

    generators: tuple[str, ...]
    content: str
    candidates: Mapping[str, tuple[Candidate, ...]] = field(repr=False, compare=False)

    def __call__(self, lab: Lab, context: Context) -> tuple[Candidate, ...]:
        del lab  # no model is asked
        own = self.candidates.get(context.question.id, ())
        answered = {candidate.generator for candidate in own}
        return *own, *(Candidate("", name) for name in self.generators if name not in answered)


def proposed(pool: Pool) -> Proposed:
    candidates = {id_: tuple(one.candidate for one in ts) for id_, ts in pool.trials.items()}
    rows = [(key, c.generator, c.sample, c.sql) for key, cs in candidates.items() for c in cs]
    return Proposed(pool.generators(), content_hash("pool", rows), candidates)


def replayed(name: str, pool: Pool, select: Select) -> System:
    """A system that proposes the pool's candidates and selects one."""
    return System(name, WHOLE_SCHEMA, (), (proposed(pool),), (), select)


def picks(name: str, select: Select, lab: Lab, questions: Sequence[Question], pool: Pool) -> Pool:
    """The selected candidates as a pool of that name: one candidate for each question."""
    return chosen(name, select_from(pool, select, lab, questions))


def select_from(
    pool: Pool, select: Select, lab: Lab, questions: Sequence[Question]
) -> Iterator[Selection]:
    """The selection for each question that the pool has candidates for. The selector sees the whole schema."""
    for question in questions:
        candidates = [trial.candidate for trial in pool.trials.get(question.id, ())]
        if candidates:
            context = Context(question, lab.schema(question.db_id))
            yield select(lab, context, run_candidates(lab, question, candidates))
