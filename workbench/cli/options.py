"""Options that commands share, options made from a dataclass, and systems by short names."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import click

import workbench as wb
from workbench.errors import BadInputError
from workbench.llm.calls import check_model
from workbench.llm.money import CAUTIOUS, cautious
from workbench.study.systems import SYSTEMS


def settings(kind: type) -> Callable[[Any], Any]:
    """Return a decorator: an option for each field of a dataclass with a number or a bool."""

    def add(command: Any) -> Any:
        # Click shows the last one that is added first.
        for field in reversed(fields(kind)):
            name = field.name.replace("_", "-")
            if isinstance(field.default, bool):
                name = f"{name}/--no-{name}"
            elif not isinstance(field.default, int | float):
                continue
            add_option = click.option(
                f"--{name}", default=field.default, show_default=True
            )
            command = add_option(command)
        return command

    return add


FILE = click.Path(path_type=Path, dir_okay=False)
FOLDER = click.Path(path_type=Path, file_okay=False, exists=True)
model = click.option(
    "--model",
    default="embedded/parser",
    show_default=True,
    metavar="PROVIDER/MODEL",
    help="Any model that LiteLLM reaches; the default needs no key and no network.",
)
judge = click.option(
    "--judge",
    default="",
    metavar="PROVIDER/MODEL",
    help="Another model for the selector.",
)

root = click.option(
    "--root", type=click.Path(path_type=Path), help="Where the benchmark was unpacked."
)
prompts = click.option(
    "--prompts",
    type=FOLDER,
    help="A folder of prompts that replace the packaged prompts of the same names.",
)
limit = click.option(
    "--limit", type=click.IntRange(1), help="Only so many questions, spread evenly."
)
dollars = click.option(
    "--dollars",
    type=click.FloatRange(min=0),
    help=f"Stop before more than this is spent.  [default: {CAUTIOUS:g}]",
)
batch = click.option(
    "--batch",
    is_flag=True,
    help="Send calls in batches: half the price, answers within a day.",
)
cluster = click.option(
    "--cluster",
    default="",
    metavar="ADDRESS",
    help="Compute on a Dask cluster: tcp://HOST:8786, a scheduler file, or local:4.",
)
preview = click.option(
    "--preview",
    is_flag=True,
    help="Estimate calls and cost from three questions; pay nothing.",
)
predictions = click.argument("files", nargs=-1, required=True, metavar="FILE...")


def system(default: str) -> Callable[[Any], Any]:
    """Return the option for a system's short name."""
    return click.option(
        "--system",
        type=click.Choice(list(SYSTEMS)),
        default=default,
        show_default=True,
    )


# Annotations are quoted: looking a System or a Lab up imports the steps.
def make_system(name: str, model: str, judge: str = "") -> "wb.System":
    """Return the system of that short name on one model, with `judge` for its selector."""
    check_model(model)  # before anything is paid
    system = SYSTEMS[name].make(model)
    if not judge:
        return system
    check_model(judge)
    select: Any = system.select  # a step of any kind
    if not hasattr(select, "model"):
        raise BadInputError(
            f"--judge {judge}: the selector of {name} asks no model; leave it out"
        )
    return replace(system, select=replace(select, model=judge))


@contextmanager
def open_lab(
    database: Callable[[str], Path],
    dollars: float | None,
    calls: int | None = None,
    **settings: Any,
) -> Iterator["wb.Lab"]:
    """Open a lab with the user's cache, and a cautious budget; `settings` are those of `Lab`."""
    with wb.Cache() as store, wb.Executor(store) as executor:
        client = wb.Client(store, budget=cautious(dollars, calls))
        yield wb.Lab(client, executor, database, **settings)


def check_writable(path: Path, *read: Path | str) -> None:
    """Refuse a path that cannot be written, or that the command reads, before the work starts."""
    written = path if path.exists() else path.parent
    if not os.access(written, os.W_OK):
        raise BadInputError(f"{path}: cannot be written; name another place")
    if path.resolve() in {Path(other).resolve() for other in read}:
        raise BadInputError(
            f"{path}: is read by this command; name another file to write"
        )
