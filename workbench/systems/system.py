"""A system is a composition of small values, and `solve` runs them one after another.

CHASE-SQL, CHESS and MAC-SQL differ in their steps, not in machinery. A step is a frozen dataclass
of its hyper-parameters with a `__call__`. So a system's `repr` describes it, `print(system)` shows
one step a line, and an ablation is `dataclasses.replace(system, fix=())`.
"""

import dataclasses
import linecache
import reprlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import partial
from itertools import chain
from pathlib import Path
from types import BuiltinFunctionType, FunctionType
from typing import Any, TypeVar, cast

from workbench.errors import BadInputError
from workbench.lab import Lab
from workbench.types import (
    Candidate,
    Context,
    Question,
    Schema,
    Selection,
    Suspect,
    Trial,
)

T = TypeVar("T")
Retrieve = Callable[[Lab, Question, Schema], Context]
Prune = Callable[[Lab, Context], Context]
Propose = Callable[[Lab, Context], tuple[Candidate, ...]]
Fix = Callable[[Lab, Context, Trial], Trial]
Select = Callable[[Lab, Context, Sequence[Trial]], Selection]


@dataclass(frozen=True)
class System:
    """The steps that answer a question, in the order in which they run.

    An empty tuple skips a part.

    retrieve: gathers the context: the schema, and values and descriptions that fit the question.
    prune: each step cuts the context's schema.
    generate: each generator proposes candidates.
    fix: each fixer repairs every candidate, after all candidates have run.
    select: picks one of the candidates.

    >>> print(wb.mac_sql("openai/gpt-4o").prune[0])
    Selector(model='openai/gpt-4o', temperature=0.1, mean_columns=6, most_columns=30)
    """

    name: str
    retrieve: Retrieve
    prune: tuple[Prune, ...]
    generate: tuple[Propose, ...]
    fix: tuple[Fix, ...]
    select: Select

    def __str__(self) -> str:
        lines = [self.name]
        for name in ("retrieve", "prune", "generate", "fix", "select"):
            part = getattr(self, name)
            steps = part if isinstance(part, tuple) else (part,)
            lines += [f"  {name:<9} {brief(step)}" for step in steps]
        return "\n".join(lines)


def solve(system: System, question: Question, lab: Lab) -> Selection:
    """Return the system's answer to a question, with all candidates and their scores.

    >>> study = wb.open_study("bundled-dev", limit=4)
    >>> wb.solve(study.direct(), study.benchmark.questions[2], study.lab).sql
    'SELECT COUNT(*) FROM accession WHERE orig IS NULL AND sampstat = 500'
    """
    context = prepare(system, question, lab)
    return select(system, context, lab, trials_of(system, context, lab))


def stages(system: System, question: Question, lab: Lab) -> Iterator[Context]:
    """Yield the context after retrieval, and then after each step of pruning."""
    schema = lab.schema(question.db_id)
    context = _checked(system.retrieve, system.retrieve(lab, question, schema), Context)
    yield context
    for prune in system.prune:
        context = _checked(prune, prune(lab, context), Context)
        yield context


def prepare(system: System, question: Question, lab: Lab) -> Context:
    """Return the context that the generators see."""
    return list(stages(system, question, lab))[-1]


def trials_of(system: System, context: Context, lab: Lab) -> tuple[Trial, ...]:
    """Return all candidates, run and fixed.

    Generators work at the same time, and so do a fixer's repairs.
    """
    proposed = lab.each(
        lambda step: _checked(step, step(lab, context), tuple), system.generate
    )
    trials = lab.run_candidates(context.question, chain.from_iterable(proposed))
    for fix in system.fix:
        repaired = lab.each(partial(fix, lab, context), trials)
        trials = tuple(_checked(fix, trial, Trial) for trial in repaired)
    return trials


def select(
    system: System, context: Context, lab: Lab, trials: Sequence[Trial]
) -> Selection:
    """Return the selector's choice.

    It is refused where its index would mean another trial here than there.
    """
    step = system.select
    selection = _checked(step, step(lab, context, trials), Selection)
    chosen = selection.chosen
    is_place = chosen is None or chosen in range(len(trials))
    if selection.trials != tuple(trials) or not is_place:
        fault = "an index of no trial, or other trials than it was given, or in another order"
        raise BadInputError(f"{brief(step)} returned {fault}: give tuple(trials)")
    return selection


