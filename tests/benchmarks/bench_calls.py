"""Our client beside plain LiteLLM: the same calls, wall and processor time, and a server that allows eight at once.

    python tests/benchmarks/bench_calls.py [--quick]

1,000 calls of 0.5 s, 64 at once, in turn with `litellm.acompletion` under a semaphore: ours takes at most 1.1 times the
wall and 1.15 times the processor time. Then 200 calls of 0.5 s against a server that allows eight at once: at most 1.3
times the shortest time possible and 1.5 requests a call, beside LiteLLM's `num_retries=6`. The server is a process of its
own, each side a fresh one without its imports and a first call. Ours also looks each request up, locks it and stores the
reply, on disk before it is answered.
"""

import argparse
import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))
os.environ["OPENAI_API_KEY"] = "none"
MODEL, SECONDS, AT_ONCE, CAPACITY = "openai/gpt-4o-mini", 0.5, 64, 8

SERVER = """
import sys
from tests.llm.server import Server
with Server(seconds=float(sys.argv[1]), capacity=int(sys.argv[2])) as server:
    print(server.url, flush=True)
    sys.stdin.read()
    print(server.requests, flush=True)
"""


def ask(number):
    return [
        {
            "role": "user",
            "content": f"question {number}\n\n" + "a line of the schema\n" * 200,
        }
    ]


def ours(url, calls, retries):
    import workbench as wb

    with tempfile.TemporaryDirectory() as folder:
        client = wb.Client(
            wb.Cache(Path(folder, "a.sqlite")),
            api_base=url,
            at_once=AT_ONCE,
            retries=retries,
        )
        requests = [wb.Request("p", MODEL, ask(n), {}) for n in range(-1, calls)]
        client.complete(requests.pop(0))
        wall, processor = time.perf_counter(), time.process_time()
        assert all(answer.text for answer in client.complete_many(requests))
        return time.perf_counter() - wall, time.process_time() - processor


def plain(url, calls, retries):
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"  # it would be downloaded
    import litellm  # noqa: TID251  the other side

    async def run():
        places = asyncio.Semaphore(AT_ONCE)

        async def complete(number):
            async with places:
                given = {"api_base": url, "timeout": 600, "num_retries": retries}
                reply = await litellm.acompletion(
                    model=MODEL, messages=ask(number), **given
                )
                assert reply.choices[0].message.content

        await complete(-1)
        wall, processor = time.perf_counter(), time.process_time()
        await asyncio.gather(*map(complete, range(calls)))
        return time.perf_counter() - wall, time.process_time() - processor

    return asyncio.run(run())


def measured(side, calls, capacity, retries):
    """The wall and processor seconds of one side, and its requests for each call."""
    server = subprocess.Popen(
        [sys.executable, "-c", SERVER, str(SECONDS), str(capacity)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT,
    )  # fmt: skip
    url = server.stdout.readline().strip()
    given = [sys.executable, __file__, "--side", side, url, str(calls), str(retries)]
    done = subprocess.run(given, capture_output=True, text=True, check=True)
    requests = int(server.communicate()[0]) - 1
    return (*json.loads(done.stdout.splitlines()[-1]), requests / calls)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--side", nargs=4)
    parser.add_argument("--quick", action="store_true", help="200 calls, one round")
    quick = parser.parse_args().quick
    if given := parser.parse_args().side:
        side, url, calls, retries = given
        print(
            json.dumps(
                {"ours": ours, "plain": plain}[side](url, int(calls), int(retries))
            )
        )
        return
    calls, times = (200, 1) if quick else (1000, 2)
    rounds = [
        (side, measured(side, calls, 10**6, 0)) for side in ("plain", "ours") * times
    ]
    wall, processor = (
        {
            side: min(found[n] for name, found in rounds if name == side)
            for side in ("plain", "ours")
        }
        for n in (0, 1)
    )
    ratios = {
        name: times["ours"] / times["plain"]
        for name, times in {"wall": wall, "processor": processor}.items()
    }
    print(
        f"{calls:,} calls: wall {wall['ours']:.2f} s to {wall['plain']:.2f} s, {ratios['wall']:.2f} times"
    )
    print(
        f"processor {processor['ours']:.2f} s to {processor['plain']:.2f} s, {ratios['processor']:.2f} times"
    )
    bound = 200 * SECONDS / CAPACITY
    limited = {side: measured(side, 200, CAPACITY, 6) for side in ("ours", "plain")}
    for side, (seconds, _, requests) in limited.items():
        print(
            f"eight at once, {side}: {seconds / bound:.2f} times the bound, {requests:.2f} requests a call"
        )
    seconds, _, requests = limited["ours"]
    held = (
        ratios["wall"] <= 1.1
        and ratios["processor"] <= 1.15
        and seconds <= 1.3 * bound
        and requests <= 1.5
    )
    sys.exit(not held)


if __name__ == "__main__":
    main()
