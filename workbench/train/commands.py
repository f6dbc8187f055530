"""`workbench train ...`: what can be learned from candidates and gold, as commands."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

import click

from workbench.benchmarks.benchmark import Benchmark
from workbench.benchmarks.named import open_benchmark
from workbench.benchmarks.predictions import file_names, load_pool, prediction_files
from workbench.db.execute import Executor
from workbench.lab import Lab
from workbench.llm.client import Client
from workbench.pool import Pool
from workbench.store import Store
from workbench.train.lora_command import lora

_OPTIONS = (
    click.argument("benchmark"),
    click.option("--root", type=click.Path(path_type=Path), help="Folder where it was unpacked."),
    click.option(
        "--predictions",
        "first",
        multiple=True,
        required=True,
        metavar="FILE...",
        help="Prediction files, or folders of them: the candidates.",
    ),
    click.argument("more", nargs=-1, metavar="[FILE]..."),
    click.option(
        "--out",
        type=click.Path(path_type=Path, dir_okay=False, writable=True),
        required=True,
        help="The file to write.",
    ),
)


def _on_a_pool(command: Any) -> Any:
    """With the options that name a benchmark, candidates for it, and a file to write."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


@contextmanager
def _pool(
    benchmark: str, root: Path | None, files: Sequence[str]
) -> Iterator[tuple[Lab, Benchmark, Pool]]:
    opened = open_benchmark(benchmark, root)
    pool = load_pool(file_names(prediction_files(files)), opened)
    with Store() as store, Executor(store) as executor:
        yield Lab(Client(store), executor, opened.database), opened, pool


@click.group()
def train() -> None:
    """Learn a selector, or tune a model to be one."""


train.add_command(lora)


@train.command()
@_on_a_pool
@click.option("--cross-validate", is_flag=True, help="Say what it is worth on unseen databases.")
def selector(
    benchmark: str,
    root: Path | None,
    first: tuple[str, ...],
    more: tuple[str, ...],
    out: Path,
    *,
    cross_validate: bool,
) -> None:
    """Learn a selector that asks no model from the candidates in prediction files.

    Use it by `workbench evaluate ... --pool --selector FILE`, or in a system as `Trained.load(FILE)`.
    """
    from workbench.train import cross_validate as validation  # noqa: PLC0415  pandas: half a second
    from workbench.train.selector import Learner, cases  # noqa: PLC0415

    with _pool(benchmark, root, [*first, *more]) as (lab, opened, pool):
        found = cases(lab, opened, pool)
    weights = Learner()(found)
    weights.save(out)
    print(f"votes {weights.votes:+.2f}, by the logarithm of a group's share")
    for name, weight in weights.doubts.items():
        print(f"{name:11} {weight:+.2f}")
    print(f"{out}: learned from {len(found)} questions by {len(weights.generators)} generators")
    if cross_validate:
        print(validation.as_text(validation.cross_validate(found, parts=True)))


@train.command()
@_on_a_pool
@click.option(
    "--format",
    "form",
    type=click.Choice(["gemini", "openai", "huggingface"]),
    default="openai",
    show_default=True,
    help="Whose tuning is to read it; Hugging Face's and ours read OpenAI's form.",
)
@click.option("--seed", default=0, show_default=True, help="Of the order in which two stand.")
@click.option("--no-gold", is_flag=True, help="Leave out questions that no candidate answers.")
def pairs(
    benchmark: str,
    root: Path | None,
    first: tuple[str, ...],
    more: tuple[str, ...],
    out: Path,
    *,
    form: Literal["gemini", "openai", "huggingface"],
    seed: int,
    no_gold: bool,
) -> None:
    """Write a right and a wrong candidate, pair by pair, as chats to tune a selection model on.

    Where no candidate is right, the gold query stands in for one. Take a training split: what is written
    here gives the answers away.
    """
    from workbench.train.export import conversations, write  # noqa: PLC0415
    from workbench.train.pairs import Pairs  # noqa: PLC0415

    with _pool(benchmark, root, [*first, *more]) as (lab, opened, pool):
        made = Pairs(from_gold=not no_gold, seed=seed)(lab, opened, pool)
        count = write(conversations(lab, made), out, form)
    print(f"{out}: {count:,} pairs")
