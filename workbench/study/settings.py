"""An experiment as its YAML file describes it: a benchmark, models, and notebooks with their parameters.

The whole file is checked before anything runs. The folder of a benchmark that is not bundled is written with an
environment variable, `$BIRD` or `$SPIDER`, since it differs between machines.
"""

import os
import string
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from workbench.benchmarks.benchmark import check_limit
from workbench.benchmarks.load import BENCHMARKS, benchmark_name
from workbench.errors import BadInputError
from workbench.llm.parameters import ROLES, check_given, check_model
from workbench.types import SUSPECT, Limits, Suspect
from workbench.yamlfile import read_yaml

NO_MODEL = "none"


@dataclass(frozen=True, slots=True)
class Experiment:
    """The settings of an experiment. `models` names the models of single roles, such as `judge` or `filtering`.

    `model` is "none" where the notebooks ask no model.

    `parameters` has the parameters of all calls of a model or a role. They replace the steps' own parameters; the
    value None removes a parameter. `golds` names files of revised gold queries, by which answers are judged, too.
    `limit` is a number of questions, spread evenly, or a share of each database's questions, such as 0.1. A query may
    run for `sql_seconds`. `dollars` and `calls` are the most that may be spent.
    `retrieval` changes how systems retrieve values, by a name or by settings (`retrieve/named.py`).
    With `batch`, calls are sent in batches, which cost half the price and are answered within a day.
    `suspect` names the results that fixers repair and selectors leave out, in place of the steps' own settings; None
    means the results of failed queries on Spider, and the steps' own settings on other benchmarks.
    Notebooks read `options`; `notebooks` has the parameters of each notebook. `folder` is the parent of the
    folders `experiments` and `figures`. A preview without the benchmark's data asks bundled questions, which stand
    for `stands_for` questions of the benchmark.
    """

    name: str
    about: str = ""
    benchmark: str = "bundled-dev"
    root: Path | None = None
    model: str = "embedded/parser"
    models: Mapping[str, str] = field(default_factory=dict)
    parameters: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    prompts: Path | None = None
    golds: Mapping[str, Path] = field(default_factory=dict)
    limit: float | None = None
    sql_seconds: float = 30.0
    dollars: float | None = None
    calls: int | None = None
    retrieval: str | Mapping[str, Any] = ""
    batch: bool = False
    suspect: Suspect | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    notebooks: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    path: Path = Path()
    folder: Path = Path()
    output: str = "figures"
    stands_for: int = 0


CHECKOUT = Path(__file__).parents[2]


def find_experiment(name: str) -> Path:
    """The file of an experiment, given its path, or its name in the nearest folder `experiments`, searched upwards."""
    if name.endswith((".yaml", ".yml")):
        return Path(name)
    here = Path.cwd()
    folders = [parent / "experiments" for parent in (here, *here.parents, CHECKOUT)]
    for folder in folders:
        if (path := folder / f"{name}.yaml").is_file():
            return path
    known = sorted(
        {path.stem for folder in folders if folder.is_dir() for path in folder.glob("*.yaml")}
    )
    raise BadInputError(
        f"no experiment {name!r}; there are {', '.join(known) or 'none here'}. Give one of these names, or the path of a"
        " YAML file"
    )


def experiment_of(name: str) -> Experiment:
    """The experiment of that name or path; for a benchmark's name or file, an experiment on it that saves to `runs`."""
    if benchmark := benchmark_name(name):
        return Experiment(Path(benchmark).stem, benchmark=benchmark, output="runs")
    return load_experiment(name)


def load_experiment(name: str) -> Experiment:
    """The experiment of that name or path, checked. Opening it checks the benchmark's folder."""
    settings = read_yaml(path := find_experiment(name))
    file = Path(os.path.abspath(path))  # noqa: PTH100  without `..`, which is no folder's parent
    try:
        _check_kinds(settings)
        given = {key: value for key, value in settings.items() if value is not None}
        _check_entries(given)
        _check_models(given)
        _check_values(given)
        if os.environ.get("WORKBENCH_PREVIEW") and _is_not_bundled(given.get("benchmark")):
            names = string.Template(given.get("root", "")).get_identifiers()
            if not all(map(os.environ.get, names)):  # the variable of the folder is not set
                given |= _bundled_settings(given)
        given |= _with_paths(given, file.parent)
    except (BadInputError, ValueError) as error:
        raise BadInputError(f"{path}: {error}") from error
    return Experiment(name=path.stem, path=file, folder=file.parents[1], **given)


def _check_kinds(settings: Any) -> None:
    """Refuse a file without settings, unknown settings, and settings of another kind than `_KINDS` has."""
    if not isinstance(settings, dict):
        raise BadInputError(f"expected settings by name, and found {settings!r:.60}")
    if unknown := ", ".join(sorted(set(map(str, settings)) - _KINDS.keys())):
        raise BadInputError(f"no setting {unknown}; there are {', '.join(sorted(_KINDS))}")
    for key, kinds in _KINDS.items():
        if settings.get(key) is not None and (
            not isinstance(settings[key], kinds)
            or (isinstance(settings[key], bool) and bool not in kinds)
        ):
            expected = " or ".join(_KIND_NAMES[kind] for kind in kinds)
            raise BadInputError(f"{key} is {settings[key]!r:.60}, and should be {expected}")


