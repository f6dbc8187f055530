"""The driver of a cluster under load: many simulated workers ask it for calls, each in a message of its own.

The workers are connections of one other process. The model answers at once, so that what is measured is the driver:
reading a message, looking the call up, storing the reply on disk, and answering. The same calls through a client in
this process, with as many threads, stand beside it.
"""

import asyncio
import resource
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).parents[3]
WORKERS = "import sys; from tests.benchmarks.measure.cluster_driver import workers; workers(*sys.argv[1:])"


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
                reply = await pool(url).ask(token=token, lab=1, arguments=(asked,))
                assert orjson.loads(reply["answer"])[0]["text"]

        await asyncio.gather(*(worker() for _ in range(int(count))))
        await pool.close()

    asyncio.run(ask())


def measured(folder: Path, ask: object) -> tuple[float, float, int]:
    """Wall and processor seconds of this process, and the calls that were made."""
    from workbench.lab import Lab
    from workbench.llm.cache import Cache
    from workbench.llm.client import Client
    from workbench.sql.executor import Executor

    made: list[str] = []

    def send(_request: object, key: str, _url: str, _seconds: float) -> dict[str, object]:
        made.append(key)
        message = {"role": "assistant", "content": "SELECT 1 " * 30}
        return {
            "choices": [{"message": message, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 1400, "completion_tokens": 90},
        }

    with Cache(folder / "lab.sqlite") as store, Executor(store) as executor:
        lab = Lab(Client(store, send=send), executor, Path)
        wall, processor = time.perf_counter(), time.process_time()
        ask(lab)  # type: ignore[operator]
        spent = time.perf_counter() - wall, time.process_time() - processor
    return *spent, len(made) if len(made) == len(set(made)) else -1


def under_load(connections: int, calls: int) -> bool:
    """Print what the driver and the threads of one process take; returns whether each call was made once."""
    import distributed

    from workbench.cluster.driver import Driver
    from workbench.types import Request

    def by_driver(lab: object) -> None:
        with (
            distributed.LocalCluster(n_workers=0, dashboard_address="127.0.0.1:0") as cluster,
            distributed.Client(cluster) as client,
        ):
            driver = Driver(client)
            driver.open()
            driver.labs[1] = lab  # type: ignore[assignment]
            counts = [str(connections), str(calls)]
            command = [sys.executable, "-c", WORKERS, driver.address, driver.token, *counts]
            subprocess.run(command, check=True, cwd=ROOT)
            driver.close()

    def in_threads(lab: object) -> None:
        with ThreadPoolExecutor(connections) as threads:
            asked = [Request(**request(number)) for number in range(calls)]  # type: ignore[arg-type]
            list(threads.map(lab.client.complete, asked))  # type: ignore[attr-defined]

    once = True
    for name, ask in (("the driver", by_driver), ("threads of one process", in_threads)):
        with tempfile.TemporaryDirectory() as folder:
            wall, processor, made = measured(Path(folder), ask)
        once = once and made == calls
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(
            f"{name}: {calls / wall:,.0f} calls a second, {1000 * processor / calls:.2f} ms of processor"
            f" time a call, {made:,} calls made, {peak:,.0f} MB at most so far"
        )
    return once
