"""Eight processes ask for the same calls while replies fail and processes are killed; then all totals must agree.

    python tests/llm/calls/soak.py [SECONDS]

Also `make soak SECONDS=120`. The server counts what it was asked and what it charged for. Each process appends
to a file of its own what its ledger counts as paid, after each run. At the end, every answer that a process
received is in the cache, and the server charged for no more calls than the cache holds, but for those that
were under way when their process was killed and those whose reply was torn.
"""

import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parents[3]
sys.path.insert(0, str(ROOT))

from tests.llm.server import Server  # noqa: E402  the path comes first
from workbench.llm.cache import transfer  # noqa: E402
from workbench.store import Store  # noqa: E402

PROCESSES = 8
AT_ONCE = 16
FAULTS = ["429", "500", "503", "reset", "cut", "half", "html", "filter", "length"]
TORN = {"cut", "half", "html"}

WORKER = """
import json, random, sys
from http.client import HTTPException
from pathlib import Path
from tests.llm.wire import ask, send
from workbench.llm.client import Client
from workbench.store import Store
from workbench.llm.provider import Refusal
path, url, log, seed, at_once, reached = sys.argv[1:]
def careful(*arguments):
    try:
        return send(*arguments)
    except (ValueError, HTTPException) as error:
        raise Refusal("malformed", "the reply is torn", again=True) from error
with Store(Path(path)) as store, open(log, "a") as file:
    choice = random.Random(seed)
    client = Client(store, send=careful, api_base=url, at_once=int(at_once))
    reached = int(reached)
    while True:
        first = choice.randrange(reached, reached + 200)
        requests = [ask(f"question {first + n}") for n in range(choice.randrange(1, 60))]
        answers = client.complete_many(requests)
        keys = [a.key for a in answers if not a.fault or a.fault == "filtered"]
        total = client.ledger.total()
        line = {"keys": keys, "paid": total.calls, "perhaps": client.ledger.perhaps_paid}
        file.write(json.dumps(line) + "\\n")
        file.flush()
        reached += choice.randrange(5)
"""


def main(seconds: float) -> int:
    random.seed(7)
    killed = 0
    torn = 0
    with tempfile.TemporaryDirectory() as name, Server(seconds=0.02) as server:
        folder = Path(name)
        path = folder / "lab.sqlite"
        Store(path).close()
        logs: list[Path] = []

        def start() -> "subprocess.Popen[bytes]":
            logs.append(folder / f"{len(logs)}.jsonl")
            arguments = [path, server.url, logs[-1], len(logs), AT_ONCE, len(server.paid)]
            command = [sys.executable, "-c", WORKER, *map(str, arguments)]
            return subprocess.Popen(command, cwd=ROOT, env=os.environ)

        processes = [start() for _ in range(PROCESSES)]
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            time.sleep(random.uniform(0.2, 1.0))
            faults = random.choices(FAULTS, k=random.randrange(4))
            torn += sum(fault in TORN for fault in faults)
            server.plan.extend(faults)
            for index, process in enumerate(processes):
                if process.poll() is not None:
                    print(f"a process ended by itself with {process.returncode}")
                    return 1
                if random.random() < 0.02:
                    process.send_signal(random.choice([signal.SIGKILL, signal.SIGTERM]))
                    process.wait()
                    killed += 1
                    processes[index] = start()
        for process in processes:
            process.kill()
            process.wait()
        killed += len(processes)
        torn -= sum(fault in TORN for fault in server.plan)
        lines = [
            [json.loads(line) for line in log.read_text().splitlines() if line.endswith("}")]
            for log in logs
            if log.exists()
        ]
        received = {key for log in lines for line in log for key in line["keys"]}
        ledgers = sum(log[-1]["paid"] for log in lines if log)
        with Store(path) as store:
            stored = {key for (key,) in store.read("SELECT key FROM calls")}
            problems = transfer.verify(store)
        lost, charged = len(received - stored), server.calls
        most = len(stored) + killed * AT_ONCE + torn
        print(
            f"{seconds:g} s, {PROCESSES} processes, {killed} kills: {server.asked.total():,} requests, "
            f"{charged:,} charged by the server, {torn} of them torn; {len(stored):,} in the cache, "
            f"{len(received):,} received, {lost} of them lost; {ledgers:,} paid by the ledgers' last lines; "
            f"charged beyond the cache: {charged - len(stored):,} (at most {most - len(stored):,}); "
            f"{len(problems)} changed rows"
        )
        agree = ledgers <= len(stored) <= charged <= most
        return int(bool(lost or problems or not agree))


if __name__ == "__main__":
    sys.exit(main(float(sys.argv[1]) if len(sys.argv) > 1 else 600.0))
