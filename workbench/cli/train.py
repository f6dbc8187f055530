"""`workbench train`: chats and rollouts to tune a model on, and the tuning."""

from collections.abc import Callable, Iterable
from functools import wraps
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
from workbench.train.data import (
    Conversation,
    Format,
    NoisySchema,
    Pairs,
    write,
    write_lines,
)
from workbench.train.lora import Lora

_SHARED = (
    click.argument("benchmark"),
    options.model,
    options.root,
    options.prompts,
    options.limit,
    options.dollars,
    click.option("--out", type=options.FILE, required=True, help="The file to write."),
    click.option(
        "--format",
        "form",
        type=click.Choice(get_args(Format)),
        default="huggingface",
        show_default=True,
        help="Who reads the file.",
    ),
)
_Made = tuple[Iterable[Conversation], str]  # and their name in the last line


@click.group()
def train() -> None:
    """Export chats to fine-tune a model, and tune one."""


def _exports(make: Callable[..., _Made]) -> Any:
    """A command of `train` that writes the chats of a benchmark to a file."""

    @wraps(make)  # which keeps its own options
    def command(
        benchmark: str,
        out: Path,
        form: Format,
        root: Path | None,
        limit: int | None,
        dollars: float | None,
        prompts: Path | None,
        **given: Any,
    ) -> None:
        options.check_writable(out, *given.get("files", ()), benchmark)
        opened = open_benchmark(benchmark, root).limited(limit)
        with options.open_lab(opened.database, dollars, prompts=prompts) as lab:
            talks, what = make(opened, lab, **given)
            print(f"{out}: {write(talks, out, form):,} {what}\n{lab.client.ledger}")

    added: Any = command
    for option in _SHARED:
        added = option(added)
    return train.command()(added)


@_exports
@options.predictions
@options.system(default="chase")
@options.settings(Pairs)
def pairs(
    benchmark: Benchmark,
    lab: Lab,
    files: tuple[str, ...],
    system: str,
    model: str,
    **given: Any,
) -> _Made:
    """Export chats to fine-tune a selection model.

    Each chat has a right and a wrong candidate of FILE, which has predictions or is a folder of
    such files. Where no candidate is right, the system's generators are asked with the gold
    query as a hint; where there still is none, --gold takes the gold query. Use a training
    split.
    """
    pool = candidates(read_predictions(benchmark, *files))
    return Pairs(options.make_system(system, model), **given)(
        lab, benchmark, pool
    ), "pairs"


@_exports
@options.settings(NoisySchema)
def generator(benchmark: Benchmark, lab: Lab, model: str, wrong: int) -> _Made:
    """Export chats to fine-tune a generator (CHESS, appendix B).

    Each chat has a gold query and a partly wrong schema, with --wrong wrong columns for each
    right one. --model finds keywords. Use a training split.
    """
    return NoisySchema(chess_ir_ss_cg(model).retrieve, wrong)(
        lab, benchmark
    ), "questions"


@_exports
@options.system(default="mac")
def instructions(benchmark: Benchmark, lab: Lab, system: str, model: str) -> _Made:
    """Export chats to fine-tune a system's agents.

    The system answers the questions; the chats are the calls behind each right answer. A stopped
    run continues from the cache. Use a training split.
    """
    talks = training.instructions(benchmark, options.make_system(system, model), lab)
    right, asked = len({talk.question_id for talk in talks}), len(benchmark.questions)
    return talks, f"calls behind {right:,} right answers to {asked:,} questions"


@train.command()
@click.argument("system", type=click.Choice(list(SYSTEMS)))
@click.option(
    "--benchmark", default="bundled-train", show_default=True, help="A training split."
)
@click.option(
    "--samples",
    type=click.IntRange(1),
    default=1,
    show_default=True,
    help="Replies to each prompt.",
)
@options.model
@options.root
@options.prompts
@options.limit
@options.dollars
@click.option("--out", type=options.FILE, required=True, help="The file to write.")
def rollouts(
    system: str,
    benchmark: str,
    samples: int,
    model: str,
    root: Path | None,
    prompts: Path | None,
    limit: int | None,
    dollars: float | None,
    out: Path,
) -> None:
    """Write prompts and replies of a system's generators with their verdicts, as JSON lines.

    Each line has prompt and completion as messages, whether the reply's query is right, and the
    key of the call. Calls that are cached are not asked again.
    """
    options.check_writable(out, benchmark)
    opened = open_benchmark(benchmark, root).limited(limit)
    with options.open_lab(opened.database, dollars, prompts=prompts) as lab:
        made = rewards.rollouts(
            opened, options.make_system(system, model), lab, samples
        )
        right = sum(rollout.correct for rollout in made)
        count = write_lines(made, out)
        print(
            f"{out}: {count:,} rollouts, {right:,} of them right\n{lab.client.ledger}"
        )


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
def lora(data: Path, model: str, out: Path, **given: Any) -> None:
    """Fine-tune a model by LoRA; needs the extra train.

    DATA has chats in Hugging Face's form. The defaults are those of CHASE-SQL's judge; CHESS's
    generator takes --rank 128 --alpha 256 --epochs 2 --batch 32 --rate 1e-4 --four-bits,
    MAC-SQL's SQL-Llama --rate 2e-5 --batch 32 --steps 1000. A stopped training goes on from its
    last epoch.
    """
    losses = Lora(**given)(data, model, out)
    print(f"{out}: the adapter; losses {', '.join(f'{loss:.3f}' for loss in losses)}")
