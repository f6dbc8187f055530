"""`workbench train ...`: export data to fine-tune a model, and tune one."""

from collections.abc import Callable, Iterable
from functools import wraps
from pathlib import Path
from typing import Any, get_args

import click

from workbench.benchmarks.benchmark import Benchmark
from workbench.benchmarks.load import open_benchmark
from workbench.benchmarks.predictions import candidates, read_predictions
from workbench.cli import options
from workbench.lab import Lab
from workbench.systems.chess import chess_ir_ss_cg
from workbench.train import instructions as agents
from workbench.train.export import Conversation, Format, write
from workbench.train.lora import Lora
from workbench.train.noisy_schema import NoisySchema
from workbench.train.pairs import Pairs

_SHARED = (
    click.argument("benchmark"), options.model, options.root, options.prompts, options.limit, options.dollars,
    click.option("--out", type=options.FILE, required=True, help="The file to write."),
    click.option("--format", "form", type=click.Choice(get_args(Format)), default="huggingface", show_default=True,
                 help="Who reads the file."),
)  # fmt: skip
_Made = tuple[Iterable[Conversation], str]  # and what they are


@click.group()
def train() -> None:
    """Export data to fine-tune a model, and tune one."""


def _exports(*more: Any) -> Callable[[Callable[..., _Made]], Any]:
    """A command of `train` with a benchmark, whose gold the file will hold, and `more` options."""

    def add(make: Callable[..., _Made]) -> Any:
        @wraps(make)
        def command(benchmark: str, out: Path, form: Format, root: Path | None, limit: int | None,
                    dollars: float | None, prompts: Path | None, **given: Any) -> None:  # fmt: skip
            options.check_writable(out, *given.get("files", ()), benchmark)
            opened = open_benchmark(benchmark, root).limited(limit)
            with options.open_lab(opened.database, dollars, prompts=prompts) as lab:
                made, what = make(opened, lab, **given)
                print(f"{out}: {write(made, out, form):,} {what}\n{lab.client.ledger}")

        added: Any = command
        for option in (*more, *_SHARED):
            added = option(added)
        return train.command()(added)

    return add


@_exports(options.settings(Pairs), options.system(default="chase"), options.predictions)
def pairs(benchmark: Benchmark, lab: Lab, files: tuple[str, ...], system: str, model: str, **given: Any) -> _Made:  # fmt: skip
    """Export pairs of a right and a wrong candidate, as chats to fine-tune a selection model.

    Each FILE has predictions, or is a folder of such files.
    --model answers the system's retrieval, pruning, and generators that get the gold query as a hint where no candidate
    is right; with --gold, the gold query itself is taken where there still is none. Use a training split.
    """
    found = candidates(read_predictions(benchmark, *files))
    return Pairs(options.make_system(system, model), **given)(lab, benchmark, found), "pairs"


@_exports(options.settings(NoisySchema))
def generator(benchmark: Benchmark, lab: Lab, model: str, wrong: int) -> _Made:
    """Export gold queries under partly wrong schemas, as chats to fine-tune a generator (CHESS, appendix B).

    --wrong is the number of wrong columns for each right one; --model finds keywords. Use a training split.
    """
    return NoisySchema(chess_ir_ss_cg(model).retrieve, wrong)(lab, benchmark), "questions"


@_exports(options.system(default="mac"))
def instructions(benchmark: Benchmark, lab: Lab, system: str, model: str) -> _Made:
    """Export the calls of a system's agents behind each right answer, as chats to fine-tune a model.

    The system answers the questions first. Cached calls are not made again, so a stopped run continues. Use a training
    split: the file contains right answers.
    """
    found = agents.instructions(benchmark, options.make_system(system, model), lab)
    right, asked = len({talk.question_id for talk in found}), len(benchmark.questions)
    return found, f"calls behind {right:,} right answers to {asked:,} questions"


@train.command()
@click.argument("data", type=options.FILE)
@click.option("--model", required=True, help="The folder of a model, or its name at Hugging Face.")
@click.option(
    "--out", required=True, type=click.Path(path_type=Path), help="A folder for the adapter."
)
@options.settings(Lora)
def lora(data: Path, model: str, out: Path, **given: Any) -> None:
    """Tune a model by LoRA on conversations in Hugging Face's form; needs the extra train.

    The defaults are those of CHASE-SQL's judge. CHESS's generator: --rank 128 --alpha 256 --epochs 2 --batch 32
    --rate 1e-4 --four-bits. A stopped training goes on from its last epoch.
    """
    losses = Lora(**given)(data, model, out)
    print(f"{out}: the adapter; losses {', '.join(f'{loss:.3f}' for loss in losses)}")
