"""`workbench train ...`: export data to fine-tune a model, and tune one."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from workbench.benchmarks.load import open_benchmark
from workbench.cli import options
from workbench.cli.options import make_system, open_lab
from workbench.train.lora import Lora
from workbench.train.noisy_schema import NoisySchema
from workbench.train.pairs import Pairs


@click.group()
def train() -> None:
    """Export data to fine-tune a model, and tune one."""


def _exports(*more: Any) -> Callable[[Any], Any]:
    """A command of `train` with a benchmark, whose gold the file will hold, and `more` options."""

    def add(command: Any) -> Any:
        shared = (options.model, options.root, options.out, options.limit, options.dollars)
        for option in (*more, click.argument("benchmark"), *shared):
            command = option(command)
        return train.command()(command)

    return add


@_exports(options.form(default="openai"), options.settings(Pairs), options.prompts, options.system(default="chase"),
          options.predictions)  # fmt: skip
def pairs(benchmark: str, out: Path, form: options.Form, hinted: bool, gold: bool, seed: int, system: str, model: str,
          prompts: Path | None, root: Path | None, limit: int | None, dollars: float | None, files: tuple[str, ...]) -> None:  # fmt: skip
    """Export pairs of a right and a wrong candidate, as chats to fine-tune a selection model.

    Each FILE has predictions, or is a folder of such files.
    --model answers the system's retrieval, pruning, and generators that get the gold query as a hint where no candidate
    is right; with --gold, the gold query itself is taken where there still is none. Use a training split.
    """
    from workbench.benchmarks.predictions import candidates, read_predictions  # noqa: PLC0415  pandas
    from workbench.train.export import conversations, write  # noqa: PLC0415

    options.check_writable(out, *map(Path, files), Path(benchmark))
    opened = open_benchmark(benchmark, root).limited(limit)
    found = candidates(read_predictions(opened, *files))
    with open_lab(opened.database, dollars, prompts=prompts) as lab:
        made = Pairs(make_system(system, model), hinted, gold, seed)(lab, opened, found)
        print(f"{out}: {write(conversations(lab, made), out, form):,} pairs\n{lab.client.ledger}")


@_exports(options.form(default="huggingface"), options.settings(NoisySchema))
def generator(benchmark: str, out: Path, form: options.Form, model: str, wrong: int, root: Path | None,
              limit: int | None, dollars: float | None) -> None:  # fmt: skip
    """Export gold queries under partly wrong schemas, as chats to fine-tune a generator (CHESS, appendix B).

    --wrong is the number of wrong columns for each right one; --model finds keywords. Use a training split.
    """
    from workbench.systems.chess import chess_ir_ss_cg  # noqa: PLC0415
    from workbench.train.export import write  # noqa: PLC0415

    options.check_writable(out, Path(benchmark))
    opened = open_benchmark(benchmark, root).limited(limit)
    with open_lab(opened.database, dollars) as lab:
        made = NoisySchema(chess_ir_ss_cg(model).retrieve, wrong)(lab, opened)
        print(f"{out}: {write(made, out, form):,} questions\n{lab.client.ledger}")


@_exports(options.form(default="huggingface"), options.system(default="mac"))
def instructions(benchmark: str, out: Path, form: options.Form, system: str, model: str, root: Path | None,
                 limit: int | None, dollars: float | None) -> None:  # fmt: skip
    """Export the calls of a system's agents behind each right answer, as chats to fine-tune a model.

    The system answers the questions first. Cached calls are not made again, so a stopped run continues. Use a training
    split: the file contains right answers.
    """
    from workbench.train import export  # noqa: PLC0415
    from workbench.train import instructions as agents  # noqa: PLC0415

    options.check_writable(out, Path(benchmark))
    opened, steps = open_benchmark(benchmark, root).limited(limit), make_system(system, model)
    with open_lab(opened.database, dollars, system=steps.name) as lab:
        found = agents.instructions(opened, steps, lab)
        right = len({talk.question_id for talk in found})
        print(f"{out}: {export.write(found, out, form):,} calls behind {right:,} right answers to "
              f"{len(opened.questions):,} questions\n{lab.client.ledger}")  # fmt: skip


@train.command()
@click.argument("data", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--model", required=True, help="The folder of a model, or its name at Hugging Face.")
@click.option(
    "--out",
    required=True,
    type=click.Path(file_okay=False, path_type=Path),
    help="A folder for the adapter.",
)
@options.settings(Lora)
def lora(data: Path, model: str, out: Path, **given: Any) -> None:
    """Tune a model by LoRA on conversations in Hugging Face's form; needs the extra train.

    The defaults are those of CHASE-SQL's judge. CHESS's generator: --rank 128 --alpha 256 --epochs 2 --batch 32
    --rate 1e-4 --four-bits. A stopped training goes on from its last epoch.
    """
    losses = Lora(**given)(data, model, out)
    print(f"{out}: the adapter; losses {', '.join(f'{loss:.3f}' for loss in losses)}")
