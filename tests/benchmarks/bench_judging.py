"""Judging pools of predictions: BIRD's evaluator's way against ours, side by side in one run.

    python tests/benchmarks/bench_judging.py [--spider DIR] [--quick]

1. Every prediction file of a Spider folder, cold (`--spider` or WORKBENCH_SPIDER; left out without).
2. A made-up pool, 100 questions x 21 candidates on a database of about 150 MB, cold (`shop.py`).
3. The same pool with 2% of runaway queries mixed in, under a time limit of two seconds.
4. Pools 1 and 2 again from the cache, in a fresh process.

Both ways run in processes of their own, in turn, round by round; what is shown is the median. Wall and CPU
seconds are those of the whole process tree, without interpreter start and imports; MB is memory that no other process
shares. BIRD's verdicts of the two ways must be the same, prediction by prediction. Exits with 1 if a bar is
missed.
"""

import argparse
import gc
import json
import os
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parents[1])]

import bird_way  # noqa: E402
import shop  # noqa: E402

from workbench.benchmarks.benchmark import Benchmark  # noqa: E402
from workbench.benchmarks.load import open_benchmark  # noqa: E402
from workbench.benchmarks.predictions import read_predictions  # noqa: E402
from workbench.evaluate.ex import ex_verdicts  # noqa: E402
from workbench.sql.executor import Executor  # noqa: E402
from workbench.store import Store  # noqa: E402
from workbench.types import Gold, Limits, Question  # noqa: E402

PROCESSES = 2
LIMIT = 30.0  # seconds a prediction may take, BIRD's own default
RUNAWAY_LIMIT = 2.0
RUNAWAYS = 0.02