def _check_entries(given: Mapping[str, Any]) -> None:
    """Check the entries of the settings that have values by name."""
    for key in ("models", "golds"):
        for name, value in given.get(key, {}).items():
            if not isinstance(name, str) or not isinstance(value, str):
                raise BadInputError(f"{key}: {name!r} is {value!r:.60}, and both should be texts")
    for key in ("notebooks", "parameters"):
        for name, parameters in given.get(key, {}).items():
            if not isinstance(parameters, dict) and (key, parameters) != ("notebooks", None):
                raise BadInputError(
                    f"{key}: {name}: give parameters by name, not {parameters!r:.60}"
                )


def _check_models(given: Mapping[str, Any]) -> None:
    for model in (given.get("model", NO_MODEL), *given.get("models", {}).values()):
        if model != NO_MODEL:
            check_model(model)
    other_settings = str({key: value for key, value in given.items() if key != "parameters"})
    for model in given.get("parameters", {}):
        if str(model) not in other_settings and model not in ROLES:
            raise BadInputError(
                f"parameters: no other setting names the model {model}, and the roles are {', '.join(ROLES)}"
            )
    try:
        check_given(given.get("parameters", {}))
    except BadInputError as error:
        raise BadInputError(f"parameters: {error}") from error


def _check_values(given: Mapping[str, Any]) -> None:
    for key, least in {"calls": 1, "dollars": 0}.items():
        if not given.get(key, least) >= least:  # nan is below nothing
            raise BadInputError(f"{key} is {given[key]}, and should be {least} or more")
    check_limit(given.get("limit"))
    Limits(seconds=given.get("sql_seconds", 30))
    if "retrieval" in given:
        from workbench.retrieve.named import settings_of  # noqa: PLC0415  numpy: a tenth of a second

        settings_of(given["retrieval"])
    if given.get("suspect", "nulls") not in SUSPECT:
        raise BadInputError(
            f"suspect is {given['suspect']!r}, and should be {' or '.join(SUSPECT)}"
        )


def _bundled_settings(given: Mapping[str, Any]) -> dict[str, Any]:
    """The settings with which a preview asks bundled questions in place of a benchmark that is not there."""
    options = given.get("options", {})
    splits = {key: "bundled-train" for key, value in options.items() if _is_not_bundled(value)}
    return {
        "benchmark": "bundled-dev",
        "root": None,
        "stands_for": BENCHMARKS[given["benchmark"]].questions,
        "golds": {},  # they revise questions of the missing benchmark
        "options": {**options, **splits},
    }


def _with_paths(given: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """The settings that name files, with their paths; `folder` has the experiment's file."""
    expanded: dict[str, Any] = {
        "notebooks": {name: value or {} for name, value in given.get("notebooks", {}).items()},
        "options": {
            key: str(_expanded(key, value)) if isinstance(value, str) and "$" in value else value
            for key, value in given.get("options", {}).items()
        },
        "golds": {
            name: folder / _expanded(f"golds: {name}", file)
            for name, file in given.get("golds", {}).items()
        },
    }
    for key in ("root", "prompts", "benchmark"):
        if given.get(key) and (key != "benchmark" or given[key].endswith(".json")):
            path = folder / _expanded(key, given[key])
            expanded[key] = str(path) if key == "benchmark" else path
    return expanded


def _is_not_bundled(name: Any) -> bool:
    return isinstance(name, str) and name in BENCHMARKS and bool(BENCHMARKS[name].url)


_KIND_NAMES: Mapping[type, str] = {
    str: "a text",
    dict: "values by name",
    int: "a whole number",
    float: "a number",
    bool: "true or false",
}
_KINDS: Mapping[str, tuple[type, ...]] = {
    **dict.fromkeys(("about", "benchmark", "root", "model", "prompts", "suspect"), (str,)),
    **dict.fromkeys(("models", "parameters", "golds", "options", "notebooks"), (dict,)),
    **dict.fromkeys(("limit", "sql_seconds", "dollars"), (int, float)),
    "batch": (bool,),
    "calls": (int,),
    "retrieval": (str, dict),
}


def _expanded(key: str, value: str) -> Path:
    """The path with its environment variables replaced by their values."""
    try:
        return Path(string.Template(value).substitute(os.environ)).expanduser()
    except KeyError as error:
        raise BadInputError(
            f"{key} is {value}, and ${error.args[0]} is not set; set this environment variable to the path, as in"
            " export NAME=/path"
        ) from error
    except ValueError as error:
        raise BadInputError(f"{key} is {value}: {error}") from error
