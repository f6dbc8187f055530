"""Our cache of model calls beside the raw SQLite floor: a warm hit, a stored call, and the first hit of a fresh process.

    python tests/benchmarks/bench_llm_cache.py [--quick]

Requests are of about 6 KB (instructions, a schema, a question), replies of about 1.7 KB. The floor is canonical JSON,
sha256 and one SELECT by key. A hit is at most 2.5 times the floor, and the first hit of a fresh process under 0.3 s.
Times of hits are of this process's CPU; rounds alternate and the best counts.
"""

import hashlib
import random
import sqlite3
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import orjson

sys.path.insert(0, str(Path(__file__).parents[2]))
import workbench as wb

N = 1000 if "--quick" in sys.argv else 5000
chance = random.Random(1)
WORDS = [
    "".join(chance.choices("abcdefghijklmnopqrstuvwxyz", k=chance.randint(2, 9)))
    for _ in range(3000)
]


def text(length):
    return " ".join(chance.choices(WORDS, k=length // 4))[:length]


SCHEMAS = [text(5400) for _ in range(20)]
SYSTEM = {"role": "system", "content": text(700)}
ASKED = [
    wb.Request("p", "openai/gpt-4o-mini", (SYSTEM, {"role": "user", "content": f"{SCHEMAS[n % 20]} {text(200)}"}),
               {"temperature": 0.5, "max_tokens": 1000})
    for n in range(N)
]  # fmt: skip
FRESH = """
import sys, time
began = time.perf_counter()
import orjson, workbench as wb
client = wb.Client(wb.Cache(sys.argv[1]))
assert client.complete(wb.Request(**orjson.loads(sys.argv[2]))).cached
print(time.perf_counter() - began)
"""


def best(function, rounds=5):
    """The seconds of one request, the best of some rounds in random order."""
    found = []
    for _ in range(rounds):
        order = chance.sample(ASKED, N)
        began = time.process_time()
        for request in order:
            function(request)
        found.append((time.process_time() - began) / N)
    return min(found)


def main():
    with tempfile.TemporaryDirectory() as folder:
        cache = wb.Cache(Path(folder, "ours.sqlite"))
        send = wb.scripted([text(1700) for _ in range(N)])
        began = time.perf_counter()
        wb.Client(cache, send=send).complete_many(ASKED)
        stored = (time.perf_counter() - began) / N
        client = wb.Client(cache)
        floor = sqlite3.connect(Path(folder, "floor.sqlite"), isolation_level=None)
        floor.execute(
            "CREATE TABLE calls(key TEXT PRIMARY KEY, text, model, reason, a, b, c, cost)"
        )

        def key(request):
            parts = [
                request.model,
                request.messages,
                request.parameters,
                request.sample,
            ]
            return hashlib.sha256(
                orjson.dumps(parts, option=orjson.OPT_SORT_KEYS)
            ).hexdigest()

        rows = [(key(r), text(1700), r.model, "stop", 1, 2, 3, 0.1) for r in ASKED]
        floor.executemany("INSERT INTO calls VALUES (?, ?, ?, ?, ?, ?, ?, ?)", rows)
        raw = best(
            lambda r: floor.execute(
                "SELECT * FROM calls WHERE key = ?", [key(r)]
            ).fetchall()
        )
        hit = best(client.complete)
        began = time.process_time()
        client.complete_many(ASKED)
        many = (time.process_time() - began) / N
        fresh = min(
            float(subprocess.run(
                [sys.executable, "-c", FRESH, str(cache.path), orjson.dumps(
                    {"prompt": "p", "model": ASKED[0].model, "messages": ASKED[0].messages, "parameters": ASKED[0].parameters}
                ).decode()], capture_output=True, text=True, check=True,
            ).stdout) for _ in range(3)
        )  # fmt: skip
    print(
        f"a hit: {hit * 1e6:.0f} us, {hit / raw:.2f} times the floor of {raw * 1e6:.0f} us; in a list {many * 1e6:.0f} us"
    )
    print(
        f"a stored call: {stored * 1e6:.0f} us; the first hit of a fresh process: {fresh:.3f} s"
    )
    sys.exit(hit > 2.5 * raw or fresh > 0.3)


if __name__ == "__main__":
    main()
