"""Our client beside plain LiteLLM in a pool of threads: wall and processor time for the same calls.

    python tests/benchmarks/bench_calls.py [--calls 2000] [--at-once 64] [--seconds 1.0] [--rounds 1]

The server is a process of its own. Each side runs in a fresh process, in turn, and leaves out its imports and a
first call. Ours also looks each request up, locks it, prices it and stores the reply, on disk before it is
answered. Exits with 1 where ours takes more than 1.1 times the wall or 1.15 times the processor time.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

SERVER = """
import sys, time
from tests.llm.server import Server
with Server(seconds=float(sys.argv[1])) as server:
    print(server.url, flush=True)
    sys.stdin.read()
    print(server.most_at_once, flush=True)
"""


def ask(number: int) -> list[dict[str, str]]:
    return [{"role": "user", "content": f"question {number}\n\n" + "a line of the schema\n" * 200}]


def ours(url: str, calls: int, at_once: int) -> tuple[float, float]:
    from workbench.llm.client import Client
    from workbench.store import Store
    from workbench.types import Request

    with tempfile.TemporaryDirectory() as folder, Store(Path(folder) / "lab.sqlite") as store:
        client = Client(store, api_base=url, at_once=at_once)
        requests = [Request("p", "openai/gpt-4o-mini", ask(n), {}) for n in range(-1, calls)]
        client.complete(requests.pop(0))
        wall, processor = time.perf_counter(), time.process_time()
        answers = client.complete_many(requests)
        assert all(answer.text for answer in answers)
        return time.perf_counter() - wall, time.process_time() - processor


def plain(url: str, calls: int, at_once: int) -> tuple[float, float]:
    from concurrent.futures import ThreadPoolExecutor

    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"  # it would be downloaded
    import litellm  # noqa: TID251  the other side

    def complete(number: int) -> str:
        model, messages = "openai/gpt-4o-mini", ask(number)
        reply = litellm.completion(model=model, messages=messages, api_base=url, timeout=600)
        return reply.choices[0].message.content

    complete(-1)
    wall, processor = time.perf_counter(), time.process_time()
    with ThreadPoolExecutor(at_once) as pool:
        assert all(pool.map(complete, range(calls)))
    return time.perf_counter() - wall, time.process_time() - processor


def measure(side: str, options: argparse.Namespace) -> tuple[float, float]:
    """Wall and processor seconds of one side, in a process of its own with a server of its own."""
    environment = os.environ | {"OPENAI_API_KEY": "none", "PYTHONPATH": str(ROOT)}
    server = subprocess.Popen(
        [sys.executable, "-c", SERVER, str(options.seconds)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment,
    )  # fmt: skip
    assert server.stdout
    url = server.stdout.readline().strip()
    command = [sys.executable, __file__, "--side", side, "--url", url]
    command += ["--calls", str(options.calls), "--at-once", str(options.at_once)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    server.communicate("")
    wall, processor = json.loads(done.stdout.splitlines()[-1])
    return wall, processor


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--calls", type=int, default=2000)
    parser.add_argument("--at-once", type=int, default=64)
    parser.add_argument("--seconds", type=float, default=1.0)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--side", choices=["ours", "plain"])
    parser.add_argument("--url")
    options = parser.parse_args()
    if options.side:
        side = {"ours": ours, "plain": plain}[options.side]
        print(json.dumps(side(options.url, options.calls, options.at_once)))
        return 0
    print(f"{options.calls:,} calls of {options.seconds:g} s, {options.at_once} at once")
    best = {}
    for _ in range(options.rounds):
        for side in ("plain", "ours"):
            wall, processor = measure(side, options)
            each = processor / options.calls * 1e3
            print(
                f"{side:6} {wall:6.1f} s, {options.calls / wall:6.1f} a second, {each:5.2f} ms of processor a call"
            )
            known = best.get(side, (wall, processor))
            best[side] = (min(wall, known[0]), min(processor, known[1]))
    walls, processors = (best["ours"][n] / best["plain"][n] for n in (0, 1))
    print(f"ours / plain: wall {walls:.2f} (bar 1.1), processor {processors:.2f} (bar 1.15)")
    return int(walls > 1.1 or processors > 1.15)


if __name__ == "__main__":
    sys.exit(main())
