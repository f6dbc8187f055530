"""Options that several commands share, the systems by their short names, and the progress bar."""

import json
import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Literal, get_args

import click

import workbench as wb
from workbench.errors import BadInputError, naming
from workbench.llm.parameters import check_given, check_model
from workbench.terminal import bar_stream

SYSTEMS = {
    "chase": "chase_sql",
    "chess": "chess_ir_cg_ut",
    "chess-ss": "chess_ir_ss_cg",
    "mac": "mac_sql",
    "direct": "direct",
    "zero-shot": "zero_shot",
}
"""The systems by their short names, and their names in `workbench`."""


def checked(check: Callable[[Any], Any]) -> Callable[[click.Context, click.Parameter, Any], Any]:
    """A callback of click that checks and reads the given value."""
    return lambda _context, _option, given: check(given)


def _model(given: str) -> str:
    """The name of a model with its provider; an option may be left out."""
    if given:
        check_model(given)
    return given


named_model = partial(click.option, metavar="PROVIDER/MODEL", callback=checked(_model))
"""An option that names a model."""

system = partial(click.option, "--system", type=click.Choice(list(SYSTEMS)), show_default=True)
root = click.option(
    "--root", type=click.Path(path_type=Path), help="Folder where the benchmark was unpacked."
)
model = named_model(
    "--model",
    default="embedded/parser",
    show_default=True,
    help="Any model that LiteLLM reaches; the default needs no key and no network.",
)
prompts = click.option(
    "--prompts",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    help="A folder of prompts that replace the packaged prompts of the same names.",
)
judge = named_model(
    "--judge",
    default="",
    help="Another model that selects among the candidates, such as one tuned for it.",
)


def _golds(given: tuple[str, ...]) -> dict[str, Path]:
    """The files of revisions by their names."""
    files: dict[str, Path] = {}
    for item in given:
        name, _, file = item.partition("=")
        if not name or not file:
            raise click.BadParameter(f"{item!r} is not NAME=FILE")
        if name in files:
            raise click.BadParameter(f"the name {name!r} is given twice")
        files[name] = Path(file)
    return files


golds = click.option(
    "--gold",
    "golds",
    multiple=True,
    metavar="NAME=FILE",
    callback=checked(_golds),
    help="Judge also by revised gold queries: a JSON file, such as BIRD's dev_20251106.",
)
filtering = named_model(
    "--filtering",
    default="",
    help="Another model that is asked about single columns; a cheap one suffices.",
)
limit = click.option(
    "--limit", type=click.IntRange(1), help="Only this many questions, spread evenly."
)


def _number(given: float | None) -> float | None:
    """The number; `nan`, which is in every range, is refused."""
    if given is not None and math.isnan(given):
        raise click.BadParameter("nan is no number; give one")
    return given


dollars = click.option(
    "--dollars",
    type=click.FloatRange(min=0),
    callback=checked(_number),
    help="Stop before more than this is spent.",
)
batch = click.option(
    "--batch",
    is_flag=True,
    help="Send calls in batches: half the price, and answers within a day. Stop and go on at any time.",
)
cluster = click.option(
    "--cluster",
    default="",
    metavar="ADDRESS",
    help="Compute on a Dask cluster: tcp://HOST:8786, a scheduler file, or local:4 for 4 workers here.",
)
out = click.option(
    "--out",
    type=click.Path(path_type=Path, dir_okay=False, writable=True),
    required=True,
    help="The file to write.",
)
Form = Literal["gemini", "openai", "huggingface"]
form = partial(
    click.option,
    "--format",
    "form",
    type=click.Choice(get_args(Form)),
    show_default=True,
    help="The service or library that reads the file. Hugging Face's form also "
    "names each line's question, database and agent; OpenAI and Gemini allow no such keys.",
)


Parameters = dict[str, dict[str, Any]]


