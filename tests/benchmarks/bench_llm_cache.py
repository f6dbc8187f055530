"""Our cache of model calls beside others', in one run: hits, puts, disk, once-only, first hit.

    python tests/benchmarks/bench_llm_cache.py [NUMBER OF REQUESTS]

Requests are of about 6 KB (instructions, one of twenty schemas, a question), replies of about 1.7 KB. Every
cache keeps request and reply. Hits are asked in random order, warm, and each includes canonical JSON and
sha256 of the request where the cache does not make its own key. Times are of this process's CPU; rounds of
all caches alternate and the best of each counts. A package that is not installed is left out, with a message.
"""

# ruff: noqa: E402, TID251  the path comes first; peers are what this is about

import hashlib
import importlib.util
import os
import random
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import orjson

warnings.simplefilter("ignore")
sys.path.insert(0, str(Path(__file__).parents[2]))
from tests.llm.server import Server
from workbench.canonical import canonical
from workbench.llm.cache.rows import Call
from workbench.llm.cache.table import Cache
from workbench.llm.client import Client
from workbench.store import Store
from workbench.types import Request, Usage

N = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
MODEL = "openai/gpt-4o-mini"
FOLDER = Path(tempfile.mkdtemp(prefix="bench-"))


def text(random_: random.Random, length: int) -> str:
    return " ".join(random_.choices(WORDS, k=length // 4))[:length]


R = random.Random(1)
WORDS = ["".join(R.choices("abcdefghijklmnopqrstuvwxyz", k=R.randint(2, 9))) for _ in range(3000)]
INSTRUCTIONS = text(R, 700)
SCHEMAS = ["\n\n".join(text(R, 450) for _ in range(12)) for _ in range(20)]
REQUESTS = [
    Request(
        "generate/direct",
        MODEL,
        (
            {"role": "system", "content": INSTRUCTIONS},
            {"role": "user", "content": f"{SCHEMAS[i % 20]}\n\nQuestion: {text(R, 200)}"},
        ),
        {"temperature": 0.5, "max_tokens": 1000},
        i // 5000,
    )
    for i in range(N)
]
REPLIES = [text(R, R.randint(1400, 2000)) for _ in range(N)]
ORDER = R.sample(range(N), N)


def body(request: Request) -> dict[str, Any]:
    return {
        "endpoint": "",
        "messages": request.messages,
        "model": request.model,
        "parameters": request.parameters,
        "sample": request.sample,
    }


def digest(request: Request) -> str:
    return hashlib.sha256(canonical(body(request))).hexdigest()


def reply(i: int) -> dict[str, Any]:
    message = {"role": "assistant", "content": REPLIES[i]}
    return {
        "id": f"chatcmpl-{i:029d}",
        "created": 1700000000 + i,
        "model": "gpt-4o-mini-2024-07-18",
        "object": "chat.completion",
        "choices": [{"finish_reason": "stop", "index": 0, "message": message}],
        "usage": {"prompt_tokens": 1500, "completion_tokens": 400, "total_tokens": 1900},
    }


class Ours:
    name = "workbench"

    def __init__(self, folder: Path) -> None:
        self.store = Store(folder / "lab.sqlite")
        self.cache = Cache(self.store)
        self.client = Client(self.store, offline=True)

    def put(self, i: int) -> None:
        request, whole = REQUESTS[i], reply(i)
        answer = whole["choices"][0]["message"].pop("content")
        self.cache.put(
            Call(
                *(self.client.key(request), answer, "stop", Usage(1500, 400), 0.00123, "", MODEL),
                *(request.messages, request.parameters, request.sample, request.prompt),
                *(whole, 1.25, 1700000000.5),
            )
        )

    def get(self, i: int) -> str:
        return self.client.complete(REQUESTS[i]).text

    def close(self) -> None:
        self.store.close()


class OursFromDisk(Ours):
    """As in a new process: nothing is in memory yet."""

    name = "workbench, first time"

    def get(self, i: int) -> str:
        self.client._state.cache._recent.clear()
        return super().get(i)


class Raw:
    """The lower bound: canonical JSON, sha256, a SELECT by primary key, parse."""

    name = "raw SQLite"

    def __init__(self, folder: Path) -> None:
        self.database = sqlite3.connect(folder / "raw.sqlite", isolation_level=None)
        self.database.execute("PRAGMA journal_mode=WAL")
        self.database.execute("PRAGMA synchronous=FULL")
        self.database.execute("CREATE TABLE calls(key TEXT PRIMARY KEY, request TEXT, reply TEXT)")

    def put(self, i: int) -> None:
        raw = canonical(body(REQUESTS[i]))
        self.database.execute("BEGIN IMMEDIATE")
        self.database.execute(
            "INSERT INTO calls VALUES (?, ?, ?)",
            (hashlib.sha256(raw).hexdigest(), raw.decode(), orjson.dumps(reply(i)).decode()),
        )
        self.database.execute("COMMIT")

    def get(self, i: int) -> str:
        key = digest(REQUESTS[i])
        row = self.database.execute("SELECT reply FROM calls WHERE key = ?", (key,)).fetchone()
        return orjson.loads(row[0])["choices"][0]["message"]["content"]

    def close(self) -> None:
        self.database.close()


class RawReply(Raw):
    """The same with nothing stored but the reply."""

    name = "raw SQLite, replies only"

    def put(self, i: int) -> None:
        key = digest(REQUESTS[i])
        self.database.execute("BEGIN IMMEDIATE")
        self.database.execute(
            "INSERT INTO calls VALUES (?, '', ?)", (key, orjson.dumps(reply(i)).decode())
        )
        self.database.execute("COMMIT")


class DiskCache:
    name = "diskcache.Cache"
    kind = "Cache"

    def __init__(self, folder: Path) -> None:
        import diskcache

        self.cache = getattr(diskcache, self.kind)(str(folder))

    def put(self, i: int) -> None:
        self.cache[digest(REQUESTS[i])] = {"request": body(REQUESTS[i]), "reply": reply(i)}

    def get(self, i: int) -> str:
        return self.cache[digest(REQUESTS[i])]["reply"]["choices"][0]["message"]["content"]

    def close(self) -> None:
        self.cache.close()


class FanoutCache(DiskCache):
    name = "diskcache.FanoutCache"
    kind = "FanoutCache"


class LangChain:
    name = "LangChain SQLiteCache"

    def __init__(self, folder: Path) -> None:
        from langchain_community.cache import SQLiteCache

        self.cache = SQLiteCache(str(folder / "langchain.db"))

    def put(self, i: int) -> None:
        from langchain_core.outputs import Generation

        self.cache.update(*self.name_of(i), [Generation(text=REPLIES[i])])

    def get(self, i: int) -> str:
        return self.cache.lookup(*self.name_of(i))[0].text

    def name_of(self, i: int) -> tuple[str, str]:
        request = REQUESTS[i]
        prompt = "\n".join(message["content"] for message in request.messages)
        return prompt, f"{request.model} {request.sample}"

    def close(self) -> None:
        self.cache.engine.dispose()


class Dspy:
    name = "DSPy's cache object"

    def __init__(self, folder: Path) -> None:
        from dspy.clients.cache import Cache as DspyCache

        self.cache = DspyCache(
            enable_disk_cache=True,
            enable_memory_cache=False,
            disk_cache_dir=str(folder),
            disk_size_limit_bytes=10**10,
        )

    def put(self, i: int) -> None:
        self.cache.put(body(REQUESTS[i]), reply(i))

    def get(self, i: int) -> str:
        return self.cache.get(body(REQUESTS[i]))["choices"][0]["message"]["content"]

    def close(self) -> None:
        self.cache.disk_cache.close()


class LiteLlm:
    """`litellm.completion` with its disk cache, end to end, on a tenth of the requests."""

    name = "litellm.completion, disk cache"
    share = 10

    def __init__(self, folder: Path) -> None:
        os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
        os.environ["OPENAI_API_KEY"] = "none"
        import litellm
        from litellm.caching.caching import Cache as LiteLlmCache

        self.litellm = litellm
        litellm.cache = LiteLlmCache(type="disk", disk_cache_dir=str(folder))
        self.server = Server().__enter__()

    def ask(self, i: int) -> str:
        request = REQUESTS[i]
        answer = self.litellm.completion(
            model=MODEL,
            messages=[dict(message) for message in request.messages],
            **request.parameters,
            caching=True,
            api_base=self.server.url,
        )
        return answer.choices[0].message.content

    put = get = ask

    def close(self) -> None:
        self.server.__exit__()
        self.litellm.cache.cache.disk_cache.close()


NEEDS = {
    DiskCache: "diskcache",
    FanoutCache: "diskcache",
    LangChain: "langchain_community",
    Dspy: "dspy",
    LiteLlm: "diskcache",
}


@contextmanager
def folder(name: str) -> Iterator[Path]:
    path = FOLDER / name
    path.mkdir()
    yield path
    shutil.rmtree(path)


def size(path: Path) -> float:
    return sum(file.stat().st_size for file in path.rglob("*") if file.is_file()) / 1e6


def best(work: Callable[[int], object], items: list[int]) -> float:
    started = time.process_time()
    for i in items:
        work(i)
    return (time.process_time() - started) / len(items) * 1e6


def table() -> None:
    caches: list[Any] = []
    for kind in (
        Raw,
        RawReply,
        Ours,
        OursFromDisk,
        DiskCache,
        FanoutCache,
        Dspy,
        LangChain,
        LiteLlm,
    ):
        package = NEEDS.get(kind)
        if package and not importlib.util.find_spec(package):
            print(f"{kind.name}: left out, {package} is not installed")
            continue
        path = FOLDER / kind.__name__
        path.mkdir()
        try:
            cache = kind(path)
            cache.put(0)
            cache.get(0)
            caches.append((cache, path))
        except Exception as error:  # noqa: BLE001  a peer that fails is named, and the others go on
            print(f"{kind.name}: left out, it does not work here ({error!r})")
    puts: dict[str, list[float]] = {cache.name: [] for cache, _ in caches}
    for i in range(1, N):  # in turn, so that what else the disk does meets all of them
        for cache, _ in caches:
            if i % getattr(cache, "share", 1) == 0:
                started = time.perf_counter()
                cache.put(i)
                puts[cache.name].append(time.perf_counter() - started)
    gets: dict[str, list[float]] = {cache.name: [] for cache, _ in caches}
    for _ in range(5):
        for cache, _ in caches:
            share = getattr(cache, "share", 1)
            items = [i for i in ORDER if i % share == 0][:5000]
            gets[cache.name].append(best(cache.get, items))
    print(f"\n{'':32}{'hit, us CPU':>12}{'put, us wall':>13}{'MB open':>9}{'MB closed':>10}")
    least = min(gets[Raw.name])
    for cache, path in caches:
        opened = size(path)
        cache.close()
        middle = sorted(puts[cache.name])[len(puts[cache.name]) // 2] * 1e6
        hit = min(gets[cache.name])
        print(
            f"{cache.name:32}{hit:12.1f}{middle:13.0f}{opened:9.1f}{size(path):10.1f}"
            f"   {hit / least:5.1f} x raw SQLite"
        )


FIRST = """
import sys, time
started = time.perf_counter()
from pathlib import Path
from workbench.llm.client import Client
from workbench.store import Store
from workbench.types import Request
with Store(Path(sys.argv[1])) as store:
    answer = Client(store).complete(Request("p", "openai/gpt-4o-mini", [{"role": "user", "content": "hi"}]))
assert answer.cached and "litellm" not in sys.modules
print(time.perf_counter() - started)
"""


def first_hit() -> None:
    from workbench.llm.scripted import Scripted

    with folder("first") as path:
        ours = Ours(path)
        for i in range(N):
            ours.put(i)
        ours.close()
        with Store(path / "lab.sqlite") as store:
            request = Request("p", MODEL, [{"role": "user", "content": "hi"}])
            Client(store, send=Scripted(["hello"])).complete(request)
        command = [sys.executable, "-c", FIRST, str(path / "lab.sqlite")]
        env = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
        times = []
        whole = []
        for _ in range(5):
            started = time.perf_counter()
            done = subprocess.run(command, env=env, capture_output=True, text=True, check=True)
            whole.append(time.perf_counter() - started)
            times.append(float(done.stdout))
    print(
        f"\nfirst hit in a fresh process, imports included: {min(times):.3f} s "
        f"(with Python's own start {min(whole):.3f} s), cache of {N:,} calls"
    )


ONCE = """
import os, sys, threading
from pathlib import Path
from workbench.llm.client import Client
from workbench.store import Store
from workbench.types import Request
requests = [Request("p", "openai/m", [{"role": "user", "content": f"q {i}"}]) for i in range(50)]
with Store(Path(sys.argv[1])) as store:
    client = Client(store, api_base=sys.argv[2])
    threads = [threading.Thread(target=client.complete_many, args=(requests,)) for _ in range(8)]
    for thread in threads: thread.start()
    for thread in threads: thread.join()
"""


def once_only() -> None:
    with folder("once") as path, Server(seconds=0.05) as server:
        env = {
            **os.environ,
            "PYTHONPATH": str(Path(__file__).parents[2]),
            "OPENAI_API_KEY": "none",
        }
        command = [sys.executable, "-c", ONCE, str(path / "lab.sqlite"), server.url]
        processes = [subprocess.Popen(command, env=env) for _ in range(4)]
        codes = [process.wait() for process in processes]
        print(f"50 keys asked by 8 threads in each of 4 processes: {server.calls} calls, {codes}")


if __name__ == "__main__":
    try:
        table()
        first_hit()
        once_only()
    finally:
        shutil.rmtree(FOLDER)
