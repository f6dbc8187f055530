"""The driver of a cluster under load: many simulated workers ask it for calls, each in a message of its own.

    python tests/benchmarks/bench_cluster.py [--workers 64] [--calls 20000]

The workers are connections of one other process. The model answers at once, so that what is measured is the driver:
reading a message, looking the call up, storing the reply on disk, and answering. The same calls through a client in
this process, with as many threads, stand beside it. Exits with 1 where a call is made twice or is lost.
"""

import argparse
import asyncio
import json
import resource
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

WORKERS = "import sys; from tests.benchmarks.bench_cluster import workers; workers(*sys.argv[1:])"


def request(number: int) -> dict[str, object]:
    text = f"question {number}\n\n" + "a line of the schema\n" * 280
    return {"prompt": "p", "model": "some/model", "messages": [{"role": "user", "content": text}]}


def workers(url: str, token: str, count: str, calls: str) -> None:
    """Connections that ask one call after the other."""
    import orjson
    from distributed.core import ConnectionPool

    async def ask() -> None:
        numbers = iter(range(int(calls)))
        pool = await ConnectionPool(limit=1024, deserialize=False)

        async def worker() -> None:
            for number in numbers:
                asked = orjson.dumps([request(number) | {"shared": []}])
                reply = await pool(url).ask(token=token, lab=1, given=(asked,))
                assert orjson.loads(reply["answer"])[0]["text"]

        await asyncio.gather(*(worker() for _ in range(int(count))))
        await pool.close()

    asyncio.run(ask())


def measured(folder: Path, ask: object) -> tuple[float, float, int]:
    """Wall and processor seconds of this process, and the calls that were made."""
    from workbench.db.execute import Executor
    from workbench.lab import Lab
    from workbench.llm.client import Client
    from workbench.store import Store

    made: list[str] = []

    def send(_request: object, key: str, _url: str, _seconds: float) -> dict[str, object]:
        made.append(key)
        message = {"role": "assistant", "content": "SELECT 1 " * 30}
        return {
            "choices": [{"message": message, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 1400, "completion_tokens": 90},
        }

    with Store(folder / "lab.sqlite") as store, Executor(store) as executor:
        lab = Lab(Client(store, send=send), executor, Path)
        wall, processor = time.perf_counter(), time.process_time()
        ask(lab)  # type: ignore[operator]
        spent = time.perf_counter() - wall, time.process_time() - processor
    return *spent, len(made) if len(made) == len(set(made)) else -1


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--workers", type=int, default=64)
    parser.add_argument("--calls", type=int, default=20_000)
    given = parser.parse_args()

    import distributed

    from workbench.cluster.driver import Driver
    from workbench.types import Request

    def by_driver(lab: object) -> None:
        with (
            distributed.LocalCluster(n_workers=0, dashboard_address=None) as cluster,
            distributed.Client(cluster) as client,
        ):
            driver = Driver(client)
            driver.open()
            driver.labs[1] = lab  # type: ignore[assignment]
            counts = [str(given.workers), str(given.calls)]
            command = [sys.executable, "-c", WORKERS, driver.address, driver.token, *counts]
            subprocess.run(command, check=True, cwd=ROOT)
            driver.close()

    def in_threads(lab: object) -> None:
        with ThreadPoolExecutor(given.workers) as threads:
            asked = [Request(**request(number)) for number in range(given.calls)]  # type: ignore[arg-type]
            list(threads.map(lab.client.complete, asked))  # type: ignore[attr-defined]

    lost = False
    for name, ask in (("the driver", by_driver), ("threads of one process", in_threads)):
        with tempfile.TemporaryDirectory() as folder:
            wall, processor, made = measured(Path(folder), ask)
        lost = lost or made != given.calls
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        each = 1000 * processor / given.calls
        print(
            f"{name}: {given.calls / wall:,.0f} calls a second, {each:.2f} ms of processor time a call,",
            end=" ",
        )
        print(f"{made:,} calls made, {peak:,.0f} MB at most so far")
    print(json.dumps({"workers": given.workers, "calls": given.calls}))
    sys.exit(int(lost))


if __name__ == "__main__":
    main()
