"""Asks a server for every case, and prints what was read as JSON lines. A process of its own: LiteLLM leaves
connections open, which pytest would report in tests of other files."""

import json
import sys
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

from tests.llm.providers.case import Case
from tests.llm.providers.cases import CASES
from tests.llm.providers.protocols import MODELS, base
from tests.llm.server import Server
from workbench.errors import ProviderError
from workbench.llm.client import Client
from workbench.llm.provider import Refusal, send
from workbench.store import Store
from workbench.types import Request


def main(folder: Path) -> None:
    """A case that is answered is asked for through a client; one that is refused is sent by itself, too."""
    with Server() as server, Store(folder / "lab.sqlite") as store:
        root = server.url.removesuffix("/v1")
        for (name, behaviour), case in CASES.items():
            server.respond = partial(respond, case)
            text = {"role": "user", "content": behaviour}
            request = Request("p", MODELS[name], ({"role": "system", "content": "Answer."}, text))
            url = base(name, root)
            found = refused(request, url) if case.status != 200 else {}
            if not found.get("again"):  # a client would wait
                found = answered(Client(store, api_base=url), request, store) | found
            print(json.dumps([name, behaviour, found]), flush=True)


def respond(case: Case, path: str, _body: object) -> tuple[int, Any, Mapping[str, str]]:
    """What the case's server sends; Ollama's is also asked what the model is, and need not say."""
    if path.endswith("/api/show"):
        return 404, {}, {}
    return case.status, case.body, case.headers


def answered(client: Client, request: Request, store: Store) -> dict[str, Any]:
    try:
        answer = client.complete(request)
    except ProviderError as error:
        return {"error": str(error)}
    rows = store.read("SELECT reply FROM calls WHERE key = ?", (answer.key,))
    reply = json.loads(rows[0][0]) if rows else {}
    message = reply["choices"][0]["message"] if rows else {}
    usage = answer.usage
    return {
        "text": answer.text,
        "reasoning": message.get("reasoning_content"),
        "usage": [usage.input, usage.output, usage.cached],
        "cost": answer.cost,
        "finish_reason": answer.finish_reason,
        "fault": answer.fault,
        "kept": bool(rows),
    }


def refused(request: Request, url: str) -> dict[str, Any]:
    try:
        send(request, "", url, 30.0)
    except Refusal as refusal:
        names = ("fault", "fatal", "again", "wait")
        return {name: getattr(refusal, name) for name in names} | {"error": str(refusal)}
    return {}


if __name__ == "__main__":
    main(Path(sys.argv[1]))
