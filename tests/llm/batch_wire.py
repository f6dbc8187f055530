"""Batches for tests that need real HTTP from fresh processes and cannot wait for LiteLLM's import."""

import http.client
import json
from collections.abc import Iterator, Sequence
from typing import Any
from urllib.parse import urlsplit

import orjson

from workbench.llm.provider import Refusal
from workbench.llm.remote.batch_lines import Item
from workbench.llm.remote.batches import Status
from workbench.llm.remote.refusals import Gone
from workbench.types import Request


class Wire:
    """A `BatchService` of OpenAI's files and batches, as plain HTTP."""

    def unable(self, model: str) -> str:
        return "" if model.startswith("openai/") else "it has none"

    def line(self, request: Request, key: str) -> bytes:
        body = {"model": request.model, "messages": list(request.messages), **request.parameters}
        line = {"custom_id": key, "method": "POST", "url": "/v1/chat/completions", "body": body}
        return orjson.dumps(line) + b"\n"

    def upload(self, model: str, url: str, name: str, lines: Sequence[bytes]) -> str:
        del model
        head = f'--edge\r\nContent-Disposition: form-data; name="file"; filename="{name}.jsonl"\r\n\r\n'
        body = head.encode() + b"".join(lines) + b"\r\n--edge--\r\n"
        kind = {"Content-Type": "multipart/form-data; boundary=edge"}
        return str(_ask(url, "POST", "/files", body, kind)["id"])

    def create(self, model: str, url: str, name: str, file: str) -> str:
        del model
        body = {"input_file_id": file, "metadata": {"workbench": name}}
        kind = {"Content-Type": "application/json"}
        return str(_ask(url, "POST", "/batches", json.dumps(body).encode(), kind)["id"])

    def find(self, model: str, url: str, name: str) -> str:
        del model
        found = _ask(url, "GET", "/batches")["data"]
        return next((one["id"] for one in found if one["metadata"].get("workbench") == name), "")

    def look(self, model: str, url: str, batch: str) -> Status:
        del model
        found = _ask(url, "GET", f"/batches/{batch}")
        state = {"completed": "ended", "expired": "ended", "failed": "failed"}
        files = tuple(filter(None, (found["output_file_id"], found["error_file_id"])))
        errors = tuple((e["message"], e.get("line") or 0) for e in found["errors"]["data"])
        answers = found["request_counts"]["completed"]
        return Status(state.get(found["status"], "running"), files, answers, errors)  # type: ignore[arg-type]

    def read(self, model: str, url: str, file: str) -> Iterator[Item | None]:
        del model
        for line in _ask(url, "GET", f"/files/{file}/content").splitlines():
            try:
                item = orjson.loads(line)
            except ValueError:
                yield None
                continue
            response = item["response"]
            if response and response["status_code"] == 200:
                yield Item(item["custom_id"], response["body"])
            else:
                yield Item(item["custom_id"], Refusal("server", "it failed", again=True))


def _ask(
    url: str, method: str, path: str, body: bytes = b"", headers: dict[str, str] | None = None
) -> Any:
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=30)
    try:
        connection.request(method, f"{parts.path}{path}", body, headers or {})
        response = connection.getresponse()
        read = response.read()
    except (OSError, http.client.HTTPException) as error:
        raise Refusal("connection", str(error), again=True) from error
    finally:
        connection.close()
    if response.status == 404:
        raise Gone("rejected", "no such batch", fatal=True)
    if response.status != 200:
        raise Refusal("server", f"status {response.status}", again=True)
    return read if path.endswith("/content") else orjson.loads(read)
