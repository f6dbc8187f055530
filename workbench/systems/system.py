"""A system is a list of steps, and `solve` runs them one after another.

CHASE-SQL, CHESS and MAC-SQL differ in their steps, not in machinery. A step is a frozen dataclass of its
parameters with a `__call__`. So a system's `repr` describes it completely, and an ablation is
`dataclasses.replace(system, fix=())`.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import partial
from itertools import chain
from typing import Any, TypeVar, cast

from workbench.errors import BadInputError
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
    return choose(system, context, lab, trials_of(system, context, lab))


def prepare(system: System, question: Question, lab: Lab) -> Context:
    """The context that the generators see: after retrieval and pruning."""
    *_, context = stages(system, question, lab)
    return context


def stages(system: System, question: Question, lab: Lab) -> Iterator[Context]:
    """The context after retrieval, and then after each step of pruning."""
    found = system.retrieve(lab, question, lab.schema(question.db_id))
    context = _returned(system.retrieve, found, Context)
    yield context
    for prune in system.prune:
        context = _returned(prune, prune(lab, context), Context)
        yield context


def trials_of(system: System, context: Context, lab: Lab) -> tuple[Trial, ...]:
    """All candidates, run and fixed. Generators work at the same time, and so do a fixer's repairs."""
    found = lab.each(
        lambda generate: _candidates(generate, generate(lab, context)), system.generate
    )
    trials = run_candidates(lab, context.question, _numbered(chain.from_iterable(found)))
    for fix in system.fix:
        fixed = lab.each(partial(fix, lab, context), trials)
        trials = tuple(_returned(fix, trial, Trial) for trial in fixed)
    return trials


def choose(system: System, context: Context, lab: Lab, trials: Sequence[Trial]) -> Selection:
    """The selector's choice among the trials."""
    step = system.select
    made = _returned(step, step(lab, context, trials), Selection)
    numbers = f"0 to {len(trials) - 1}" if trials else "none"
    if made.question_id != context.question.id:
        fault = f"question_id {made.question_id!r}: give {context.question.id!r}, the question's id"
    elif tuple(made.trials) != tuple(trials):
        # The index would mean another trial here than in the selector.
        fault = "other trials than it was given, or in another order: give tuple(trials)"
    elif made.chosen is not None and not _is_index(made.chosen, len(trials)):
        fault = f"chosen {made.chosen!r}: give the index of a trial ({numbers}) as an int, or None"
    elif len(made.scores) not in {0, len(trials)}:
        fault = f"{len(made.scores)} scores for {len(trials)} trials: give one for each, or none"
    elif odd := [score for score in made.scores if type(score) not in {int, float}]:
        fault = f"a score {odd[0]!r}: give int or float"
    else:
        return made
    raise BadInputError(f"{_name(step)} returned a Selection with {fault}")


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


def _is_index(chosen: object, length: int) -> bool:
    return type(chosen) is int and 0 <= chosen < length


def _numbered(candidates: Iterable[Candidate]) -> list[Candidate]:
    """The candidates; of two with one generator's name and one number, the later gets the next free number.

    So two generators of one kind, such as `Direct` of two models, make a pool that can be saved and read.
    """
    numbers: dict[str, set[int]] = {}
    result = []
    for candidate in candidates:
        taken = numbers.setdefault(candidate.generator, set())
        free = max(taken) + 1 if candidate.sample in taken else candidate.sample
        taken.add(free)
        result.append(replace(candidate, sample=free) if free != candidate.sample else candidate)
    return result


def _candidates(step: Generate, found: Any) -> list[Candidate]:
    """A generator's candidates."""
    candidates: list[Any] = list(found) if isinstance(found, Iterable) else [None]
    if not all(isinstance(candidate, Candidate) for candidate in candidates):
        raise _unfit(step, found, "a tuple of Candidate")
    for candidate in candidates:
        if type(candidate.sql) is not str:
            raise BadInputError(
                f"{_name(step)} returned a Candidate with sql {candidate.sql!r:.60}:"
                ' give text, "" where there is none'
            )
    return candidates


def _returned(step: Any, found: Any, kind: type[T]) -> T:
    """The value that a step returned; raises BadInputError if it is of another kind."""
    if not isinstance(found, kind):
        raise _unfit(step, found, f"a {kind.__name__}")
    return found


def _unfit(step: Any, found: Any, kind: str) -> BadInputError:
    return BadInputError(f"{_name(step)} returned {found!r:.60}: it must return {kind}")


def _name(step: Any) -> str:
    """The name of a step's class, or of a function that is a step."""
    return getattr(step, "__name__", type(step).__name__)
