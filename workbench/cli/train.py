"""`workbench train ...`: export data to fine-tune a model."""

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path
from typing import Any

import click

from workbench.benchmarks.benchmark import Benchmark
from workbench.benchmarks.load import open_benchmark
from workbench.cli import options
from workbench.cli.options import make_system, open_lab
from workbench.lab import Lab
from workbench.llm.money import Budget
from workbench.train.lora import Lora
from workbench.types import Candidate

_benchmark = click.argument("benchmark")


def _on_candidates(command: Any) -> Any:
    """Add the arguments for a benchmark, its candidates and the output file."""
    command = options.predictions(options.more_predictions(options.out(command)))
    return _benchmark(options.root(command))


@contextmanager
def _candidates(
    out: Path,
    benchmark: str,
    root: Path | None,
    first: Sequence[str],
    more: Sequence[str],
    dollars: float | None = None,
    prompts: Path | None = None,
) -> Iterator[tuple[Lab, Benchmark, dict[str, tuple[Candidate, ...]]]]:
    opened = open_benchmark(benchmark, root)
    from workbench.benchmarks.predictions import candidates, read_predictions  # noqa: PLC0415  pandas

    given = [*first, *more]
    options.check_writable(out, *map(Path, given), Path(benchmark))
    found = candidates(read_predictions(opened, *given))
    with open_lab(opened.database, Budget(dollars), prompts=prompts) as lab:
        yield lab, opened, found


@contextmanager
def _split(
    out: Path,
    benchmark: str,
    root: Path | None,
    limit: int | None,
    dollars: float | None,
    name: str = "",
) -> Iterator[tuple[Lab, Benchmark]]:
    asked = open_benchmark(benchmark, root).limited(limit)
    options.check_writable(out, Path(benchmark))
    with open_lab(asked.database, Budget(dollars), system=name) as lab:
        yield lab, asked


@click.group()
def train() -> None:
    """Export data to fine-tune a model, and tune one."""


@train.command()
@_on_candidates
@options.form(default="openai")
@click.option("--seed", default=0, show_default=True, help="Seed of the order within each pair.")
@click.option(
    "--hints/--no-hints",
    "hinted",
    default=True,
    show_default=True,
    help="Where no candidate is right, ask the system's generators again, with the gold query as a hint.",
)
@click.option("--gold", is_flag=True, help="Where there still is none, take the gold query itself.")
@options.system(
    default="chase",
    help="The system whose judge is tuned; its retrieval and pruning make the prompts' context.",
)
@options.model
@options.prompts
@options.dollars
def pairs(
    out: Path,
    *,
    form: options.Form,
    seed: int,
    hinted: bool,
    gold: bool,
    system: str,
    model: str,
    **given: Any,
) -> None:
    """Export pairs of a right and a wrong candidate, as chats to fine-tune a selection model.

    --model answers the calls of the system's retrieval, pruning and hinted generators; its cached replies are used again.
    Use a training split: the candidates with hints are the gold queries' doubles.
    """
    from workbench.train.export import conversations, write  # noqa: PLC0415
    from workbench.train.pairs import Pairs  # noqa: PLC0415

    asked = make_system(system, model)
    with _candidates(out, **given) as (lab, opened, found):
        made = Pairs(asked, hinted, gold, seed)(lab, opened, found)
        count = write(conversations(lab, made), out, form)
    print(f"{out}: {count:,} pairs")
    print(lab.client.ledger)


@train.command()
@_benchmark
@options.root
@options.out
@options.model
@options.limit
@click.option(
    "--wrong",
    type=click.IntRange(0),
    default=2,
    show_default=True,
    help="Wrong columns for each right one.",
)
@options.form(default="huggingface")
@options.dollars
def generator(out: Path, *, model: str, wrong: int, form: options.Form, **given: Any) -> None:
    """Export gold queries under partly wrong schemas, as chats to fine-tune a generator (CHESS, appendix B).

    --model finds each question's keywords. Use a training split: the file contains the gold queries.
    """
    from workbench.systems.chess import chess_ir_ss_cg  # noqa: PLC0415
    from workbench.train.export import write  # noqa: PLC0415  pandas: half a second
    from workbench.train.noisy_schema import NoisySchema  # noqa: PLC0415

    with _split(out, **given) as (lab, asked):
        made = NoisySchema(chess_ir_ss_cg(model).retrieve, wrong)(lab, asked)
        count = write(made, out, form)
    print(f"{out}: {count:,} questions")
    print(lab.client.ledger)


@train.command()
@_benchmark
@options.root
@options.out
@options.system(default="mac")
@options.named_model(
    "--model",
    default="embedded/parser",
    show_default=True,
    help="The model that answers; its calls behind right answers are exported.",
)
@options.limit
@options.form(default="huggingface")
@options.dollars
def instructions(out: Path, *, system: str, model: str, form: options.Form, **given: Any) -> None:
    """Export the calls of a system's agents behind each right answer, as chats to fine-tune a model.

    The system answers the questions first. Cached calls are not made again, so a stopped run continues. Use a training
    split: the file contains right answers.
    """
    from workbench.train import export  # noqa: PLC0415  pandas: half a second
    from workbench.train import instructions as agents  # noqa: PLC0415

    made = make_system(system, model)
    with _split(out, **given, name=made.name) as (lab, asked):

        def spent() -> str:
            tally = lab.client.ledger.total()
            return f"{tally.calls:,} calls, ${tally.cost:.2f}"

        with options.progress_bar("questions", spent) as progress:
            found = agents.instructions(asked, made, lab, progress=progress)
    count = export.write(found, out, form)
    right = len({talk.question_id for talk in found})
    print(
        f"{out}: {count:,} calls behind {right:,} right answers to {len(asked.questions):,} questions"
    )
    for agent, number in sorted(Counter(talk.agent for talk in found).items()):
        print(f"{number:7,} {agent}")
    print(lab.client.ledger)


def _lora(command: Any) -> Any:
    """An option for each field of `Lora`."""
    for field in reversed(fields(Lora)):
        how: dict[str, Any] = {"default": field.default, "show_default": True}
        how = {"is_flag": True} if field.default is False else how
        command = click.option(f"--{field.name.replace('_', '-')}", **how)(command)
    return command


@train.command()
@click.argument("data", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--model", required=True, help="The folder of a model, or its name at Hugging Face.")
@click.option(
    "--out",
    required=True,
    type=click.Path(file_okay=False, path_type=Path),
    help="A folder for the adapter.",
)
@_lora
def lora(data: Path, model: str, out: Path, **given: Any) -> None:
    """Tune a model by LoRA on conversations in Hugging Face's form; needs the extra train.

    The defaults are those of CHASE-SQL's judge. CHESS's generator: --rank 128 --alpha 256 --epochs 2 --batch 32
    --rate 1e-4 --four-bits. A stopped training goes on from its last epoch.
    """
    losses = Lora(**given)(data, model, out)
    print(f"{out}: the adapter; losses {', '.join(f'{loss:.3f}' for loss in losses)}")
