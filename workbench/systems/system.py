"""A system is the steps that it is made of; to solve a question is to take them one after another.

CHASE-SQL, CHESS and MAC-SQL differ in their steps, not in machinery. A step is a value with a `__call__`,
so a system's `repr` says all that it does, and an ablation is `dataclasses.replace`.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from workbench.lab import Lab
from workbench.types import Candidate, Context, Question, Schema, Selection, Trial

Retrieve = Callable[[Lab, Question, Schema], Context]
Prune = Callable[[Lab, Context], Context]
Generate = Callable[[Lab, Context], tuple[Candidate, ...]]
Fix = Callable[[Lab, Context, Trial], Trial]
Select = Callable[[Lab, Context, Sequence[Trial]], Selection]


@dataclass(frozen=True, slots=True)
class System:
    """What happens to a question, in this order. An empty tuple leaves its part out."""

    name: str
    retrieve: Retrieve
    prune: tuple[Prune, ...]
    generate: tuple[Generate, ...]
    fix: tuple[Fix, ...]
    select: Select


def solve(system: System, question: Question, lab: Lab) -> Selection:
    """The system's answer to a question, with everything that led to it."""
    context = prepare(system, question, lab)
    trials = attempt(system, context, lab)
    return system.select(lab, context, trials)


def prepare(system: System, question: Question, lab: Lab) -> Context:
    """All that the generators will know of a question."""
    *_, context = stages(system, question, lab)
    return context


def stages(system: System, question: Question, lab: Lab) -> Iterator[Context]:
    """What is known of a question after retrieval, and then after each step of pruning."""
    context = system.retrieve(lab, question, lab.schema(question.db_id))
    yield context
    for prune in system.prune:
        context = prune(lab, context)
        yield context


def attempt(system: System, context: Context, lab: Lab) -> tuple[Trial, ...]:
    """The candidates, run and fixed."""
    candidates = [c for generate in system.generate for c in generate(lab, context)]
    trials = ran(lab, context.question, candidates)
    for fix in system.fix:
        trials = tuple([fix(lab, context, trial) for trial in trials])
    return trials


def ran(lab: Lab, question: Question, candidates: Sequence[Candidate]) -> tuple[Trial, ...]:
    """The candidates, run on the question's database."""
    path = lab.database(question.db_id)
    executions = lab.executor.execute_many([(path, one.sql) for one in candidates])
    return tuple(map(Trial, candidates, executions))
