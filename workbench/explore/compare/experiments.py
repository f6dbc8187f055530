"""An experiment for each variant of a system, which asks the questions that were compared."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import yaml

from workbench.benchmarks.benchmark import some
from workbench.benchmarks.named import open_benchmark
from workbench.errors import BadInputError
from workbench.study.study import Study


def write_experiments(
    studies: Mapping[str, Study], folder: Path, notebooks: Sequence[str]
) -> list[Path]:
    """Write a YAML file for each variant into the folder, to run these notebooks."""
    written = []
    for name, study in studies.items():
        own = study.experiment
        settings = {
            "about": f"{name}, one of {len(studies)} variants.",
            "benchmark": str(Path(own.benchmark).resolve())
            if own.benchmark.endswith(".json")
            else own.benchmark,
            "root": str(own.root.resolve()) if own.root else None,
            "model": own.model,
            "models": dict(own.models) or None,
            "parameters": own.parameters or None,
            "prompts": str(own.prompts.resolve()) if own.prompts else None,
            "golds": {gold: str(file.resolve()) for gold, file in own.golds.items()} or None,
            "retrieval": own.retrieval,
            "suspect": own.suspect,
            "sql_seconds": own.sql_seconds,
            "limit": _limit(study),
            "notebooks": dict.fromkeys(notebooks),
        }
        given = {key: value for key, value in settings.items() if value is not None}
        path = folder / f"{re.sub(r'[^A-Za-z0-9]+', '_', name).strip('_')}.yaml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(yaml.safe_dump(given, sort_keys=False), encoding="utf-8")
        written.append(path)
    return written


def _limit(study: Study) -> float | None:
    """The limit by which an experiment asks the study's questions: a share of each database's, or their number."""
    own, asked = study.experiment, list(study.benchmark.questions)
    every = open_benchmark(own.benchmark, own.root).questions
    for limit in (own.limit, len(asked)):
        if some(every, limit) == asked:
            return limit
    raise BadInputError(
        f"limit was drawn from the questions of an experiment that has a limit of its own: no limit of"
        f" {own.benchmark} asks these {len(asked)} questions; compare with one limit to save experiments"
    )
