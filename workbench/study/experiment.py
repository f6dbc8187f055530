"""An experiment as its YAML file has it: a benchmark, models, and notebooks with parameters.

The whole file is checked before anything runs. A folder that differs between machines is written
with an environment variable, such as `$BIRD`.
"""

import os
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import field as plain_field
from dataclasses import fields, replace
from difflib import get_close_matches
from pathlib import Path
from string import Template
from typing import Annotated, Any, Literal, TypeVar

import pydantic
import yaml
from pydantic import BeforeValidator, Field, StrictFloat, StrictInt
from pydantic.dataclasses import dataclass

from workbench.benchmarks.benchmark import (
    BENCHMARKS,
    Benchmark,
    benchmark_name,
    check_limit,
)
from workbench.errors import BadInputError, one_of, read_yaml
from workbench.llm.calls import check_given, check_model
from workbench.types import ROLES, Limits, Suspect

T = TypeVar("T")
# The last three have rows of their own in tables.
MODEL_ROLES = (*ROLES, "small", "open", "tuned")
_PACKAGE = Path(__file__).parents[1]
# A variable's name.
_SECRET = re.compile(r"(?i)(?:key|token|secret|password|credentials?)$")


def _placed(path: Any, info: pydantic.ValidationInfo) -> Any:
    """Return a path with its variables replaced; a relative one starts at the file's folder.

    That folder is the context where a file is read.
    """
    if not isinstance(path, str) or info.context is None:
        return path
    template = Template(path)
    for name in template.get_identifiers():
        if _SECRET.search(name):  # an error would print it
            raise ValueError(
                f"${name} looks like a secret, and a path may not hold one"
            )
        if name not in os.environ:
            raise ValueError(f"${name} is not set: export {name}=/path")
    return info.context / Path(template.substitute(os.environ)).expanduser()


def _named_or_placed(benchmark: Any, info: pydantic.ValidationInfo) -> Any:
    """Return the name of a benchmark, or the path of a user's file."""
    if str(benchmark).endswith(".json"):
        return str(_placed(benchmark, info))
    return benchmark


def _check_inside(setting: str, name: str, *, may_have_folders: bool) -> None:
    """Refuse a name that would lead out of the folder in which it is looked up."""
    path = Path(name)
    leads_out = path.is_absolute() or ".." in path.parts
    has_folders = "/" in name and not may_have_folders
    if leads_out or has_folders or not path.parts or not name.isprintable():
        raise BadInputError(
            f"{setting} is {name!r}: give a plain name, without '..' and '/'"
        )


Number = Annotated[float, Field(strict=True, ge=0)]
Count = Annotated[int, Field(strict=True, ge=0)]
Place = Annotated[Path, BeforeValidator(_placed)]
BenchmarkName = Annotated[str, BeforeValidator(_named_or_placed)]
ByName = Annotated[
    dict[str, Any], BeforeValidator(lambda value: {} if value is None else value)
]
_CONFIG = pydantic.ConfigDict(
    extra="forbid", ser_json_inf_nan="constants", arbitrary_types_allowed=True
)


