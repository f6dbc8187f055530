"""`workbench train lora`: the LoRA trainer as a command."""

import os
from pathlib import Path
from typing import Any

import click

from workbench.cli import options
from workbench.train.tuning.local import adapter_folder
from workbench.train.tuning.lora import Lora

_DEFAULTS = Lora()


@click.command(context_settings={"show_default": True})
@click.argument("pairs", type=click.Path(path_type=Path))
@click.option(
    "--model",
    required=True,
    help="The language model to tune: a Hugging Face folder, a GGUF file, or smollm2.",
)
@click.option("--name", required=True, help="The tuned model is called local/NAME.")
@click.option("--download", is_flag=True, help="Fetch the model, named as on Hugging Face.")
@click.option("--rank", default=_DEFAULTS.rank)
@click.option("--epochs", default=_DEFAULTS.epochs)
@click.option("--alpha", default=_DEFAULTS.alpha, help="The adapter is scaled by alpha / rank.")
@click.option("--dropout", default=_DEFAULTS.dropout)
@click.option("--learning-rate", default=_DEFAULTS.learning_rate)
@click.option("--batch", default=_DEFAULTS.batch, help="Conversations per optimisation step.")
@click.option(
    "--micro-batch",
    default=_DEFAULTS.micro_batch,
    help="Conversations that pass through the model at once.",
)
@click.option("--max-tokens", default=_DEFAULTS.max_tokens, help="Leave out longer conversations.")
@click.option("--checkpointing", is_flag=True, help="Use less memory and more time.")
@click.option(
    "--four-bits", is_flag=True, help="Hold the model in 4 bits, by bitsandbytes and on a GPU."
)
@click.option("--seed", default=_DEFAULTS.seed)
def lora(pairs: Path, model: str, name: str, download: bool, **settings: Any) -> None:
    """Tune a language model on PAIRS, JSON lines with `messages`, by a LoRA adapter.

    Runs on the GPU where there is one. A stopped run continues after its last complete epoch when it is run again.
    """
    out = adapter_folder(name)
    if not download:
        os.environ["HF_HUB_OFFLINE"] = "1"  # read when huggingface_hub is imported
    with options.progress_bar("steps") as progress:
        tuning = Lora(**settings)(pairs, model, out, download=download, progress=progress)
    left_out = f", {tuning.left_out} too long and left out" if tuning.left_out else ""
    print(f"{tuning.examples:,} conversations{left_out}")
    print("loss by epoch: " + " ".join(f"{loss:.4f}" for loss in tuning.losses))
    print(f"{out}: the adapter, and lora.json with its model, data and settings")
    print(f"Use it as the model local/{name}.")
