"""`workbench train generator`: data to fine-tune CHESS's candidate generator, as a command."""

from pathlib import Path
from typing import Literal

import click

from workbench.benchmarks.named import open_benchmark
from workbench.cli import options
from workbench.db.execute import Executor
from workbench.lab import Lab
from workbench.llm.budget import Budget
from workbench.llm.client import Client
from workbench.store import Store


@click.command()
@click.argument("benchmark")
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
def generator(
    benchmark: str,
    root: Path | None,
    out: Path,
    *,
    model: str,
    limit: int | None,
    wrong: int,
    form: Literal["gemini", "openai", "huggingface"],
    dollars: float | None,
) -> None:
    """Export gold queries under partly wrong schemas, as chats to fine-tune a generator (CHESS, appendix B).

    --model finds each question's keywords. Use a training split: the file contains the gold queries.
    """
    from workbench.systems.chess import chess_ir_ss_cg  # noqa: PLC0415
    from workbench.train.export import write  # noqa: PLC0415  pandas: half a second
    from workbench.train.noisy_schema import NoisySchema  # noqa: PLC0415

    asked = open_benchmark(benchmark, root).limited(limit)
    options.check_writable(out, Path(benchmark))
    with Store() as store, Executor(store) as executor:
        lab = Lab(Client(store, budget=Budget(dollars)), executor, asked.database)
        made = NoisySchema(chess_ir_ss_cg(model).retrieve, wrong)(lab, asked)
        count = write(made, out, form)
    print(f"{out}: {count:,} questions")
    print(lab.client.ledger)