def _checked(step: Any, result: Any, kind: type[T]) -> T:
    if not isinstance(result, kind):
        raise BadInputError(
            f"{brief(step)} returned {result!r:.60}, not a {kind.__name__}"
        )
    return result


def rebuilt(value: T, change: Callable[[Any], Any]) -> T:
    """Return a system or step with `change` made to each step in it, the innermost first."""
    if isinstance(value, tuple):
        return cast(T, tuple(rebuilt(part, change) for part in value))
    if not is_dataclass(value) or isinstance(value, type):
        return value
    changes = {}
    for part in fields(value):
        if not part.init or not part.compare:  # it is computed, or no setting
            continue
        before = getattr(value, part.name)
        after = rebuilt(before, change)
        is_same = after is before or after == before  # tuples are made anew
        if not is_same:
            changes[part.name] = after
    if changes:
        value = replace(value, **changes)
    return cast(T, change(value))


def with_model(value: T, before: str, after: str) -> T:
    """Return the system or step with one model in place of another, wherever it asks that model."""

    def change(step: Any) -> Any:
        asks_it = getattr(step, "model", "") == before
        return replace(step, model=after) if asks_it else step

    return rebuilt(value, change)


def with_suspect(system: System, suspect: Suspect) -> System:
    """Return the system in which every step counts these results as suspect."""

    def change(step: Any) -> Any:
        return replace(step, suspect=suspect) if hasattr(step, "suspect") else step

    return rebuilt(system, change)


def brief(value: Any) -> str:
    """Return a step in one line: its class, and the fields that differ from their defaults."""
    if hasattr(value, "__qualname__"):  # a class or a function
        return str(value.__qualname__)
    if not is_dataclass(value):
        return f"{value!r:.60}"
    shown = []
    for part in fields(value):
        setting = getattr(value, part.name)
        is_default = setting in (part.default, {})  # {} by a default_factory
        if part.repr and not is_default:
            shown.append(f"{part.name}={brief(setting)}")
    return f"{type(value).__name__}({', '.join(shown)})"


class Unsourced(Exception):  # noqa: N818  it says what is wrong, as in "unsourced step"
    """A step has no source, so no later process can tell whether it is the same."""


def identity(value: Any) -> Any:
    """Return a system or step as JSON that differs where two steps do; raise `Unsourced`.

    This package's own definitions count by name, since a hash of the package stands beside the
    identity. Others count by the source of their file or of their notebook's cell, and by what they
    close over. What they call in another cell is not seen: run with `fresh=True` after editing it.
    """
    value = getattr(value, "__wrapped__", value)  # a function behind `lru_cache`
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, type | FunctionType):
        return _definition(value)
    if isinstance(value, partial):
        return [identity(value.func), identity(value.args), identity(value.keywords)]
    if isinstance(value, Mapping):
        return {str(key): identity(part) for key, part in value.items()}
    if isinstance(value, tuple | list):
        return [identity(part) for part in value]
    if is_dataclass(value):
        compared = [part.name for part in fields(value) if part.compare]
        settings = {name: identity(getattr(value, name)) for name in compared}
        return [_definition(type(value)), settings]
    if isinstance(value, Path | bytes | range | BuiltinFunctionType):
        return repr(value)
    told = "make it a dataclass of plain values and functions, which can be cached"
    raise BadInputError(f"a step holds {value!r:.80}; {told}")


def _definition(thing: type | FunctionType) -> Any:
    name = f"{thing.__module__}.{thing.__qualname__}"
    if name.startswith(("workbench.", "builtins.")):
        return name
    members = vars(thing).values() if isinstance(thing, type) else [thing]
    functions = [member for member in members if isinstance(member, FunctionType)]
    files = {function.__code__.co_filename for function in functions}
    # A dataclass gets methods from here.
    files -= {"<string>", dataclasses.__file__, reprlib.__file__}
    sources = []
    for file in sorted(files):
        linecache.checkcache(file)
        sources.append("".join(linecache.getlines(file)))
    if not all(sources) or not sources:  # an empty one could not be read
        raise Unsourced(name)
    cells = getattr(thing, "__closure__", None) or ()
    closed = [identity(cell.cell_contents) for cell in cells]
    bases = thing.__bases__ if isinstance(thing, type) else ()
    return [name, sources, closed, list(map(identity, bases))]