def _parameters(given: tuple[str, ...]) -> Parameters:
    """The values by role and name, with "" for all roles; a value that is not JSON is text."""
    read: Parameters = {"": {}}
    for item in given:
        named, equals, value = item.partition("=")
        role, _, name = named.rpartition(":")
        if not name or not equals:
            raise click.BadParameter(f"{item!r} is not NAME=VALUE or ROLE:NAME=VALUE")
        owned = read.setdefault(role, {})
        try:
            owned[name] = json.loads(value)
        except ValueError:
            owned[name] = value
    check_given({role or "any/model": owned for role, owned in read.items()})
    return read


def given_to(model: str, parameters: Parameters) -> Parameters:
    """The parameters for a lab or an experiment: those of all roles under the name of the model."""
    return {role or model: owned for role, owned in parameters.items()}


parameters = click.option(
    "--parameter",
    "parameters",
    multiple=True,
    metavar="[ROLE:]NAME=VALUE",
    callback=checked(_parameters),
    help="A parameter of all calls, such as reasoning_effort=low, or of a role's (generation, filtering, judge,"
    " rest), such as judge:temperature=0; null leaves one out.",
)
calls = click.option(
    "--calls", type=click.IntRange(min=0), help="Stop before more than this many calls are made."
)
predictions = click.option(
    "--predictions",
    "first",
    multiple=True,
    required=True,
    metavar="FILE...",
    help="Prediction files, or folders of them.",
)
more_predictions = click.argument("more", nargs=-1, metavar="[FILE]...")


# Annotations are quoted: to look a System or a Lab up imports the steps, which most commands do not need.
def make_system(name: str, model: str, judge: str = "", filtering: str = "") -> "wb.System":
    """The system of that short name on one model, with `judge` for its selector, and `filtering` for columns."""
    system: wb.System
    if not filtering:
        system = getattr(wb, SYSTEMS[name])(model)
    elif name == "chase":
        system = wb.chase_sql(model, filtering=filtering)
    elif name == "chess-ss":
        system = wb.chess_ir_ss_cg(model, filtering=filtering)
    else:
        raise BadInputError(f"--filtering {filtering}: {name} filters no columns; leave it out")
    if not judge:
        return system
    select: Any = system.select
    if not hasattr(select, "model"):
        raise BadInputError(f"--judge {judge}: the selector of {name} asks no model; leave it out")
    return replace(system, select=replace(select, model=judge))


@contextmanager
def open_lab(
    database: Callable[[str], Path], budget: "wb.Budget | None" = None, **settings: Any
) -> Iterator["wb.Lab"]:
    """A lab with the user's cache. `settings` are those of `Lab`."""
    with wb.Cache() as store, wb.Executor(store) as executor:
        yield wb.Lab(wb.Client(store, budget=budget), executor, database, **settings)


def check_writable(path: Path, *read: Path) -> None:
    """Fail before the work starts if its result cannot be written, or would replace a file that the command reads."""
    if path.exists() and any(other.exists() and path.samefile(other) for other in read):
        raise BadInputError(
            f"{path}: is read by this command, and would be replaced; name another file to write"
        )
    with naming(path):
        new = not path.exists() and not path.is_symlink()
        path.open("a").close()
        if new:  # a command that fails leaves no empty file
            path.unlink()


@contextmanager
def progress_bar(unit: str, note: Callable[[], str] = str) -> Iterator[Callable[[int, int], None]]:
    """A bar on standard error that appears after a second of work, and only in a terminal.

    `note` gives the text behind the numbers.
    """
    from tqdm import tqdm  # noqa: PLC0415  `ask` shows no bar, and the import is a tenth of its time

    with tqdm(unit=f" {unit}", delay=1, leave=False, disable=None, file=bar_stream()) as bar:

        def show(done: int, total: int) -> None:
            bar.total = total
            bar.set_postfix_str(note(), refresh=False)
            bar.update(done - bar.n)

        yield show
