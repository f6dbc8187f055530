"""A server of models on loopback whose faults are planned and whose bills are counted.

`plan` holds what the next requests meet, in order of arrival: a name of `FAULTS`, or a status, body and headers. When it
is empty, or for "ok", a request is answered in OpenAI's form, or by `respond`. `asked` counts requests and `paid` those
that a real provider would charge for, each by body. `files` answers requests for files and batches.
"""

import json
import os
import socket
import struct
import threading
import time
from collections import Counter, deque
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


def error(status, code, message, **headers):
    body = {"error": {"message": message, "type": code, "code": code}}
    return (
        status,
        body,
        {name.replace("_", "-"): value for name, value in headers.items()},
    )


FAULTS = {
    "400": error(400, "invalid_request_error", "this parameter is not supported"),
    "401": error(401, "invalid_api_key", "Incorrect API key provided"),
    "404": error(404, "model_not_found", "The model does not exist"),
    "429": error(429, "rate_limit_exceeded", "slow down"),
    "quota": error(429, "insufficient_quota", "You exceeded your current quota"),
    "credit": error(400, "billing", "Your credit balance is too low"),
    "503": error(503, "overloaded", "overloaded"),
    "html": (200, b"<html><body>Bad gateway</body></html>", {"Content-Type": "text/html"}),
    "utf-8": (200, b'{"choices": [{"message": {"content": "\xff\xfe"}}]}', {}),
    "number": (200, {"choices": [{"message": {"content": 7, "role": "assistant"}}]}, {}),
    "nan": (200, json.dumps({"choices": [{"message": {"role": "assistant", "content": "a"}}], "usage": {
        "prompt_tokens": float("nan"), "completion_tokens": 1, "total_tokens": 1}}).encode(), {}),
    "nested": (200, b"[" * 100_000, {}),
    "choices": (200, {"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": []}, {}),
}  # fmt: skip


def reply_to(body, reason="stop", **usage):
    """A plain answer; it repeats the last message, so that a test can tell answers apart."""
    text = f"answer to: {str((body.get('messages') or [{'content': ''}])[-1]['content'])[-200:]}"
    counts = {
        "prompt_tokens": 100,
        "completion_tokens": 20,
        "total_tokens": 120,
    } | usage
    message = {"role": "assistant", "content": text}
    choice = {"index": 0, "finish_reason": reason, "message": message}
    return {"id": "c", "object": "chat.completion", "created": 1, "model": body.get("model", ""),
            "choices": [choice], "usage": counts}  # fmt: skip


class Server:
    """`with Server() as server:` listens at `server.url` until the block ends."""

    def __init__(self, plan=(), *, seconds=0.0, capacity=10**6, respond=None):
        self.plan, self.seconds = deque(plan), seconds
        self.capacity, self.respond = capacity, respond
        self.asked, self.paid = Counter(), Counter()
        self.bodies, self.times = [], []
        self.running, self.files = 0, None
        self.closing, self.lock = threading.Event(), threading.Lock()
        self._http = _Http(("127.0.0.1", 0), _Handler)
        self._http.script = self
        self.root = f"http://127.0.0.1:{self._http.server_address[1]}"
        self.url = f"{self.root}/v1"

    def __enter__(self):
        threading.Thread(
            target=self._http.serve_forever, args=(0.01,), daemon=True
        ).start()
        return self

    def __exit__(self, *_):
        self.closing.set()
        self._http.shutdown()
        self._http.server_close()

    @property
    def calls(self):
        return sum(self.paid.values())

    @property
    def requests(self):
        return sum(self.asked.values())


class _Http(ThreadingHTTPServer):
    daemon_threads, block_on_close, request_queue_size = True, False, 256

    def handle_error(self, request, client_address):
        """A client that went away is what some tests are about."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def log_message(self, *_):
        """Quiet."""

    def do_GET(self):
        self.give_files("GET", b"")

    def give_files(self, method, raw):
        found = self.server.script.files(method, self.path, raw)
        self.send(*found, {}) if found else self.reset()

    def do_POST(self):
        raw = self.rfile.read(int(self.headers["Content-Length"]))
        script = self.server.script
        if script.files and ("/files" in self.path or "/batches" in self.path):
            self.give_files("POST", raw)
            return
        body = json.loads(raw)
        text = json.dumps(body, sort_keys=True)
        with script.lock:
            script.asked[text] += 1
            script.bodies.append(body)
            script.times.append(time.monotonic())
            script.running += 1
            fault = script.plan.popleft() if script.plan else "ok"
            if fault == "ok" and script.running > script.capacity:
                fault = "429"
            found = FAULTS.get(fault, fault) if isinstance(fault, str) else fault
            free = found[0] != 200 if isinstance(found, tuple) else found == "reset"
            script.paid[text] += not free
        try:
            if fault != "429":
                script.closing.wait(script.seconds)
            if fault == "reset":
                self.reset()
            elif isinstance(found, tuple):
                self.send(*found)
            elif fault == "ok" and script.respond:
                self.send(*script.respond(self.path, body))
            elif fault == "cut":
                whole = json.dumps(reply_to(body)).encode()
                self.send(200, whole[:-40], {"Content-Length": str(len(whole))})
                self.close_connection = True
            elif fault == "trickle":
                self.send(200, b"{", {"Content-Length": "1000"})
                while not script.closing.wait(0.1):
                    self.wfile.write(b" ")
            else:
                self.send(200, reply_to(body, "stop" if fault == "ok" else fault), {})
        finally:
            with script.lock:
                script.running -= 1

    def reset(self):
        self.close_connection = True
        self.connection.setsockopt(
            socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0)
        )
        os.close(self.connection.detach())

    def send(self, status, body, headers):
        body = body if isinstance(body, bytes) else json.dumps(body).encode()
        given = {
            "Content-Type": "application/json",
            "Content-Length": str(len(body)),
            **headers,
        }
        self.send_response(status)
        for name, value in given.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)
