"""Run variants of a system, after a count of the calls that each variant adds to the cache."""

import inspect
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from workbench.errors import BadInputError
from workbench.explore.compare.variants import Variants
from workbench.explore.prompt.steps import record
from workbench.llm.keys import runs_here
from workbench.llm.parameters import check_model
from workbench.llm.preview import Preview, preview
from workbench.prompts.prompt import check_folder
from workbench.study.result_cache import model_names
from workbench.study.study import Study, open_study
from workbench.systems.system import System, with_model

Folder = str | Path | None
Maker = Callable[[str], System]  # the system for a model
_GIVE_SYSTEM = "give a function that makes the system for a model, such as lambda model: wb.chase_sql(model, samples=3)"


def compare(
    system: Maker | System,
    *,
    prompts: Sequence[Folder] = (None,),
    models: Sequence[str] = (),
    benchmark: str = "bundled-dev",
    limit: float | None = None,
    **settings: Any,
) -> Variants:
    """Run a system with each folder of prompts and each model, and compare them question by question.

    `system` makes the system for a model: `wb.direct`, or `lambda model: wb.chase_sql(model, samples=3)`. A system that
    asks one model may be given itself. In `prompts`, None stands for the packaged prompts. `settings` are those of
    `open_study`, such as `dollars`. With several variants, the number and cost of their new calls are printed before
    the calls are made.
    """
    if isinstance(system, System):
        own = _one_model(system)
        system, models = partial(with_model, system, own), models or [own]
    elif not callable(system):
        raise BadInputError(f"system is {system!r:.60}: {_GIVE_SYSTEM}")
    with ExitStack() as stack:
        study = stack.enter_context(open_study(benchmark, limit=limit, **settings))
        _check_made(system, (models or [study.model])[0])
        by_name = studies(study, system, prompts, models)
        for name, part in by_name.items():
            if len(by_name) > 1 and not runs_here(part.model):
                print(f"{name}: {asked_anew(part, system)}", file=sys.stderr)
        variants = run_all(by_name, system)
        stack.pop_all()  # the caller closes the study
    return variants


def _check_made(maker: Maker, model: str) -> None:
    """Raise BadInputError unless the function makes a system when it is given a model alone."""
    name = getattr(maker, "__name__", repr(maker))
    try:
        inspect.signature(maker).bind(model)
    except (TypeError, ValueError) as error:  # ValueError: some builtins have no signature
        raise BadInputError(
            f"system is {name}, which cannot be called with a model alone: {_GIVE_SYSTEM}"
        ) from error
    if not isinstance(made := maker(model), System):
        raise BadInputError(f"system is {name}, which makes {made!r:.60}: {_GIVE_SYSTEM}")


def _one_model(system: System) -> str:
    """The only model that a system asks."""
    own = sorted(model_names(system))
    if len(own) != 1:
        raise BadInputError(
            f"system is {system.name}, which asks {' and '.join(own) or 'no model'}: {_GIVE_SYSTEM}"
        )
    return own[0]


def studies(
    study: Study, system: Maker, prompts: Sequence[Folder] = (None,), models: Sequence[str] = ()
) -> dict[str, Study]:
    """The study of each variant by its name: its folder, its model or both, as they differ; or else its system."""
    if isinstance(prompts, str) or not prompts:
        raise BadInputError(
            f"prompts is {prompts!r}: give a list of folders, in which None stands for the packaged prompts"
        )
    folders = list(dict.fromkeys(Path(folder) if folder else None for folder in prompts))
    for folder in folders:
        if folder:
            check_folder(folder)
    several = list(dict.fromkeys(models or [study.model]))
    for model in several:
        check_model(model)
    short = len({folder.name for folder in folders if folder}) == sum(map(bool, folders))
    named = {}
    for folder in folders:
        words = "packaged prompts" if folder is None else folder.name if short else str(folder)
        for model in several:
            parts = [words] * (len(folders) > 1) + [model] * (len(several) > 1)
            own = folder or study.lab.prompts
            experiment = replace(study.experiment, prompts=own, model=model)
            variant = replace(study, experiment=experiment, lab=replace(study.lab, prompts=own))
            named[", ".join(parts) or system(model).name] = variant
    return named


def run_all(variants: Mapping[str, Study], system: Maker) -> Variants:
    """The run of each variant."""
    runs = {name: part.run(system(part.model), name) for name, part in variants.items()}
    return Variants(variants, runs)


@dataclass(frozen=True, slots=True)
class AskedAnew:
    """The number of questions that need new calls, and the cost of the first of these calls; others may follow."""

    missing: int
    questions: int
    first: Preview

    def __str__(self) -> str:
        return (
            f"{self.missing:,} of {self.questions:,} questions need new calls. "
            f"The first of these calls: {self.first}"
        )


def asked_anew(study: Study, system: Maker) -> AskedAnew:
    """The calls that a variant would make in addition to the cached ones."""
    questions, made = study.benchmark.questions, study.with_settings(system(study.model))
    missing = [found for one in questions if (found := record(made, one, study.lab)).missing]
    requests = [step.request for recording in missing for step in recording.steps]
    return AskedAnew(len(missing), len(questions), preview(study.lab.client, requests))
