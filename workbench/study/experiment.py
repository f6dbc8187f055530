"""An experiment as its YAML file describes it: a benchmark, models, and notebooks with their parameters.

The whole file is checked before anything runs. A folder that differs between machines is written with an environment
variable, such as `$BIRD`.
"""

import os
import string
from collections.abc import Mapping
from dataclasses import fields, replace
from pathlib import Path
from typing import Annotated, Any

import yaml
from pydantic import (  # fmt: skip
    BeforeValidator,
    ConfigDict,
    Field,
    StrictFloat,
    StrictInt,
    TypeAdapter,
    ValidationError,
)
from pydantic.dataclasses import dataclass

from workbench.benchmarks.benchmark import check_limit
from workbench.benchmarks.load import BENCHMARKS, benchmark_name
from workbench.errors import BadInputError, one_of, read_yaml
from workbench.llm.parameters import ROLES, check_given, check_model
from workbench.types import Limits, Suspect

NO_MODEL = "none"
MODEL_ROLES = (*ROLES, "small", "open", "tuned")  # the last three have rows of their own in tables
_PACKAGE = Path(__file__).parents[1]
SHARED = ("batch", "cheaper", "cluster", "offline", "budget", "cache", "dollars", "calls", "figures")  # fmt: skip
_PATHS = ("root", "prompts", "codes", "predictions")  # the last one may be several
_BENCHMARKS = ("benchmark", "train")

Number = Annotated[float, Field(strict=True, ge=0)]
Count = Annotated[int, Field(strict=True, ge=0)]
ByName = Annotated[dict[str, Any], BeforeValidator(lambda given: {} if given is None else given)]
Paths = Annotated[
    tuple[Path, ...],
    BeforeValidator(lambda given: [given] if isinstance(given, str | Path) else given),
]


@dataclass(frozen=True, config=ConfigDict(extra="forbid"))
class Experiment:
    """The settings of an experiment; `dataclasses.replace` checks what it changes.

    model: "none" where the notebooks ask no model. models: those of single roles, such as `judge` or `filtering`.
    parameters: those of all calls of a model or a role, in place of the steps' own; None removes one.
    golds: files of revised gold queries, by which answers are judged, too.
    limit: a number of questions, spread evenly, or a share of each database's, such as 0.1.
    sql_seconds: how long a query may run. dollars, calls: the most that may be spent.
    retrieval: changes how systems retrieve values, by a name or by settings (`with_retrieval` names them).
    batch: calls are sent in batches: half the price, answers within a day. cheaper: systems run as `wb.cheaper` has them.
    suspect: the results that fixers repair and selectors leave out, in place of the steps' own setting.
    judges: further models for the rows of selectors. train: the benchmark whose questions are examples.
    spider: the experiment of a paper's Spider rows. codes: a file of CodeS's examples.
    predictions: files of other systems' answers.
    notebooks: the parameters of each notebook. folder: the parent of the folders `experiments` and `figures`.

    `reproduce` sets the rest for its notebooks: figures is the folder of figures, cluster a Dask scheduler's address,
    offline says that no call may be made, budget names the budget that all notebooks share, preview is how many
    questions a stand-in answers, which stand for `stands_for`, and cache is the file that it looks replies up in.
    """

    name: str
    about: str = ""
    benchmark: str = "bundled-dev"
    root: Path | None = None
    model: str = "embedded/parser"
    models: Mapping[str, str] = Field(default_factory=dict)
    parameters: Mapping[str, Mapping[str, Any]] = Field(default_factory=dict)
    prompts: Path | None = None
    golds: Mapping[str, Path] = Field(default_factory=dict)
    limit: StrictInt | StrictFloat | None = None
    sql_seconds: Number = 30.0
    dollars: Number | None = None
    calls: Count | None = None
    retrieval: str | Mapping[str, Any] = ""
    batch: bool = False
    cheaper: bool = False
    suspect: Suspect | None = None
    judges: tuple[str, ...] = ()
    train: str = ""
    spider: str = ""
    codes: Path | None = None
    predictions: Paths = ()
    notebooks: Mapping[str, ByName] = Field(default_factory=dict)
    path: Path = Path()
    folder: Path = Path()
    output: str = "figures"
    figures: Path | None = None
    cluster: str = ""
    offline: bool = False
    budget: str = ""
    preview: Count = 0
    stands_for: Count = 0
    cache: Path | None = None

    def __post_init__(self) -> None:
        for role in self.models:
            one_of(MODEL_ROLES, role=role)
        check_given(self.parameters)
        named = {self.model, *self.models.values(), *self.judges, *ROLES, str(self.retrieval)}
        for owner in self.parameters:
            if not any(owner in name for name in named):
                told = f"no other setting names the model {owner}; the roles are {', '.join(ROLES)}"
                raise BadInputError(f"parameters: {told}")
        check_limit(self.limit)
        Limits(seconds=self.sql_seconds)
        if self.retrieval:
            from workbench.retrieve.retrieval import (  # noqa: PLC0415
                Descriptions,
                Retrieval,
                with_retrieval,
            )

            with_retrieval(Retrieval(None, descriptions=Descriptions()), self.retrieval)

    @property
    def asked(self) -> list[str]:
        """The models that it names: all of them are asked, and no other."""
        named = [self.model, *self.models.values(), *self.judges]
        if isinstance(self.retrieval, Mapping):
            named.append(str(self.retrieval.get("similarity", "")))
        return sorted({*named} - {NO_MODEL, ""})

    def on_spider(self) -> "Experiment":
        """The experiment that `spider` names, with the limits, figures and machines of this one."""
        own = {name: getattr(self, name) for name in SHARED}
        return replace(load_experiment(self.spider, self.preview), **own)

    def write(self, path: Path) -> Path:
        """Write the experiment, from which `load_experiment` reads the same one."""
        given = {f.name: getattr(self, f.name) for f in fields(self)}
        kind = TypeAdapter(dict[str, Any], config=ConfigDict(ser_json_inf_nan="constants"))
        plain = kind.dump_python(given, mode="json", exclude_none=True)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(yaml.safe_dump(plain, sort_keys=False, allow_unicode=True), "utf-8")
        return path


