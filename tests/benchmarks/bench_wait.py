"""How long a run waits beyond what its provider needs: wall time over the bound, and processor time for each call.

    python tests/benchmarks/bench_wait.py [--questions 200] [--seconds 1.0] [--allowed 64 256 1024] [--systems mac chase]

A server in a process of its own speaks OpenAI's chat completions over HTTP, and calls reach it as any provider, by
LiteLLM. It answers each call after `--seconds`, and with a 429 while more than the allowed number are under way. Its
replies are written beforehand: every column is relevant, candidates disagree, one fails and is repaired, a judge prefers
the first. The bound is the larger of two: calls / allowed, and the longest chain of calls of one question in which each
needs the one before. Each run begins with an empty cache in a fresh process. Systems: MAC-SQL, and CHASE-SQL with one
candidate of each generator and columns asked about in groups of 12.

The bars are 1.25 times the bound and 3 ms of processor time a call, imports left out. Wall time says something only on a
machine with nothing else to do: the load is printed beside it. More questions than the benchmark has are asked again
under other ids, with a number in their text.
"""

import argparse
import asyncio
import json
import os
import re
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from tests.llm.providers.protocols import chat, chat_usage, error  # noqa: E402
from workbench.benchmarks.bundled import load_bundled  # noqa: E402
from workbench.lab import Lab  # noqa: E402
from workbench.llm import provider  # noqa: E402
from workbench.llm.client import Client  # noqa: E402
from workbench.llm.provider import Refusal, Reply  # noqa: E402
from workbench.sql.executor import Executor  # noqa: E402
from workbench.store import Store  # noqa: E402
from workbench.study.solving import solve_all  # noqa: E402
from workbench.systems.chase_sql import chase_sql  # noqa: E402
from workbench.systems.mac_sql import mac_sql  # noqa: E402
from workbench.systems.system import solve  # noqa: E402
from workbench.types import Question, Request  # noqa: E402

MODEL = "openai/stand-in"
REPLIES = {
    "retrieve/keywords": '["name"]',
    "prune/filter_column": '{"relevant": "yes"}',
    "prune/mac_selector": "{}",
    "generate/divide_and_conquer": "```sql\nSELECT 1\n```",
    "generate/query_plan": "```sql\nSELECT 2\n```",
    "generate/synthetic_examples": "```sql\nSELECT nothing\n```",
    "generate/examples_by_feature": '{"question": "How many?", "sql": "SELECT 1"}',
    "generate/examples_by_column": '{"question": "Which?", "sql": "SELECT 2"}',
    "generate/decomposer": "```sql\nSELECT nothing\n```",
    "fix/fixer": "```sql\nSELECT 3\n```",
    "fix/refiner": "```sql\nSELECT 3\n```",
    "select/pairwise": "A",
}
SYSTEMS = {"mac": lambda: mac_sql(MODEL), "chase": lambda: chase_sql(MODEL, samples=1, group=12)}


def reply(request: Mapping[str, Any]) -> str:
    """The reply to a chat whose model has the name of a prompt."""
    prompt = request["model"]
    if prompt != "prune/filter_column_group":
        return REPLIES[prompt]
    _, _, shown = request["messages"][-1]["content"].rpartition("## Columns\n")
    columns = re.findall("^Column: (.+)$", shown, re.MULTILINE)
    return "\n".join(json.dumps({"column": column, "relevant": "yes"}) for column in columns)