@dataclass(frozen=True, config=_CONFIG)
class Experiment:
    """What a person writes of an experiment; `dataclasses.replace` checks what it changes."""

    name: str
    about: str = ""
    benchmark: BenchmarkName = "bundled-dev"
    root: Place | None = None
    model: str = "embedded/parser"  # "none" where the notebooks ask no model
    # Of single roles, such as `judge`.
    models: Mapping[str, str] = Field(default_factory=dict)
    # Parameters of all calls of a model or a role replace the steps' own; None removes one.
    parameters: Mapping[str, Mapping[str, Any]] = Field(default_factory=dict)
    prompts: Place | None = None
    # Questions, or a share of each database's: 0.1.
    limit: StrictInt | StrictFloat | None = None
    sql_seconds: Number = 30.0  # how long a query may run
    dollars: Number | None = None  # the most that may be spent
    calls: Count | None = None
    # Of values, by a name or settings of `with_retrieval`.
    retrieval: str | Mapping[str, Any] = ""
    batch: bool = False  # half the price, answers within a day
    cheaper: bool = False  # systems run as `wb.cheaper` has them
    # What is repaired, and chosen last; None: as the steps say.
    suspect: Suspect | None = None
    judges: tuple[str, ...] = ()  # further models for the rows of selectors
    train: BenchmarkName = ""  # whose questions are examples
    codes: Place | None = None  # a file of CodeS's examples
    predictions: tuple[Place, ...] = ()  # files of other systems' answers
    # With their parameters.
    notebooks: Mapping[str, ByName] = Field(default_factory=dict)
    path: Path = Path()
    folder: Path = Path()  # the parent of the folders `experiments` and `figures`
    output: Literal["figures", "runs"] = "figures"  # the folder of its saved files

    def __post_init__(self) -> None:
        _check_inside("name", self.name, may_have_folders=False)
        for notebook in self.notebooks:
            _check_inside("notebooks", notebook, may_have_folders=True)
        for role in self.models:
            one_of(MODEL_ROLES, role=role)
        check_given(self.parameters)
        for owner in self.parameters:
            one_of((*self.asked, *ROLES), **{"a name in parameters": owner})
        check_limit(self.limit)
        Limits(seconds=self.sql_seconds)
        if self.retrieval:
            from workbench.retrieve import retrieval  # noqa: PLC0415  numpy takes long to import

            whole = retrieval.Retrieval(None, descriptions=retrieval.Descriptions())
            retrieval.with_retrieval(whole, self.retrieval)

    def run_name(self, limit: float | None) -> str:
        """Return the name of the folders of a run, with its limit, if it has one."""
        return self.name if limit is None else f"{self.name}-{limit}"

    @property
    def asked(self) -> list[str]:
        """All models that the experiment asks."""
        named = [self.model, *self.models.values(), *self.judges]
        if isinstance(self.retrieval, Mapping):
            named.append(str(self.retrieval.get("similarity", "")))
        return sorted({*named} - {"none", "letters", ""})


@dataclass(frozen=True, config=_CONFIG)
class Session:
    """An experiment and what is said of one run of it: what `reproduce` passes to notebooks."""

    experiment: Experiment
    figures: Path | None = None  # where figures are saved
    cluster: str = ""  # a Dask scheduler's address
    offline: bool = False  # no call may be made
    budget: str = ""  # the name of the budget that all notebooks share
    preview: Count = 0  # how many questions a stand-in answers
    cache: Path | None = None  # the file in which a preview looks replies up
    # A file to which the keys of all requests are added.
    request_log: Path | None = None
    # In place of its name.
    benchmark: Benchmark | None = plain_field(default=None, repr=False)

    def write(self, path: Path) -> Path:
        """Write the session to a YAML file, from which `session_of` reads the same one."""
        plain = _SESSION.dump_python(self, mode="json", exclude_none=True)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(
            yaml.safe_dump(plain, sort_keys=False, allow_unicode=True), "utf-8"
        )
        return path

    def figures_folder(self, limit: float | None) -> Path:
        """Return the folder that figures are saved to."""
        experiment = self.experiment
        folder = experiment.folder / experiment.output / experiment.run_name(limit)
        return self.figures or folder

    def with_settings(self, settings: Mapping[str, Any]) -> "Session":
        """Return the session with other settings, of its own or of the experiment."""
        session, experiment = {}, {}
        for name, value in settings.items():
            if name in _FIELDS:
                experiment[name] = value
            elif name in _SESSION_FIELDS:
                session[name] = value
            else:
                raise BadInputError(_unknown(name, {*_FIELDS, *_SESSION_FIELDS}))
        changed = settled(lambda: replace(self.experiment, **experiment))
        return settled(lambda: replace(self, experiment=changed, **session))


_FIELDS = [field.name for field in fields(Experiment)]
_SESSION_FIELDS = [field.name for field in fields(Session)[1:]]  # but the experiment
_SETTINGS = pydantic.TypeAdapter(Experiment)
_SESSION = pydantic.TypeAdapter(Session)


