import subprocess
import sys

import pytest

from tests.llm.wire import ROOT
from workbench.errors import ProviderError
from workbench.llm.client import Client
from workbench.store import Store
from workbench.types import Request

OURS = """
import sys
from dataclasses import replace
from pathlib import Path
from workbench.llm import provider
from workbench.llm.remote.prices import price
from workbench.llm.client import Client
from workbench.store import Store
from workbench.types import Request

def echo(request, seed):
    text = f"{request.messages[-1]['content']} {request.parameters['temperature']} {seed}"
    return {"choices": [{"message": {"content": text}, "finish_reason": "stop"}]}

provider.register("echo", echo)
with Store(Path(sys.argv[1])) as store:
    client = Client(store)
    request = Request("p", "echo/one", [{"role": "user", "content": "hello"}], {"temperature": 0.5})
    answer = client.complete(request)
    again = client.ask_again(request)
    other = client.complete(replace(request, sample=1))
    assert answer.text.startswith("hello 0.5 seed:"), answer
    assert again.text == answer.text, again
    assert other.text != answer.text, other
    assert answer.cost == 0.0, answer
    assert price("echo/one").input == 0.0
    assert "litellm" not in sys.modules
    print("ok")
"""

NOWHERE = """
import socket, sys
from pathlib import Path

def deny(host, *_, **__):
    print("asked for", host)
    raise OSError("no network")

known = socket.getaddrinfo
socket.getaddrinfo = lambda host, *a, **k: known(host, *a, **k) if host == "127.0.0.1" else deny(host)
from tests.llm.server import Server
from tests.llm.wire import ask
from workbench.llm.client import Client
from workbench.store import Store

with Server() as server, Store(Path(sys.argv[1])) as store:
    print(Client(store, api_base=server.url).complete(ask()).text)
"""


def run(script: str, *arguments: object) -> str:
    command = [sys.executable, "-c", script, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT).stdout


def test_an_unknown_provider_stops_the_run(store: Store, litellm: None) -> None:
    message = {"role": "user", "content": "hello"}
    with pytest.raises(ProviderError, match="nobody/one"):
        Client(store).complete(Request("p", "nobody/one", (message,), {}))


def test_a_provider_of_our_own_is_given_a_seed_for_each_sample_and_costs_nothing(
    tmp_path: object,
) -> None:
    assert run(OURS, f"{tmp_path}/lab.sqlite") == "ok\n"


def test_a_call_looks_up_no_other_host_than_its_providers(tmp_path: object) -> None:
    assert run(NOWHERE, f"{tmp_path}/lab.sqlite") == "answer to: hello\n"


THREADS = """
import sys, threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from workbench.llm import provider
from workbench.llm.client import Client
from workbench.store import Store
from workbench.types import Request

inside = []

def alone(request, seed):
    inside.append(1)
    threading.Event().wait(0.02)
    text = str(len(inside))
    inside.pop()
    return {"choices": [{"message": {"content": text}, "finish_reason": "stop"}]}

provider.register("alone", alone)
with Store(Path(sys.argv[1])) as store:
    client = Client(store)
    asks = [Request("p", "alone/one", [{"role": "user", "content": str(n)}]) for n in range(8)]
    with ThreadPoolExecutor(8) as threads:
        print({answer.text for answer in threads.map(client.complete, asks)})
"""


def test_a_provider_of_our_own_is_asked_by_one_thread_at_a_time(tmp_path: object) -> None:
    assert run(THREADS, f"{tmp_path}/lab.sqlite") == "{'1'}\n"