Item = tuple[str, str, str, str]  # database, gold, predicted, and the question's id


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one way made of a workload. `verdicts` holds those it gave before it ended or was ended."""

    wall: float
    cpu: float
    memory: float  # MB that no other process shares, at the peak of the tree
    left: int  # threads and processes that still worked when the last verdict was there
    killed: bool
    verdicts: dict[int, int]
    limiter: str = ""


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--spider", type=Path, default=os.environ.get("WORKBENCH_SPIDER"))
    parser.add_argument("--quick", action="store_true", help="small sizes, one round: a minute")
    parser.add_argument("--ours", type=Path, nargs=3, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.ours:
        judge_ours(*arguments.ours)
        return
    with tempfile.TemporaryDirectory(prefix="judging-") as folder:
        rows = list(measure(Path(folder), arguments.spider, arguments.quick))
    width = max(len(row[0]) for row in rows)
    print(f"\n{'':{width}}  measured      bar")
    for what, value, unit, bar, passed in rows:
        print(f"{what:{width}}  {value:8.1f}{unit:4}  {bar:8}  {'PASS' if passed else 'FAIL'}")
    sys.exit(not all(row[-1] for row in rows))


Row = tuple[str, float, str, str, bool]


def measure(folder: Path, spider: Path | None, quick: bool) -> Iterator[Row]:
    """Run everything, telling each outcome as it comes; yield what has a bar."""
    rounds = 1 if quick else 3
    print(
        f"time limits of the peer by {bird_way.LIMITER}; {PROCESSES} processes each; {rounds} round(s)"
    )
    workloads = {}
    if spider:
        workloads["1 spider"] = spider_pool(spider)
        workloads["0 one file"] = workloads["1 spider"][:1]
    else:
        print("no --spider and no WORKBENCH_SPIDER: part 1 is left out")
    database = folder / "databases" / "shop" / "shop.sqlite"
    shop.build(database)
    workloads["2 shop"] = [shop_pool(database, 16 if quick else 100)]
    for name, runs in workloads.items():
        items = [item for run in runs for item in run]
        queries = len({item[:2] for item in items} | {(item[0], item[2]) for item in items})
        print(
            f"{name}: {len(items):,} predictions, {len({i[3] for i in items})} questions, {queries:,}"
            f" different queries, gold included"
        )
    print(f"\n{'':10} {'way':12} {'wall s':>8} {'CPU s':>8} {'MB':>6}")
    seen: dict[tuple[str, str], list[Outcome]] = defaultdict(list)
    for number in range(rounds):
        for name, runs in workloads.items():
            cache = folder / f"{name[0]}-{number}.sqlite"
            work = write(folder, runs, LIMIT)
            ways = {
                "BIRD's way": peer(work),
                "ours, cold": ours(work, cache),
                **{f"ours, warm{i}": ours(work, cache) for i in range(3)},
            }
            for way, command in ways.items():
                outcome = run(command, folder)
                tell(name, way.rstrip("012"), outcome)
                seen[name, way.rstrip("012")].append(outcome)
    for name in workloads:
        bird, cold, warm = (seen[name, way] for way in ("BIRD's way", "ours, cold", "ours, warm"))
        same = all(o.verdicts == bird[0].verdicts for o in (*bird, *cold, *warm))
        yield (
            f"{name}: verdicts that differ",
            float(differing(bird[0], (*cold, *warm))),
            "",
            "0",
            same,
        )
        if name.startswith("0"):  # without repetition there is no bar, only a number
            print(f"{name}, cold: {ratio(bird, cold, 'wall'):.1f}x {ratio(bird, cold, 'cpu'):.1f}x")
            continue
        for what in ("wall", "cpu"):
            value = ratio(bird, cold, what)
            yield f"{name}, cold: {what}", value, "x", ">= 5x", value >= 5
        for what in ("wall", "cpu"):
            value = ratio(bird, warm, what)
            yield f"4 {name[2:]}, warm: {what}", value, "x", ">= 50x", value >= 50
    yield from runaways(folder, workloads["2 shop"][0], seen["2 shop", "ours, cold"][0], quick)


def runaways(folder: Path, items: Sequence[Item], clean: Outcome, quick: bool) -> Iterator[Row]:
    """Part 3. What counts is what became of the predictions of part 2."""
    mixed, places = with_runaways(items)
    work = write(folder, [mixed], RUNAWAY_LIMIT)
    print(f"\n3 runaway: {len(mixed) - len(places)} runaway queries among {len(mixed):,}")
    found = {
        "ours, cold": run(ours(work, folder / "3.sqlite"), folder),
        "BIRD's way": run(peer(work), folder, seconds=20 if quick else 120),
    }
    for way, outcome in found.items():
        tell("3 runaway", way, outcome)
        mine = {n: outcome.verdicts.get(place) for n, place in enumerate(places)}
        right = [n for n, verdict in clean.verdicts.items() if verdict]
        wrong, missing = sum(mine[n] == 0 for n in right), sum(mine[n] is None for n in right)
        print(
            f"{'':10} of {len(right)} right verdicts {wrong} lost to the time limit, {missing} not reached;"
            f" {outcome.left} threads or processes left at work"
            + ("; ended from outside, its verdicts until then" if outcome.killed else "")
        )
        if way == "ours, cold":
            accepted = sum(
                verdict for n, verdict in outcome.verdicts.items() if n not in set(places)
            )
            yield (
                "3 runaway: right verdicts lost",
                float(wrong + missing),
                "",
                "0",
                not wrong + missing,
            )
            yield "3 runaway: runaways judged right", float(accepted), "", "0", not accepted
            yield (
                "3 runaway: threads, processes left",
                float(outcome.left),
                "",
                "0",
                not outcome.left,
            )


def spider_pool(root: Path) -> list[list[Item]]:
    """A run for each prediction file, which is what the evaluator takes."""
    benchmark = open_benchmark("spider", root)
    databases = {question.id: question.db_id for question in benchmark.questions}
    found = read_predictions(benchmark, root / "predictions")
    return [
        [
            (str(benchmark.database(databases[key])), benchmark.golds[key].sql, sql, key)
            for key, sql in zip(part["question_id"], part["sql"], strict=True)
        ]
        for _, part in found.groupby("generator")
    ]


def shop_pool(database: Path, count: int) -> list[Item]:
    return [
        (str(database), asked.gold, candidate, str(number))
        for number, (asked, candidates) in enumerate(shop.questions(count))
        for candidate in candidates
    ]


def with_runaways(items: Sequence[Item]) -> tuple[list[Item], list[int]]:
    """The items with runaways of two kinds in between, no two alike, and where the items now stand.

    One is endless and can be interrupted; the other spends minutes in a single step of SQLite's.
    """
    draw = random.Random(0)
    before: dict[int, list[Item]] = defaultdict(list)
    for number, place in enumerate(draw.sample(range(len(items)), round(RUNAWAYS * len(items)))):
        database, gold, _, question = items[place]
        query = (
            f"WITH RECURSIVE n(i) AS (SELECT {number} UNION ALL SELECT i + 1 FROM n) SELECT COUNT(*) FROM n"
            if number % 2
            else f"SELECT {number}, length(trim(hex(zeroblob(4e6)),"
            " replace(hex(zeroblob(2e5)), '0', 'z') || '0'))"
        )
        before[place].append((database, gold, query, question))
    mixed: list[Item] = []
    places = []
    for place, item in enumerate(items):
        mixed += before[place]
        places.append(len(mixed))
        mixed.append(item)
    return mixed, places


def write(folder: Path, runs: Sequence[Sequence[Item]], seconds: float) -> Path:
    path = folder / "work.json"
    work = {
        "seconds": seconds,
        "processes": PROCESSES,
        "runs": [[item[:3] for item in run] for run in runs],
        "questions": [item[3] for run in runs for item in run],
    }
    path.write_text(json.dumps(work))
    return path


def peer(work: Path) -> list[str]:
    return [str(HERE / "bird_way.py"), str(work)]


def ours(work: Path, cache: Path) -> list[str]:
    return [__file__, "--ours", str(work), str(cache)]


def judge_ours(work: Path, cache: Path, out: Path) -> None:
    """Our side of the measurement, in a process of its own: as `bird_way.main`, on the same files."""
    task = json.loads(work.read_text())
    items = [item for run in task["runs"] for item in run]
    asked, golds, pairs = {}, {}, []
    for key, (database, gold, predicted) in zip(task["questions"], items, strict=True):
        asked[key] = Question(key, Path(database).stem, "")
        golds[key] = Gold(key, gold)
        pairs.append((key, predicted))
    root = Path(items[0][0]).parents[1]
    benchmark = Benchmark("bench", "bird", root, tuple(asked.values()), golds)
    limits = Limits(seconds=task["seconds"])
    gc.collect()
    wall, cpu = time.perf_counter(), bird_way.seconds_used()
    with Store(cache) as store, Executor(store, task["processes"]) as executor:
        verdicts = ex_verdicts(benchmark, pairs, executor, limits, sense="bird")
    wall, cpu = time.perf_counter() - wall, bird_way.seconds_used() - cpu
    left = len(descendants(os.getpid())) + threading.active_count() - 1
    with out.open("w") as file:
        for number, verdict in enumerate(verdicts):
            file.write(json.dumps([number, int(verdict)]) + "\n")
        file.write(json.dumps({"wall": wall, "cpu": cpu, "left": left}) + "\n")


def run(command: list[str], folder: Path, seconds: float = 600.0) -> Outcome:
    """Run one way in a process of its own, ending it and all its processes when its time is over."""
    out = folder / "verdicts.jsonl"
    out.unlink(missing_ok=True)
    started = time.perf_counter()
    process = subprocess.Popen([sys.executable, *command, str(out)], start_new_session=True)
    memory, cpu, left, killed = 0.0, 0.0, 0, False
    while process.poll() is None:
        tree = [process.pid, *descendants(process.pid)]
        memory = max(memory, sum(map(private_megabytes, tree)))
        if time.perf_counter() - started > seconds:
            cpu = sum(map(cpu_seconds, tree))
            left = sum(count_threads(pid) - 1 for pid in tree[1:])
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            killed = True
        time.sleep(0.1)
    if process.returncode and not killed:
        raise SystemExit(f"{command[0]} failed")
    lines = [json.loads(line) for line in out.read_text().splitlines() if line.endswith(("]", "}"))]
    verdicts = {line[0]: line[1] for line in lines if isinstance(line, list)}
    cost: dict[str, Any] = {"wall": time.perf_counter() - started, "cpu": cpu, "left": left}
    if not killed:
        cost = lines[-1]
    return Outcome(memory=memory, killed=killed, verdicts=verdicts, **cost)


def descendants(pid: int) -> list[int]:
    """The processes that a process started, and theirs."""
    children = defaultdict(list)
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal() and (fields := stat_fields(int(entry.name))):
            children[int(fields[1])].append(int(entry.name))
    found: list[int] = []
    todo = [pid]
    while todo:
        todo += (more := children[todo.pop()])
        found += more
    return found


def stat_fields(pid: int) -> list[str]:
    """What /proc/PID/stat says from the state on; nothing of a process that is gone or a zombie."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].split()
    except OSError:
        return []
    return [] if fields[0] == "Z" else fields


def cpu_seconds(pid: int) -> float:
    fields = stat_fields(pid)
    return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK") if fields else 0.0


def count_threads(pid: int) -> int:
    fields = stat_fields(pid)
    return int(fields[17]) if fields else 1


def private_megabytes(pid: int) -> float:
    """Memory that is its own: neither a mapped file nor shared."""
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return 0.0
    return next(
        (int(line.split()[1]) / 1000 for line in status.splitlines() if "RssAnon" in line), 0.0
    )


def tell(name: str, way: str, outcome: Outcome) -> None:
    print(
        f"{name:10} {way:12} {outcome.wall:8.3f} {outcome.cpu:8.3f} {outcome.memory:6.0f}",
        flush=True,
    )


def differing(bird: Outcome, others: Sequence[Outcome]) -> int:
    return sum(
        bird.verdicts.get(n) != other.verdicts.get(n)
        for other in others
        for n in bird.verdicts | other.verdicts
    )


def ratio(bird: Sequence[Outcome], ours: Sequence[Outcome], what: str) -> float:
    return statistics.median(getattr(o, what) for o in bird) / statistics.median(
        getattr(o, what) for o in ours
    )


if __name__ == "__main__":
    main()