def _unknown(setting: str, known: Iterable[str]) -> str:
    known = sorted(known)
    near = get_close_matches(setting, known, 1)
    hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(known)}"
    return f"unknown setting {setting!r}; {hint}"


def shipped(name: str) -> Path:
    """Return the folder `notebooks` or `experiments`, packaged or beside the package."""
    inside = _PACKAGE / "_shipped" / name
    return inside if inside.is_dir() else _PACKAGE.parent / name


def find_experiment(name: str) -> Path:
    """Return an experiment's file by its path, or by name in the nearest `experiments` above."""
    if name.endswith((".yaml", ".yml")):
        return Path(name)
    here = Path.cwd()
    folders = [parent / "experiments" for parent in (here, *here.parents)]
    folders.append(shipped("experiments"))
    known: dict[str, Path] = {}
    for folder in reversed(folders):
        known |= {path.stem: path for path in folder.glob("*.yaml")}
    if name not in known:
        near = get_close_matches(name, [*known, *BENCHMARKS], 1)
        hint = f"did you mean {near[0]!r}? " if near else ""
        experiments, benchmarks = ", ".join(sorted(known)), ", ".join(BENCHMARKS)
        raise BadInputError(
            f"no experiment {name!r}; {hint}There are the experiments {experiments} and the"
            f" benchmarks {benchmarks}. Give one of these names, or the path of a YAML file"
        )
    return known[name]


def session_of(experiment: str | Path | Experiment | Benchmark | Session) -> Session:
    """Return the session of an experiment or benchmark, or of the name or path of one.

    A benchmark is an experiment that saves to the folder `runs`.
    """
    if isinstance(experiment, Session):
        return experiment
    if isinstance(experiment, Experiment):
        return Session(experiment)
    if isinstance(experiment, Benchmark):
        on = Experiment(experiment.name, benchmark=experiment.name, output="runs")
        return Session(on, benchmark=experiment)
    if benchmark := benchmark_name(str(experiment)):
        return Session(
            Experiment(Path(benchmark).stem, benchmark=benchmark, output="runs")
        )
    path = find_experiment(str(experiment))
    settings = read_yaml(path)
    if isinstance(settings, dict) and "experiment" in settings:
        return settled(lambda: _SESSION.validate_python(settings), f"{path}: ")
    return Session(_experiment_in(path, settings))


def load_experiment(name: str) -> Experiment:
    """Return the experiment of that name or path, checked; opening it checks the benchmark."""
    path = find_experiment(name)
    return _experiment_in(path, read_yaml(path))


def _experiment_in(path: Path, settings: Any) -> Experiment:
    if not isinstance(settings, dict):
        raise BadInputError(
            f"{path}: expected settings by name, and found {settings!r:.60}"
        )
    file = Path(os.path.abspath(path))  # noqa: PTH100  without `..`, which is no folder's parent
    named = {"name": path.stem, "path": file, "folder": file.parent.parent}
    named |= {key: setting for key, setting in settings.items() if setting is not None}
    return settled(
        lambda: _SETTINGS.validate_python(named, context=file.parent), f"{path}: "
    )


def settled(make: Callable[[], T], where: str = "") -> T:
    """Return a record of settings, whose errors are one line that begins with `where`.

    The models of an experiment are checked, too: so an unknown provider is told with its file.
    """
    try:
        settings = make()
        if isinstance(settings, Experiment):
            for model in settings.asked:
                check_model(model)
    except pydantic.ValidationError as error:
        raise BadInputError(f"{where}{_first_error(error)}") from error
    except BadInputError as error:
        raise BadInputError(f"{where}{error}") from error
    return settings


def _first_error(error: pydantic.ValidationError) -> str:
    """Return the first error as a sentence."""
    first = error.errors()[0]
    field = ".".join(map(str, first["loc"]))
    if first["type"] in {"unexpected_keyword_argument", "extra_forbidden"}:
        return _unknown(field, _FIELDS)
    message = first["msg"].replace("Input", "it", 1).removeprefix("Value error, ")
    return f"{field} is {first['input']!r:.60}: {message}" if field else message
