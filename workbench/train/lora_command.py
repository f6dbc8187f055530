"""`workbench train lora`: the LoRA trainer as a command."""

import os
from pathlib import Path
from typing import Any

import click
from tqdm import tqdm

from workbench.train.lora import Lora

_DEFAULTS = Lora()


@click.command(context_settings={"show_default": True})
@click.argument("pairs", type=click.Path(path_type=Path))
@click.option("--model", required=True, metavar="FOLDER", help="The language model to tune.")
@click.option(
    "--out", type=click.Path(path_type=Path), required=True, help="Where the adapter is left."
)
@click.option("--download", is_flag=True, help="Fetch the model, named as on Hugging Face.")
@click.option("--rank", default=_DEFAULTS.rank)
@click.option("--epochs", default=_DEFAULTS.epochs)
@click.option("--alpha", default=_DEFAULTS.alpha, help="The adapter counts alpha / rank times.")
@click.option("--dropout", default=_DEFAULTS.dropout)
@click.option("--learning-rate", default=_DEFAULTS.learning_rate)
@click.option("--batch", default=_DEFAULTS.batch, help="Conversations of one step.")
@click.option(
    "--micro-batch",
    default=_DEFAULTS.micro_batch,
    help="So many of them pass through the model at once.",
)
@click.option(
    "--max-tokens", default=_DEFAULTS.max_tokens, help="Longer conversations are left out."
)
@click.option("--checkpointing", is_flag=True, help="Less memory, more time.")
@click.option("--seed", default=_DEFAULTS.seed)
def lora(pairs: Path, model: str, out: Path, download: bool, **settings: Any) -> None:
    """Tune a language model on PAIRS, JSON lines with `messages`, by a LoRA adapter.

    Runs on the GPU where there is one. When it was stopped, run it again: it goes on after the last epoch
    that was finished.
    """
    if not download:
        os.environ["HF_HUB_OFFLINE"] = "1"  # read when huggingface_hub is imported
    with tqdm(unit=" steps", disable=None, leave=False) as bar:

        def show(done: int, total: int) -> None:
            bar.total = total
            bar.n = done
            bar.refresh()

        tuning = Lora(**settings)(pairs, model, out, download=download, progress=show)
    left_out = f", {tuning.left_out} too long and left out" if tuning.left_out else ""
    print(f"{tuning.examples:,} conversations{left_out}")
    print("loss by epoch: " + " ".join(f"{loss:.4f}" for loss in tuning.losses))
    print(f"{out}: the adapter, and in lora.json what it came from")
