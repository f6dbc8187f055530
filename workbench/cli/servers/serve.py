"""`workbench serve`: a language model in a GGUF file, served to this computer alone."""

import os
import signal
import threading
from pathlib import Path

import click

from workbench.llm.serve import SMOLLM2, serving, smollm2


@click.command(context_settings={"show_default": True})
@click.argument("model")
@click.option("--port", type=click.IntRange(1, 65535), default=8012)
@click.option("--threads", type=click.IntRange(1), default=1, help="Threads that compute.")
@click.option("--at-once", type=click.IntRange(1), default=1, help="Calls answered together.")
@click.option("--context", type=click.IntRange(512), default=8192, help="Tokens of each call.")
def serve(model: str, port: int, threads: int, at_once: int, context: int) -> None:
    """Serve MODEL, a GGUF file or smollm2, by OpenAI's protocol until Ctrl-C.

    The server yields the processor to other programs. A cached call belongs to its server's address, so keep one port.
    """
    os.nice(10)
    file = smollm2() if model == SMOLLM2 else Path(model)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with serving(file, port=port, threads=threads, at_once=at_once, context=context) as address:
        print(f"{file.name} is served at {address} (Ctrl-C ends it). In another terminal:")
        print(f"export OPENAI_API_BASE={address} OPENAI_API_KEY=none")
        print(
            f'workbench ask harbour "How many tugs are there?" --model openai/{file.stem}',
            flush=True,
        )
        try:
            threading.Event().wait()
        except KeyboardInterrupt:
            return
