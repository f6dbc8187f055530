"""An experiment as its YAML file describes it: a benchmark, models, and notebooks with their parameters.

The whole file is checked before anything runs. A folder that differs between machines is written with an environment
variable, such as `$BIRD`.
"""

import os
from collections.abc import Callable, Mapping
from dataclasses import fields
from pathlib import Path
from string import Template
from typing import Annotated, Any

import pydantic
import yaml
from pydantic import BeforeValidator, Field, StrictFloat, StrictInt
from pydantic.dataclasses import dataclass

from workbench.benchmarks.benchmark import benchmark_name, check_limit
from workbench.errors import BadInputError, one_of, read_yaml
from workbench.llm.calls import ROLES, check_given, check_model
from workbench.types import Limits, Suspect

MODEL_ROLES = (*ROLES, "small", "open", "tuned")  # the last three have rows of their own in tables
_PACKAGE = Path(__file__).parents[1]


def _placed(given: Any, told: pydantic.ValidationInfo) -> Any:
    """A path in a file, with its variables replaced; a relative one starts at the file's folder."""
    if not isinstance(given, str) or told.context is None:
        return given
    try:
        return told.context / Path(Template(given).substitute(os.environ)).expanduser()
    except KeyError as error:
        name = error.args[0]
        raise ValueError(f"${name} is not set: export {name}=/path") from error


def _own(given: Any, told: pydantic.ValidationInfo) -> Any:
    """The name of a benchmark, or the path of a file of one's own."""
    return str(_placed(given, told)) if str(given).endswith(".json") else given


Number = Annotated[float, Field(strict=True, ge=0)]
Count = Annotated[int, Field(strict=True, ge=0)]
Place = Annotated[Path, BeforeValidator(_placed)]
BenchmarkName = Annotated[str, BeforeValidator(_own)]
ByName = Annotated[dict[str, Any], BeforeValidator(lambda given: {} if given is None else given)]


@dataclass(frozen=True, config=pydantic.ConfigDict(extra="forbid", ser_json_inf_nan="constants"))
class Experiment:
    """The settings of an experiment; `dataclasses.replace` checks what it changes."""

    name: str
    about: str = ""
    benchmark: BenchmarkName = "bundled-dev"
    root: Place | None = None
    model: str = "embedded/parser"  # "none" where the notebooks ask no model
    models: Mapping[str, str] = Field(default_factory=dict)  # of single roles, such as `judge`
    # Parameters of all calls of a model or a role replace the steps' own; None removes one.
    parameters: Mapping[str, Mapping[str, Any]] = Field(default_factory=dict)
    prompts: Place | None = None
    limit: StrictInt | StrictFloat | None = None  # questions, or a share of each database's: 0.1
    sql_seconds: Number = 30.0  # how long a query may run
    dollars: Number | None = None  # the most that may be spent
    calls: Count | None = None
    retrieval: str | Mapping[str, Any] = ""  # of values, by a name or settings of `with_retrieval`
    batch: bool = False  # half the price, answers within a day
    cheaper: bool = False  # systems run as `wb.cheaper` has them
    suspect: Suspect | None = None  # what is repaired, and chosen last; None: as the steps say
    judges: tuple[str, ...] = ()  # further models for the rows of selectors
    train: BenchmarkName = ""  # whose questions are examples
    codes: Place | None = None  # a file of CodeS's examples
    predictions: tuple[Place, ...] = ()  # files of other systems' answers
    notebooks: Mapping[str, ByName] = Field(default_factory=dict)  # with their parameters
    path: Path = Path()
    folder: Path = Path()  # the parent of the folders `experiments` and `figures`
    output: str = "figures"
    # `reproduce` sets these for its notebooks.
    figures: Path | None = None
    cluster: str = ""  # a Dask scheduler's address
    offline: bool = False  # no call may be made
    budget: str = ""  # the name of the budget that all notebooks share
    preview: Count = 0  # how many questions a stand-in answers
    cache: Path | None = None  # the file in which a preview looks replies up

    def __post_init__(self) -> None:
        for role in self.models:
            one_of(MODEL_ROLES, role=role)
        check_given(self.parameters)
        named = (*self.asked, *ROLES, str(self.retrieval))
        for owner in self.parameters:
            if not any(owner in name for name in named):
                told = f"no other setting names the model {owner}; the roles are {', '.join(ROLES)}"
                raise BadInputError(f"parameters: {told}")
        check_limit(self.limit)
        Limits(seconds=self.sql_seconds)
        if self.retrieval:
            from workbench.retrieve import retrieval  # noqa: PLC0415  numpy takes long to import

            whole = retrieval.Retrieval(None, descriptions=retrieval.Descriptions())
            retrieval.with_retrieval(whole, self.retrieval)

    @property
    def asked(self) -> list[str]:
        """All models that the experiment asks."""
        named = [self.model, *self.models.values(), *self.judges]
        if isinstance(self.retrieval, Mapping):
            named.append(str(self.retrieval.get("similarity", "")))
        return sorted({*named} - {"none", "letters", ""})

    def write(self, path: Path) -> Path:
        """Write the experiment, from which `load_experiment` reads the same one."""
        plain = _SETTINGS.dump_python(self, mode="json", exclude_none=True)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(yaml.safe_dump(plain, sort_keys=False, allow_unicode=True), "utf-8")
        return path


_SETTINGS = pydantic.TypeAdapter(Experiment)


def shipped(name: str) -> Path:
    """The folder `notebooks` or `experiments`, in the installed package or beside it in a checkout."""
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


def load_experiment(name: str) -> Experiment:
    """The experiment of that name or path, checked. Opening it checks the benchmark's folder."""
    settings = read_yaml(path := find_experiment(name))
    if not isinstance(settings, dict):
        raise BadInputError(f"{path}: expected settings by name, and found {settings!r:.60}")
    file = Path(os.path.abspath(path))  # noqa: PTH100  without `..`, which is no folder's parent
    own = {"name": path.stem, "path": file, "folder": file.parent.parent}
    own |= {key: setting for key, setting in settings.items() if setting is not None}
    return settled(lambda: _SETTINGS.validate_python(own, context=file.parent), f"{path}: ")


def settled(make: Callable[[], Experiment], where: str = "") -> Experiment:
    """The experiment that is made; a wrong setting is one sentence: which, what was given, and what is allowed."""
    try:
        experiment = make()
        for model in experiment.asked:
            check_model(model)
    except pydantic.ValidationError as error:
        first = error.errors()[0]
        field = ".".join(map(str, first["loc"]))
        told = first["msg"].replace("Input", "it", 1).removeprefix("Value error, ")
        told = f"{field} is {first['input']!r:.60}: {told}" if field else told
        if first["type"] in {"unexpected_keyword_argument", "extra_forbidden"}:
            listed = ", ".join(field.name for field in fields(Experiment))
            told = f"no setting {field}; there are {listed}"
        raise BadInputError(f"{where}{told}") from error
    except BadInputError as error:
        raise BadInputError(f"{where}{error}") from error
    return experiment