async def serve(allowed: int, seconds: float) -> None:
    """A server that knows one request: a chat whose model has the name of a prompt."""
    running = 0

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal running
        with suppress(ConnectionError, asyncio.IncompleteReadError):
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode()
                length = int(head.lower().partition("content-length: ")[2].split("\r\n")[0])
                request = json.loads(await reader.readexactly(length))
                status, told = 429, error("slow down", "rate_limit_exceeded")
                if running < allowed:
                    running += 1
                    await asyncio.sleep(seconds)
                    running -= 1
                    status, told = 200, chat({"content": reply(request)}, **chat_usage(1, 1))
                body = json.dumps(told).encode()
                writer.write(
                    f"HTTP/1.1 {status} -\r\nContent-Type: application/json\r\n"
                    f"Content-Length: {len(body)}\r\n\r\n".encode()
                    + body
                )
                await writer.drain()
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0, backlog=4096)
    print(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", flush=True)
    await server.serve_forever()


class Calls:
    """Sends calls to the server, and remembers from when to when each of a question's was under way."""

    def __init__(self) -> None:
        self.times: dict[str, list[tuple[float, float]]] = {}
        self.refused = 0

    def __call__(self, request: Request, key: str, url: str, seconds: float) -> Reply:
        start = time.monotonic()
        # The prompt's name as that of the model tells the server which reply to give.
        named = replace(request, model=f"openai/{request.prompt}")
        try:
            found = provider.send(named, key, url, seconds)
        except Refusal as refusal:
            self.refused += refusal.fault == "rate_limit"
            raise
        self.times.setdefault(request.question, []).append((start, time.monotonic()))
        return found


def chain(times: Sequence[tuple[float, float]]) -> int:
    """The most calls of which each began after the one before had ended."""
    length, ended = 0, 0.0
    for start, end in sorted(times, key=lambda time: time[1]):
        if start >= ended:
            length, ended = length + 1, end
    return length


def questions(number: int) -> list[Question]:
    """So many questions of the bundled dev split."""
    given = load_bundled().questions
    return [
        replace(q, id=f"{q.id}-{n}", text=f"{q.text} ({n})" if n else q.text)
        for n in range(number // len(given) + 1)
        for q in given
    ][:number]


def run(options: argparse.Namespace) -> None:
    """One system's run; prints what it took as JSON."""
    provider.load()
    benchmark = load_bundled()
    system = SYSTEMS[options.run]()
    with tempfile.TemporaryDirectory() as folder:
        with Store(Path(folder) / "alone.sqlite") as store, Executor(store) as executor:
            alone = Calls()
            lab = Lab(Client(store, send=alone, api_base=options.url), executor, benchmark.database)
            for question in questions(3):
                solve(system, question, lab)
        longest = max(map(chain, alone.times.values()))
        with Store(Path(folder) / "lab.sqlite") as store, Executor(store) as executor:
            calls = Calls()
            client = Client(store, send=calls, api_base=options.url)
            lab = Lab(client, executor, benchmark.database)
            wall, processor = time.perf_counter(), time.process_time()
            solve_all(system, questions(options.questions), lab)
            wall, processor = time.perf_counter() - wall, time.process_time() - processor
    made = sum(map(len, calls.times.values()))
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps([made, longest, wall, processor, calls.refused, memory]))


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--questions", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=1.0)
    parser.add_argument("--allowed", type=int, nargs="+", default=[64, 256, 1024])
    parser.add_argument("--systems", nargs="+", choices=list(SYSTEMS), default=list(SYSTEMS))
    parser.add_argument("--serve", type=int)
    parser.add_argument("--run", choices=list(SYSTEMS))
    parser.add_argument("--url")
    options = parser.parse_args()
    if options.serve:
        asyncio.run(serve(options.serve, options.seconds))
    if options.run:
        run(options)
        return 0
    missed = False
    print("system allowed   calls  chain   bound    wall   ratio  429s  ms a call  MB  load")
    for name in options.systems:
        for allowed in options.allowed:
            common = [sys.executable, __file__, "--seconds", str(options.seconds)]
            environment = os.environ | {"OPENAI_API_KEY": "sk-stand-in"}
            server = subprocess.Popen(
                [*common, "--serve", str(allowed)], stdout=subprocess.PIPE, text=True
            )
            try:
                assert server.stdout
                url = server.stdout.readline().strip()
                command = [*common, "--run", name, "--url", url]
                command += ["--questions", str(options.questions)]
                done = subprocess.run(
                    command, stdout=subprocess.PIPE, text=True, check=True, env=environment
                )
            finally:
                server.kill()
            made, longest, wall, cpu, refused, memory = json.loads(done.stdout.splitlines()[-1])
            bound = max(made / allowed, longest) * options.seconds
            print(
                f"{name:6} {allowed:7,} {made:7,} {longest:6} {bound:7.1f} {wall:7.1f} {wall / bound:7.2f}"
                f" {refused:5} {1e3 * cpu / made:10.2f} {memory:3.0f}  {os.getloadavg()[0]:.1f}"
            )
            missed = missed or wall > 1.25 * bound or cpu > 0.003 * made
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
