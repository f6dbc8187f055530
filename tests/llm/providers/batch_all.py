"""Asks providers live and in batches, and prints both as JSON lines. A process of its own, as `ask_all` is."""

import json
import sys
from pathlib import Path

from tests.llm.batch_server import Files
from tests.llm.providers.protocols import base
from tests.llm.server import Server
from workbench.llm.calls.batches import following, gathering
from workbench.llm.client import Client
from workbench.store import Store
from workbench.types import Request

MODELS = {
    "OpenAI": "openai/gpt-4o-mini",
    "OpenAI, reasoning": "openai/o3",
    "Azure": "azure/gpt-4o",
    "vLLM": "hosted_vllm/qwen3",
}
PARAMETERS = {"max_tokens": 100, "seed": 7, "extra_body": {"cache_salt": "a"}}


def main(folder: Path) -> None:
    gathering.QUIET, following.POLL = 0.02, (0.01, 0.02)
    for name, model in MODELS.items():
        text = ({"role": "system", "content": "Answer."}, {"role": "user", "content": name})
        request = Request("p", model, text, PARAMETERS)
        found = []
        with Server() as server:
            files = Files(server)
            url = base(name, server.url.removesuffix("/v1"))
            for way in (False, True):
                with Store(folder / f"{name} {way}.sqlite") as store:
                    answer = Client(store, api_base=url, batch=way).complete(request)
                    rows = store.read("SELECT reply, text FROM calls WHERE key = ?", (answer.key,))
                    stored = [json.loads(rows[0][0]), rows[0][1]] if rows else answer.error
                    found.append({"key": answer.key, "cost": answer.cost, "stored": stored})
            bodies = [server.bodies[0], *files.bodies]
            keys = [headers.get("Authorization", "") for headers in server.headers]
        print(json.dumps([name, found, bodies, keys]), flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
