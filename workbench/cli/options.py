"""Options that several commands share, options made from a dataclass, and the systems by their short names."""

import json
import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import MISSING, fields, replace
from functools import partial
from pathlib import Path
from typing import Any, Literal, get_args

import click

import workbench as wb
from workbench.errors import BadInputError, naming
from workbench.llm.money import CAUTIOUS, cautious
from workbench.llm.parameters import check_given, check_model

SYSTEMS = {"chase": "chase_sql", "chess": "chess_ir_cg_ut", "chess-ss": "chess_ir_ss_cg", "mac": "mac_sql",
           "direct": "direct", "zero-shot": "zero_shot"}  # fmt: skip
"""The systems by their short names, and their names in `workbench`."""
Form = Literal["gemini", "openai", "huggingface"]
Parameters = dict[str, dict[str, Any]]


def checked(check: Callable[[Any], Any]) -> Callable[[click.Context, click.Parameter, Any], Any]:
    """A callback of click that checks and reads the given value."""
    return lambda _context, _option, given: check(given)


def settings(kind: type) -> Callable[[Any], Any]:
    """An option for each field of a dataclass that has a plain default."""

    def add(command: Any) -> Any:
        for field in reversed(fields(kind)):
            name = field.name.replace("_", "-")
            if isinstance(field.default, bool):
                flag = click.option(
                    f"--{name}/--no-{name}", default=field.default, show_default=True
                )
                command = flag(command)
            elif field.default is not MISSING:
                command = click.option(f"--{name}", default=field.default, show_default=True)(
                    command
                )
        return command

    return add


def _model(given: str) -> str:
    if given:
        check_model(given)
    return given


def _golds(given: tuple[str, ...]) -> dict[str, Path]:
    files = dict(item.partition("=")[::2] for item in given)
    if not all(files) or not all(files.values()) or len(files) < len(given):
        raise click.BadParameter(f"{' '.join(given)!r}: give each file as NAME=FILE, once a name")
    return {name: Path(file) for name, file in files.items()}


def _number(given: float | None) -> float | None:
    if given is not None and math.isnan(given):  # which is in every range
        raise click.BadParameter("nan is no number; give one")
    return given


def _parameters(given: tuple[str, ...]) -> Parameters:
    """The values by role and name, with "" for all roles; a value that is not JSON is text."""
    read: Parameters = {"": {}}
    for item in given:
        named, equals, value = item.partition("=")
        role, _, name = named.rpartition(":")
        if not name or not equals:
            raise click.BadParameter(f"{item!r} is not NAME=VALUE or ROLE:NAME=VALUE")
        try:
            read.setdefault(role, {})[name] = json.loads(value)
        except ValueError:
            read[role][name] = value
    check_given({role or "any/model": owned for role, owned in read.items()})
    return read


def given_to(model: str, parameters: Parameters) -> Parameters:
    """The parameters for a lab or an experiment: those of all roles under the name of the model."""
    return {role or model: owned for role, owned in parameters.items()}


named_model = partial(click.option, metavar="PROVIDER/MODEL", callback=checked(_model))
model = named_model("--model", default="embedded/parser", show_default=True,
                    help="Any model that LiteLLM reaches; the default needs no key and no network.")  # fmt: skip
judge = named_model("--judge", default="", help="Another model that selects among the candidates.")
filtering = named_model(
    "--filtering", default="", help="A cheap model that is asked about single columns."
)
system = partial(click.option, "--system", type=click.Choice(list(SYSTEMS)), show_default=True)
root = click.option(
    "--root", type=click.Path(path_type=Path), help="Where the benchmark was unpacked."
)
prompts = click.option("--prompts", type=click.Path(path_type=Path, exists=True, file_okay=False),
                       help="A folder of prompts that replace the packaged prompts of the same names.")  # fmt: skip
golds = click.option("--gold", "golds", multiple=True, metavar="NAME=FILE", callback=checked(_golds),
                     help="Judge also by revised gold queries, such as BIRD's dev_20251106.")  # fmt: skip
limit = click.option(
    "--limit", type=click.IntRange(1), help="Only so many questions, spread evenly."
)
dollars = click.option("--dollars", type=click.FloatRange(min=0), callback=checked(_number),
                       help=f"Stop before more than this is spent; ${CAUTIOUS:g} unless told otherwise.")  # fmt: skip
calls = click.option("--calls", type=click.IntRange(min=0), help="Stop before more calls are made.")
batch = click.option(
    "--batch", is_flag=True, help="Send calls in batches: half the price, answers within a day."
)
cluster = click.option("--cluster", default="", metavar="ADDRESS", help="Compute on a Dask cluster: tcp://HOST:8786, a"
                       " scheduler file, or local:4 for 4 workers here.")  # fmt: skip
out = click.option(
    "--out",
    type=click.Path(path_type=Path, dir_okay=False),
    required=True,
    help="The file to write.",
)
form = partial(click.option, "--format", "form", type=click.Choice(get_args(Form)), show_default=True,
               help="Who reads the file. Hugging Face's form alone names each line's question.")  # fmt: skip
parameters = click.option("--parameter", "parameters", multiple=True, metavar="[ROLE:]NAME=VALUE",
                          callback=checked(_parameters), help="A parameter of all calls, or of a role's (generation,"
                          " filtering, judge, rest): judge:temperature=0. null leaves one out.")  # fmt: skip
predictions = click.argument("files", nargs=-1, required=True, metavar="FILE...")


# Annotations are quoted: to look a System or a Lab up imports the steps, which most commands do not need.
def make_system(name: str, model: str, judge: str = "", filtering: str = "") -> "wb.System":
    """The system of that short name on one model, with `judge` for its selector, and `filtering` for columns."""
    if filtering and name not in {"chase", "chess-ss"}:
        raise BadInputError(f"--filtering {filtering}: {name} filters no columns; leave it out")
    made: wb.System = getattr(wb, SYSTEMS[name])(
        model, **({"filtering": filtering} if filtering else {})
    )
    select: Any = made.select
    if judge and not hasattr(select, "model"):
        raise BadInputError(f"--judge {judge}: the selector of {name} asks no model; leave it out")
    return replace(made, select=replace(select, model=judge)) if judge else made


@contextmanager
def open_lab(database: Callable[[str], Path], dollars: float | None, calls: int | None = None,
             **given: Any) -> Iterator["wb.Lab"]:  # fmt: skip
    """A lab with the user's cache, and a cautious budget; `given` are the settings of `Lab`."""
    budget = cautious(dollars, calls)
    with wb.Cache() as store, wb.Executor(store) as executor:
        yield wb.Lab(wb.Client(store, budget=budget), executor, database, **given)


def check_writable(path: Path, *read: Path) -> None:
    """Fail before the work starts if its result cannot be written, or would replace a file that the command reads."""
    if path.exists() and any(other.exists() and path.samefile(other) for other in read):
        raise BadInputError(f"{path}: is read by this command; name another file to write")
    with naming(path):
        new = not path.exists() and not path.is_symlink()
        path.open("a").close()
        if new:  # a command that fails leaves no empty file
            path.unlink()
