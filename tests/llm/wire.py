"""A sender for tests that need real HTTP from fresh processes and cannot wait for LiteLLM's import."""

import http.client
import json
import subprocess
import sys
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from workbench.llm.provider import Refusal
from workbench.types import Request

ROOT = Path(__file__).parents[2]


def ask(text: str = "hello", *, sample: int = 0, prompt: str = "p", **parameters: Any) -> Request:
    message = {"role": "user", "content": text}
    return Request(prompt, "openai/gpt-4o-mini", (message,), parameters, sample)


def send(request: Request, key: str, url: str, seconds: float) -> dict[str, Any]:
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=seconds)
    try:
        body = {
            "model": request.model,
            "messages": list(request.messages),
            "sample": request.sample,
            **request.parameters,
        }
        connection.request("POST", f"{parts.path}/chat/completions", json.dumps(body))
        response = connection.getresponse()
        if response.status != 200:
            raise Refusal("server", f"status {response.status}", again=True)
        return json.loads(response.read())
    except OSError as error:
        raise Refusal("connection", str(error), again=True) from error
    finally:
        connection.close()


START = """
import sys, threading, time
from pathlib import Path
from tests.llm.wire import ask, send
from workbench.llm.client import Client
from workbench.store import Store
store = Store(Path(sys.argv[1]))
client = Client(store, send=send, api_base=sys.argv[2], at_once=8)
"""


def python(script: str, *arguments: object, **options: Any) -> subprocess.Popen[str]:
    """A fresh process that runs the script with a client for (store, url)."""
    command = [sys.executable, "-c", START + script, *map(str, arguments)]
    return subprocess.Popen(command, cwd=ROOT, text=True, **options)
