"""A chat-completions server on loopback whose faults are scripted and whose bills are counted.

`plan` holds what the next requests meet, in order of arrival; when it is empty, or for `"ok"`, a request
is answered. A request that has one of the parameters that `refuses` names is refused with its message, in
OpenAI's form. The replies are OpenAI's chat completions, or what `respond` makes of a request's path and body:
a status, a body and headers. `files` answers requests for files and batches. `asked` counts requests, `paid` those that a real provider would charge for, each by body.
"""

import json
import os
import socket
import struct
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

ERRORS = {
    "400": (400, "invalid_request_error", "this parameter is not supported"),
    "401": (401, "invalid_api_key", "Incorrect API key provided"),
    "402": (402, "payment_required", "your credit is used up"),
    "404": (404, "model_not_found", "The model does not exist"),
    "429": (429, "rate_limit_exceeded", "slow down"),
    "quota": (429, "insufficient_quota", "You exceeded your current quota"),
    "500": (500, "server_error", "something broke"),
    "503": (503, "overloaded", "overloaded"),
    "529": (529, "overloaded", "overloaded"),
}


Respond = Callable[[str, dict[str, Any]], tuple[int, Any, Mapping[str, str]]]


class Server:
    """`with Server() as server:` listens at `server.url` until the block ends."""

    def __init__(
        self, plan: Iterable[str] = (), *, seconds: float = 0.0, retry_after: str = "0.2"
    ) -> None:
        self.plan = deque(plan)
        self.seconds = seconds
        self.retry_after = retry_after
        self.asked: Counter[str] = Counter()
        self.paid: Counter[str] = Counter()
        self.bodies: list[dict[str, Any]] = []
        self.times: list[float] = []
        self.headers: list[dict[str, str]] = []
        self.running = 0
        self.most_at_once = 0
        self.capacity = 10**6
        self.refuses: dict[str, str] = {}
        self.respond: Respond | None = None
        self.files: Callable[[str, str, bytes], tuple[int, bytes] | None] | None = None
        self.reasoning_tokens = 0
        self.closing = threading.Event()
        self.lock = threading.Lock()
        self._http = _Http(("127.0.0.1", 0), _Handler)
        self._http.script = self
        self.url = f"http://127.0.0.1:{self._http.server_address[1]}/v1"
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.01,), daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.closing.set()
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()

    @property
    def calls(self) -> int:
        return sum(self.paid.values())


class _Http(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 256
    script: Server

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that went away is what some tests are about."""


def asked_in(body: dict[str, Any]) -> str:
    """The end of the last message."""
    messages = body.get("messages") or [{"content": ""}]
    return str(messages[-1]["content"])[-200:]


def reply_to(body: dict[str, Any]) -> dict[str, Any]:
    """A plain answer; it repeats the last message, so that a test can tell answers apart."""
    text = f"answer to: {asked_in(body)}"
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1700000000,
        "model": body.get("model", ""),
        "choices": [
            {
                "index": 0,
                "finish_reason": "stop",
                "message": {"role": "assistant", "content": text},
            }
        ],
        "usage": {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120},
    }


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: _Http

    def log_message(self, *_: object) -> None:
        """Quiet."""

    def do_GET(self) -> None:
        self.give_files("GET", b"")

    def give_files(self, method: str, raw: bytes) -> None:
        files = self.server.script.files
        assert files
        if found := files(method, self.path, raw):
            self.send(found[0], found[1])
        else:
            self.answer("reset", {"choices": [{}]})

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers["Content-Length"]))
        if "/files" in self.path or "/batches" in self.path:
            self.give_files("POST", raw)
            return
        body = json.loads(raw)
        text = json.dumps(body, sort_keys=True)
        script = self.server.script
        with script.lock:
            script.asked[text] += 1
            script.bodies.append(body)
            script.times.append(time.monotonic())
            script.headers.append(dict(self.headers))
            script.running += 1
            script.most_at_once = max(script.most_at_once, script.running)
            fault = script.plan.popleft() if script.plan else "ok"
            if fault == "ok" and script.running > script.capacity:
                fault = "429"
            if unsupported := next((name for name in script.refuses if name in body), ""):
                fault = f"refuses {unsupported}"
        try:
            if fault.startswith("refuses "):
                self.refuse(unsupported)
                return
            if fault not in ERRORS and fault not in {"429-after", "reset"}:
                with script.lock:
                    script.paid[text] += 1
            script.closing.wait(script.seconds)
            reply = reply_to(body)
            if script.reasoning_tokens:
                details = {"reasoning_tokens": script.reasoning_tokens}
                reply["usage"]["completion_tokens_details"] = details
                reply["usage"]["completion_tokens"] += script.reasoning_tokens
            if script.respond and fault == "ok":
                status, found, headers = script.respond(self.path, body)
                self.send(status, json.dumps(found).encode(), headers)
            else:
                self.answer(fault, reply)
        finally:
            with script.lock:
                script.running -= 1

    def answer(self, fault: str, reply: dict[str, Any]) -> None:
        choice = reply["choices"][0]
        if fault == "429-after":
            self.error("429", {"Retry-After": self.server.script.retry_after})
        elif fault in ERRORS:
            self.error(fault, {})
        elif fault == "reset":
            self.close_connection = True
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            os.close(self.connection.detach())
        elif fault == "trickle":
            self.trickle(json.dumps(reply).encode())
        elif fault == "half":
            self.send(200, json.dumps(reply).encode()[:-40])
        elif fault == "cut":
            self.send(200, json.dumps(reply).encode()[:-40], length=40)
        elif fault == "html":
            self.send(200, b"<html><body>Bad gateway</body></html>", {"Content-Type": "text/html"})
        else:
            if fault == "slow":
                self.server.script.closing.wait(5)
            elif fault == "empty":
                reply["choices"] = []
            elif fault == "null":
                choice["message"]["content"] = None
            elif fault == "filter":
                choice["message"]["content"] = None
                choice["finish_reason"] = "content_filter"
            elif fault == "length":
                choice["finish_reason"] = "length"
            self.send(200, json.dumps(reply).encode())

    def refuse(self, parameter: str) -> None:
        error = {
            "message": self.server.script.refuses[parameter],
            "type": "invalid_request_error",
            "param": parameter,
            "code": "unsupported_value",
        }
        self.send(400, json.dumps({"error": error}).encode())

    def error(self, fault: str, headers: dict[str, str]) -> None:
        status, code, message = ERRORS[fault]
        told = {"error": {"message": message, "type": code, "code": code}}
        self.send(status, json.dumps(told).encode(), headers)

    def send(
        self, status: int, body: bytes, headers: Mapping[str, str] | None = None, length: int = 0
    ) -> None:
        self.send_response(status)
        for name, value in {"Content-Type": "application/json", **(headers or {})}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body) + length))
        self.end_headers()
        self.wfile.write(body)
        if length:
            self.close_connection = True

    def trickle(self, body: bytes) -> None:
        """A byte now and then: no read ever times out, and the whole takes minutes."""
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        started = time.monotonic()
        for byte in body:
            if self.server.script.closing.wait(0.1) or time.monotonic() - started > 60:
                return
            self.wfile.write(bytes([byte]))
            self.wfile.flush()
