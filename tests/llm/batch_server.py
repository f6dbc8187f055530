"""OpenAI's files and batches, for the server of these tests: `with Server() as server: Files(server)`.

A batch is answered when it has been looked at `looks` times, its last request first. `bodies` lists the requests of all
batches, and `paid` counts how often each was answered. `plan` holds what becomes of the next batches: in one that is
"expired" or has "errors" every third request has no answer, and an "invalid" one never begins. The list of batches is the
whole account's, the newest first, in pages; `pages` counts those that were asked for.
"""

import json
import threading
import time
from collections import Counter, deque
from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qsl

from tests.llm.server import Server, reply_to


class Files:
    """The files and batches of a server, in memory."""

    def __init__(self, server: Server, *, looks: int = 1) -> None:
        self.looks, self.loses = looks, 0  # replies to `create` that get lost
        self.late = 0.0  # seconds until a batch is in the list
        self.damage = 0  # lines of outputs that get damaged
        self.pages = 0
        self.plan: deque[str] = deque()
        self.paid: Counter[str] = Counter()
        self.files: dict[str, bytes] = {}
        self.batches: dict[str, dict[str, Any]] = {}
        self.bodies: list[dict[str, Any]] = []
        self._looked: Counter[str] = Counter()
        self._lock = threading.Lock()
        server.files = self

    def __call__(self, method: str, path: str, raw: bytes) -> tuple[int, bytes] | None:
        """The status and body for a request; None to end its connection."""
        with self._lock:
            path, _, query = path.partition("?")
            path = path.partition("/v1")[2] or path
            match method, path.removeprefix("/openai").strip("/").split("/"):
                case "POST", ["files"]:
                    return self._upload(raw)
                case "GET", ["files", name, "content"] if name in self.files:
                    return 200, self.files[name]
                case "POST", ["batches"]:
                    return self._create(json.loads(raw))
                case "GET", ["batches"]:
                    return 200, json.dumps(
                        self._page(**dict(parse_qsl(query)))
                    ).encode()
                case "GET", ["batches", name] if name in self.batches:
                    self._look(name)
                    return 200, json.dumps(self.batches[name]).encode()
        return 404, b'{"error": {"message": "there is none", "code": "not_found"}}'

    def _page(self, limit: str = "20", after: str = "") -> dict[str, Any]:
        self.pages += 1
        shown = [b for b in self.batches.values() if time.time() >= b["shown_at"]]
        shown.reverse()
        names = [batch["id"] for batch in shown]
        rest = shown[names.index(after) + 1 :] if after else shown
        size = int(limit)
        return {"object": "list", "data": rest[:size], "has_more": len(rest) > size}

    def add_batches_of_others(self, number: int, created_at: float) -> None:
        for _ in range(number):
            name = f"batch-{len(self.batches)}"
            parts = {
                "id": name,
                "object": "batch",
                "input_file_id": "",
                "status": "completed",
            }
            parts |= {"endpoint": "/v1/chat/completions", "completion_window": "24h"}
            times = {"created_at": int(created_at), "shown_at": 0}
            self.batches[name] = parts | times

    def _upload(self, raw: bytes) -> tuple[int, bytes]:
        edge = raw.split(b"\r\n", 1)[0]
        part = next(part for part in raw.split(edge) if b'name="file"' in part)
        name = f"file-{len(self.files)}"
        self.files[name] = part.split(b"\r\n\r\n", 1)[1].removesuffix(b"\r\n")
        made = {
            "id": name,
            "object": "file",
            "bytes": 1,
            "created_at": 1,
            "filename": name,
        }
        return 200, json.dumps(
            made | {"purpose": "batch", "status": "processed"}
        ).encode()

    def _create(self, body: Mapping[str, Any]) -> tuple[int, bytes] | None:
        name = f"batch-{len(self.batches)}"
        self.batches[name] = {
            "id": name, "object": "batch", "endpoint": "/v1/chat/completions", "completion_window": "24h",
            "input_file_id": body["input_file_id"], "metadata": body.get("metadata") or {}, "created_at": int(time.time()),
            "shown_at": time.time() + self.late,
            "status": "in_progress", "output_file_id": None, "error_file_id": None, "errors": {"data": []},
        }  # fmt: skip
        self.bodies += [item["body"] for item in self._items(name)]
        if self.loses:
            self.loses -= 1
            return None
        return 200, json.dumps(self.batches[name]).encode()

    def _items(self, name: str) -> list[dict[str, Any]]:
        lines = self.files[self.batches[name]["input_file_id"]].splitlines()
        return [json.loads(line) for line in lines if line.strip()]

    def _look(self, name: str) -> None:
        batch = self.batches[name]
        self._looked[name] += 1
        if batch["status"] != "in_progress" or self._looked[name] < self.looks:
            return
        fault = self.plan.popleft() if self.plan else ""
        if fault == "invalid":
            batch |= {
                "status": "failed",
                "errors": {"data": [{"message": "a wrong parameter"}]},
            }
            return
        answered, failed = [], []
        for number, item in enumerate(self._items(name)):
            bad = fault in {"expired", "errors"} and number % 3 == 0
            line = {"id": "r", "custom_id": item["custom_id"]}
            if bad and fault == "expired":
                line |= {
                    "response": None,
                    "error": {"code": "batch_expired", "message": "late"},
                }
            elif bad:
                error = {"message": "something broke", "code": "server_error"}
                line |= {
                    "response": {"status_code": 500, "body": {"error": error}},
                    "error": None,
                }
            else:
                self.paid[json.dumps(item["body"], sort_keys=True)] += 1
                body = reply_to(item["body"])
                line |= {"response": {"status_code": 200, "body": body}, "error": None}
            text = json.dumps(line).encode()
            if self.damage:
                self.damage -= 1
                text = text[: len(text) // 2]
            (failed if bad else answered).insert(0, text + b"\n")
        batch["status"] = "expired" if fault == "expired" else "completed"
        for kind, lines in (("output", answered), ("error", failed)):
            if lines:
                batch[f"{kind}_file_id"] = f"{kind}-{name}"
                self.files[f"{kind}-{name}"] = b"".join(lines)
