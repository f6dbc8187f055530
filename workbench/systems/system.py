"""A system is a list of steps, and `solve` runs them one after another.

CHASE-SQL, CHESS and MAC-SQL differ in their steps, not in machinery. A step is a frozen dataclass of its
parameters with a `__call__`. So a system's `repr` describes it completely, and an ablation is
`dataclasses.replace(system, fix=())`.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import partial
from typing import Any, TypeVar, cast

from workbench.lab import Lab
from workbench.types import Candidate, Context, Question, Schema, Selection, Suspect, Trial

T = TypeVar("T")
Retrieve = Callable[[Lab, Question, Schema], Context]
Prune = Callable[[Lab, Context], Context]
Generate = Callable[[Lab, Context], tuple[Candidate, ...]]
Fix = Callable[[Lab, Context, Trial], Trial]
Select = Callable[[Lab, Context, Sequence[Trial]], Selection]


@dataclass(frozen=True, slots=True)
class System:
    """The steps that answer a question, in the order in which they run; an empty tuple skips a part.

    retrieve: gathers the context: the schema, and values and descriptions that fit the question.
    prune: each step cuts the context's schema.
    generate: each generator proposes candidates.
    fix: each fixer repairs every candidate, after all candidates have run.
    select: picks one of the candidates.
    """

    name: str
    retrieve: Retrieve
    prune: tuple[Prune, ...]
    generate: tuple[Generate, ...]
    fix: tuple[Fix, ...]
    select: Select


def solve(system: System, question: Question, lab: Lab) -> Selection:
    """The system's answer to a question, with all candidates and their scores."""
    context = prepare(system, question, lab)
    return system.select(lab, context, trials_of(system, context, lab))


def prepare(system: System, question: Question, lab: Lab) -> Context:
    """The context that the generators see: after retrieval and pruning."""
    *_, context = stages(system, question, lab)
    return context


def stages(system: System, question: Question, lab: Lab) -> Iterator[Context]:
    """The context after retrieval, and then after each step of pruning."""
    context = system.retrieve(lab, question, lab.schema(question.db_id))
    yield context
    for prune in system.prune:
        context = prune(lab, context)
        yield context


def trials_of(system: System, context: Context, lab: Lab) -> tuple[Trial, ...]:
    """All candidates, run and fixed. Generators work at the same time, and so do a fixer's repairs."""
    found = lab.each(lambda generate: generate(lab, context), system.generate)
    trials = run_candidates(
        lab, context.question, [candidate for several in found for candidate in several]
    )
    for fix in system.fix:
        trials = tuple(lab.each(partial(fix, lab, context), trials))
    return trials


def run_candidates(
    lab: Lab, question: Question, candidates: Sequence[Candidate]
) -> tuple[Trial, ...]:
    """The candidates with their results on the question's database."""
    executions = lab.run_many(question, [candidate.sql for candidate in candidates])
    return tuple(map(Trial, candidates, executions))


def with_suspect(system: System, suspect: Suspect) -> System:
    """The system with `suspect` set in each of its steps that has this field."""

    def changed(step: Any) -> Any:
        has = is_dataclass(step) and any(field.name == "suspect" for field in fields(step))
        return replace(cast(Any, step), suspect=suspect) if has else step

    generate, fix = tuple(map(changed, system.generate)), tuple(map(changed, system.fix))
    return replace(system, generate=generate, fix=fix, select=changed(system.select))


def with_model(value: T, before: str, after: str) -> T:
    """The system or step with one model in place of another, wherever a part of it asks that model."""
    changed: Any = value
    if isinstance(value, tuple):
        changed = tuple(with_model(part, before, after) for part in value)
    elif isinstance(value, partial):
        named = {key: _model_of(key, part, before, after) for key, part in value.keywords.items()}
        changed = partial(value.func, *value.args, **named)
    elif is_dataclass(value) and not isinstance(value, type):
        own = [field.name for field in fields(value) if field.init]
        changed = replace(
            value, **{key: _model_of(key, getattr(value, key), before, after) for key in own}
        )
    return cast(T, changed)


def _model_of(name: str, value: Any, before: str, after: str) -> Any:
    return after if name == "model" and value == before else with_model(value, before, after)


def named(systems: Mapping[str, System]) -> Mapping[str, System]:
    """The systems of a table; each gets the name of its row."""
    return {name: replace(system, name=name) for name, system in systems.items()}