def shipped(name: str) -> Path:
    """The folder `notebooks` or `experiments`: of an installed package its own, of a checkout the one beside it."""
    inside = _PACKAGE / "_shipped" / name
    return inside if inside.is_dir() else _PACKAGE.parent / name


def find_experiment(name: str) -> Path:
    """The file of an experiment, given its path, or its name in the nearest folder `experiments`, searched upwards."""
    if name.endswith((".yaml", ".yml")):
        return Path(name)
    here = Path.cwd()
    folders = [parent / "experiments" for parent in (here, *here.parents)]
    folders.append(shipped("experiments"))
    known = {path.stem: path for folder in reversed(folders) for path in folder.glob("*.yaml")}
    if name not in known:
        listed = ", ".join(sorted(known)) or "none here"
        give = "Give one of these names, or the path of a YAML file"
        raise BadInputError(f"no experiment {name!r}; there are {listed}. {give}")
    return known[name]


def experiment_of(name: str) -> Experiment:
    """The experiment of that name or path; for a benchmark's name or file, an experiment on it that saves to `runs`."""
    if benchmark := benchmark_name(name):
        return Experiment(Path(benchmark).stem, benchmark=benchmark, output="runs")
    return load_experiment(name)


def load_experiment(name: str, preview: int = 0) -> Experiment:
    """The experiment of that name or path, checked. Opening it checks the benchmark's folder.

    With `preview`, bundled questions stand for a benchmark whose folder is not set.
    """
    settings = read_yaml(path := find_experiment(name))
    file = Path(os.path.abspath(path))  # noqa: PTH100  without `..`, which is no folder's parent
    try:
        if not isinstance(settings, dict):
            raise BadInputError(f"expected settings by name, and found {settings!r:.60}")
        given = {key: value for key, value in settings.items() if value is not None}
        if preview:
            given = _with_bundled(given)
        own = {str(key): _placed(key, value, file.parent) for key, value in given.items()}
        places: Any = {"name": path.stem, "path": file, "folder": file.parent.parent}
        experiment = Experiment(**places | own | ({"preview": preview} if preview else {}))
        for model in experiment.asked:
            check_model(model)
    except ValidationError as error:
        raise BadInputError(f"{path}: {told(error)}") from error
    except (BadInputError, ValueError) as error:
        raise BadInputError(f"{path}: {error}") from error
    return experiment


def told(error: ValidationError) -> str:
    """The first fault of the settings: the field, what was given, and what is allowed."""
    first = error.errors()[0]
    field = ".".join(map(str, first["loc"]))
    if first["type"] == "unexpected_keyword_argument":
        return f"no setting {field}; there are {', '.join(f.name for f in fields(Experiment))}"
    return f"{field} is {first['input']!r:.60}: {first['msg'].replace('Input', 'it', 1)}"


def _with_bundled(given: Mapping[str, Any]) -> dict[str, Any]:
    """The settings with bundled questions in place of a benchmark whose folder is not set."""
    variables = string.Template(str(given.get("root", ""))).get_identifiers()
    release = BENCHMARKS.get(benchmark_name(str(given.get("benchmark", ""))))
    if not (release and release.url) or all(map(os.environ.get, variables)):
        return dict(given)
    kept = {key: value for key, value in given.items() if key not in {"root", "golds"}}
    train = {"train": "bundled-train"} if "train" in given else {}
    return kept | train | {"benchmark": "bundled-dev", "stands_for": release.questions}


def _placed(key: str, value: Any, folder: Path) -> Any:
    """The setting's value; paths and the variables in them are expanded, relative to the experiment's file."""
    if key == "predictions" and isinstance(value, list):
        return [_placed(key, part, folder) for part in value]
    if key == "golds" and isinstance(value, dict):
        return {name: _placed("root", file, folder) for name, file in value.items()}
    if not isinstance(value, str):
        return value
    if key in _PATHS or (key in _BENCHMARKS and value.endswith(".json")):
        try:
            path = folder / Path(string.Template(value).substitute(os.environ)).expanduser()
        except KeyError as error:
            told = f"${error.args[0]} is not set: export {error.args[0]}=/path"
            raise BadInputError(f"{key} is {value}, and {told}") from error
        except ValueError as error:
            raise BadInputError(f"{key} is {value}: {error}") from error
        return str(path) if key in _BENCHMARKS else path
    return value
