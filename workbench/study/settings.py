"""An experiment as its YAML file tells it: a benchmark, models, and notebooks with their parameters.

Everything in the file is checked before anything runs. Folders of benchmarks that are not bundled are
written with variables of the environment, `$BIRD` or `$SPIDER`, since they lie elsewhere for everybody.
"""

import os
import string
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from workbench.errors import BadInputError
from workbench.yamlfile import read_yaml


@dataclass(frozen=True, slots=True)
class Experiment:
    """What to run on what. `models` name those that speak for one role alone, `judge` or `filtering`.

    `limit` takes that many questions, spread evenly. `dollars` and `calls` bound what may be spent.
    `options` are read by notebooks, and `notebooks` names each with the parameters it is given.
    `folder` holds `experiments` and `figures`. `stands_for` is the number of questions that bundled ones stand for in a preview without the data.
    """

    name: str
    about: str = ""
    benchmark: str = "bundled-dev"
    root: Path | None = None
    model: str = "embedded/parser"
    models: Mapping[str, str] = field(default_factory=dict)
    prompts: Path | None = None
    limit: int | None = None
    dollars: float | None = None
    calls: int | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    notebooks: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    path: Path = Path()
    folder: Path = Path()
    stands_for: int = 0


CHECKOUT = Path(__file__).parents[2]


def find_experiment(name: str) -> Path:
    """The file of an experiment: a path, or a name in the nearest folder `experiments` above here."""
    if name.endswith((".yaml", ".yml")):
        return Path(name)
    here = Path.cwd()
    places = [folder / "experiments" for folder in (here, *here.parents, CHECKOUT)]
    for place in places:
        if (path := place / f"{name}.yaml").is_file():
            return path
    known = sorted(
        {path.stem for place in places if place.is_dir() for path in place.glob("*.yaml")}
    )
    raise BadInputError(
        f"no experiment {name!r}; there are {', '.join(known) or 'none here'}. Give one of these, or the path of a"
        " YAML file"
    )


def load_experiment(name: str) -> Experiment:
    """The experiment of that name or path, checked; its root is looked for only when it is opened."""
    path = find_experiment(name)
    told = read_yaml(path)
    if not isinstance(told, dict):
        raise BadInputError(f"{path}: expected settings by name, and found {told!r:.60}")
    known = {f.name for f in fields(Experiment)} - {"name", "path", "folder", "stands_for"}
    if odd := sorted(set(map(str, told)) - known):
        raise BadInputError(
            f"{path}: no setting {', '.join(odd)}; there are {', '.join(sorted(known))}"
        )
    for key, kinds in _KINDS.items():
        if told.get(key) is not None and (
            not isinstance(told[key], kinds) or isinstance(told[key], bool)
        ):
            said = " or ".join(kind.__name__ for kind in kinds)
            raise BadInputError(f"{path}: {key} is {told[key]!r:.60}, and should be {said}")
    given = {key: value for key, value in told.items() if value is not None}
    notebooks = given.get("notebooks", {})
    for notebook, parameters in notebooks.items():
        if parameters is not None and not isinstance(parameters, dict):
            raise BadInputError(f"{path}: {notebook}: parameters by name, not {parameters!r:.60}")
    for key, least in {"limit": 1, "calls": 1, "dollars": 0}.items():
        if given.get(key, least) < least:
            raise BadInputError(f"{path}: {key} is {given[key]}, and should be {least} or more")
    given["notebooks"] = {name: told or {} for name, told in notebooks.items()}
    if os.environ.get("WORKBENCH_PREVIEW") and _lacks_data(given):
        size = BENCHMARK_SIZES[given["benchmark"]]
        given |= {"benchmark": "bundled-dev", "root": None, "stands_for": size}
        options = given.get("options", {}).items()
        splits = {key: "bundled-train" for key, told in options if told in _TRAIN}
        given["options"] = dict(options) | splits
    for key in ("root", "prompts"):
        if given.get(key):
            given[key] = path.absolute().parent / _filled(path, key, given[key])
    if "options" in given:
        given["options"] = {
            key: str(_filled(path, key, value))
            if isinstance(value, str) and "$" in value
            else value
            for key, value in given["options"].items()
        }
    top = path.absolute().parent.parent
    return Experiment(name=path.stem, path=path.absolute(), folder=top, **given)


BENCHMARK_SIZES = {"bird-dev": 1534, "bird-mini-dev": 500, "spider-dev": 1034}
"""Questions of the benchmarks that a preview can do without."""
_TRAIN = ("bird-train", "spider-train")


def _lacks_data(given: Mapping[str, Any]) -> bool:
    """Whether the benchmark is a known one whose folder is named by a variable that is not set."""
    names = string.Template(given.get("root", "")).get_identifiers()
    return given.get("benchmark") in BENCHMARK_SIZES and not all(map(os.environ.get, names))


_KINDS: Mapping[str, tuple[type, ...]] = {
    "about": (str,),
    "benchmark": (str,),
    "root": (str,),
    "model": (str,),
    "models": (dict,),
    "prompts": (str,),
    "limit": (int,),
    "dollars": (int, float),
    "calls": (int,),
    "options": (dict,),
    "notebooks": (dict,),
}


def _filled(file: Path, key: str, told: str) -> Path:
    """The path with the environment's variables in it."""
    try:
        return Path(string.Template(told).substitute(os.environ)).expanduser()
    except KeyError as error:
        raise BadInputError(
            f"{file}: {key} is {told}, and ${error.args[0]} is not set; set it in the environment to what"
            " lies there, as in export NAME=/path"
        ) from error
    except ValueError as error:
        raise BadInputError(f"{file}: {key} is {told}: {error}") from error
