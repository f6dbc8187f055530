"""`workbench train`: chats and rollouts to tune a model on, and the tuning."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, get_args

import click

from workbench.benchmarks.benchmark import Benchmark, open_benchmark
from workbench.benchmarks.predictions import candidates, read_predictions
from workbench.cli import options
from workbench.lab import Lab
from workbench.study.systems import SYSTEMS
from workbench.systems.chess import chess_ir_ss_cg
from workbench.train import data as training
from workbench.train import rewards
from workbench.train.data import Format, NoisySchema, Pairs, write, write_lines
from workbench.train.lora import Lora

_form = click.option(
    "--format",
    "form",
    type=click.Choice(get_args(Format)),
    default="huggingface",
    show_default=True,
    help="Who reads the file.",
)
_split = click.option(
    "--benchmark", default="bundled-train", show_default=True, help="A training split."
)
_samples = click.option(
    "--samples",
    type=click.IntRange(1),
    default=1,
    show_default=True,
    help="Replies to each prompt.",
)


def _on_benchmark(command: Any) -> Any:
    """Add the options of `_opened`, and the model."""
    command = click.option(
        "--out", type=options.FILE, required=True, help="The file to write."
    )(command)
    last_first = (  # as decorators stand below each other
        options.dollars,
        options.limit,
        options.prompts,
        options.root,
        options.model,
    )
    for option in last_first:
        command = option(command)
    return command


@contextmanager
def _opened(
    benchmark: str,
    *files: str,
    out: Path,
    root: Path | None,
    limit: int | None,
    dollars: float | None,
    prompts: Path | None,
) -> Iterator[tuple[Benchmark, Lab]]:
    """Open a benchmark and a lab, and print at the end what was paid.

    `out`, which is to be written, is refused if it is one of the files that are read: the benchmark
    and `files`. The options from `out` on are those of `_on_benchmark`, which commands pass on.
    """
    options.check_writable(out, *files, benchmark)
    opened = open_benchmark(benchmark, root).limited(limit)
    with options.open_lab(opened.database, dollars, prompts=prompts) as lab:
        yield opened, lab
        print(lab.client.ledger)


@click.group()
def train() -> None:
    """Export chats to fine-tune a model, and tune one."""


@train.command()
@click.argument("benchmark")
@options.predictions
@options.system("chase")
@click.option("--gold", is_flag=True)
@_on_benchmark
@_form
def pairs(
    benchmark: str,
    files: tuple[str, ...],
    system: str,
    model: str,
    gold: bool,
    out: Path,
    form: Format,
    **where: Any,
) -> None:
    """Export chats to fine-tune a selection model.

    Each chat has a right and a wrong candidate of FILE, which has predictions or is a folder of
    such files. Where no candidate is right, the system's generators are asked with the gold
    query as a hint; where there still is none, --gold takes the gold query. Use a training
    split.
    """
    make = Pairs(options.make_system(system, model), gold=gold)
    with _opened(benchmark, *files, out=out, **where) as (opened, lab):
        pool = candidates(read_predictions(opened, *files))
        chats = write(make(lab, opened, pool), out, form)
        print(f"{out}: {chats:,} pairs")


@train.command()
@click.argument("benchmark")
@_on_benchmark
@_form
def generator(
    benchmark: str, model: str, out: Path, form: Format, **where: Any
) -> None:
    """Export chats to fine-tune a generator (CHESS, appendix B).

    Each chat has a gold query and a partly wrong schema, with two wrong columns for each right
    one. --model finds keywords. Use a training split.
    """
    make = NoisySchema(chess_ir_ss_cg(model).retrieve)
    with _opened(benchmark, out=out, **where) as (opened, lab):
        print(f"{out}: {write(make(lab, opened), out, form):,} questions")


@train.command()
@click.argument("benchmark")
@options.system("mac")
@_on_benchmark
@_form
def instructions(
    benchmark: str, system: str, model: str, out: Path, form: Format, **where: Any
) -> None:
    """Export chats to fine-tune a system's agents.

    The system answers the questions; the chats are the calls behind each right answer. A stopped
    run continues from the cache. Use a training split.
    """
    steps = options.make_system(system, model)
    with _opened(benchmark, out=out, **where) as (opened, lab):
        chats = training.instructions(opened, steps, lab)
        right = {chat.question_id for chat in chats}
        print(
            f"{out}: {write(chats, out, form):,} calls behind {len(right):,} right answers"
            f" to {len(opened.questions):,} questions"
        )


@train.command()
@click.argument("system", type=click.Choice(list(SYSTEMS)))
@_split
@_samples
@_on_benchmark
def rollouts(
    system: str, benchmark: str, samples: int, model: str, out: Path, **where: Any
) -> None:
    """Write prompts and replies of a system's generators with their verdicts, as JSON lines.

    Each line has prompt and completion as messages, whether the reply's query is right, and the
    key of the call. Calls that are cached are not asked again.
    """
    steps = options.make_system(system, model)
    with _opened(benchmark, out=out, **where) as (opened, lab):
        replies = rewards.rollouts(opened, steps, lab, samples)
        right = sum(reply.correct for reply in replies)
        number = write_lines(replies, out)
        counts = f"{number:,} rollouts, {right:,} of them right"
        print(f"{out}: {counts}")


@train.command()
@click.argument("data", type=options.FILE)
@click.option(
    "--model", required=True, help="The folder of a model, or its name at Hugging Face."
)
@click.option(
    "--out",
    required=True,
    type=click.Path(path_type=Path),
    help="A folder for the adapter.",
)
@options.settings(Lora)
def lora(data: Path, model: str, out: Path, **settings: Any) -> None:
    """Fine-tune a model by LoRA; needs the extra train.

    DATA has chats in Hugging Face's form. The defaults are those of CHASE-SQL's judge; CHESS's
    generator takes --rank 128 --alpha 256 --epochs 2 --batch 32 --rate 1e-4 --four-bits,
    MAC-SQL's SQL-Llama --rate 2e-5 --batch 32 --steps 1000. A stopped training goes on from its
    last epoch.
    """
    losses = Lora(**settings)(data, model, out)
    print(f"{out}: the adapter; losses {', '.join(f'{loss:.3f}' for loss in losses)}")
