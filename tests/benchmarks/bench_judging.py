"""Judging predictions: BIRD's way against ours, in turn in one run.

    python tests/benchmarks/bench_judging.py [--spider FOLDER] [--quick]

1. Every prediction file of a Spider folder (its `predictions/`; WORKBENCH_SPIDER serves as well, and it is left out
   without): cold, from the cache, and one file alone, which has no bar.
2. A made-up pool on a database of 100 MB, 100 questions x 21 candidates, of which about a third differ in their text.
3. That pool with ten runaway queries and two seconds for each: no right verdict is lost, nothing is left at work.

BIRD's way is that of its published evaluator: for each file a pool of processes, for each prediction a fresh connection
and a thread with a time limit, prediction and gold both executed each time, equal sets of rows. Each side is a fresh
process; its wall and processor seconds are without its imports. No verdict may differ. Exits with 1 if a bar is missed.
"""

import argparse
import json
import multiprocessing
import os
import random
import resource
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import closing
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))
import workbench as wb
from workbench.benchmarks.benchmark import Benchmark
from workbench.evaluate.ex import ex_verdicts
from workbench.types import Gold, Limits, Question

PROCESSES, LIMIT, SHORT, RUNAWAYS = 2, 30.0, 2.0, 10


def score(database, gold, predicted, seconds):
    """1 where both queries give the same set of rows in time."""
    found = []

    def compare():
        try:
            with closing(sqlite3.connect(database)) as connection:
                rows = [
                    set(connection.execute(sql).fetchall()) for sql in (predicted, gold)
                ]
            found.append(int(rows[0] == rows[1]))
        except sqlite3.Error:
            found.append(0)

    thread = threading.Thread(target=compare, daemon=True)
    thread.start()
    thread.join(seconds)
    return found[0] if found else 0


def birds_way(runs, seconds, _cache):
    verdicts = []
    for run in runs:  # the evaluator takes one file
        with multiprocessing.get_context("fork").Pool(PROCESSES) as pool:
            pending = [pool.apply_async(score, (*item[:3], seconds)) for item in run]
            verdicts += [each.get() for each in pending]
            pool.close()
            pool.join()
    return verdicts


def our_way(runs, seconds, cache):
    items = [item for run in runs for item in run]
    root = Path(items[0][0]).parents[1]
    asked = {key: (path, gold) for path, gold, _, key in items}
    questions = {
        key: Question(key, Path(path).stem, "") for key, (path, _) in asked.items()
    }
    golds = {key: Gold(key, gold) for key, (_, gold) in asked.items()}
    benchmark = Benchmark("bench", "bird", root, tuple(questions.values()), golds)
    predictions = [(key, predicted) for *_, predicted, key in items]
    with wb.Store(cache) as store, wb.Executor(store, PROCESSES) as executor:
        return ex_verdicts(benchmark, predictions, executor, Limits(seconds=seconds))


def one_side(side, work, cache):
    runs, seconds = json.loads(Path(work).read_text())
    usage = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    wall, before = time.perf_counter(), [resource.getrusage(who) for who in usage]
    verdicts = {"bird": birds_way, "ours": our_way}[side](runs, seconds, cache)
    wall, after = time.perf_counter() - wall, [resource.getrusage(who) for who in usage]
    cpu = sum(
        b.ru_utime + b.ru_stime - a.ru_utime - a.ru_stime
        for a, b in zip(before, after, strict=True)
    )
    left = threading.active_count() - 1 + len(multiprocessing.active_children())
    print(json.dumps([wall, cpu, left, list(map(int, verdicts))]))


def measured(side, runs, folder, cache, seconds=LIMIT):
    """Wall seconds, processor seconds, threads and processes left, and the verdicts of one side."""
    work = folder / "work.json"
    work.write_text(json.dumps([runs, seconds]))
    command = [sys.executable, __file__, "--side", side, str(work), str(folder / cache)]
    return json.loads(
        subprocess.run(command, capture_output=True, text=True, check=True).stdout
    )


def build(path, rows=450_000):
    path.parent.mkdir(parents=True)
    with closing(sqlite3.connect(path)) as database:
        database.executescript(f"""
            CREATE TABLE sale(id INTEGER PRIMARY KEY, city TEXT, day TEXT, amount INTEGER, remark TEXT);
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {rows})
            INSERT INTO sale SELECT i, 'City of ' || (i * 7919 % 40), date('2020-01-01', (i * 104729 % 1800) || ' days'),
                i * 31 % 977, 'left at door ' || (i % 40) || hex(zeroblob(80)) FROM n;
        """)


def made_up(database, count):
    """Queries with the answer of gold in other words, and some that miss it in the ways of models."""
    draw = random.Random(0)
    run = []
    for number in range(count):
        city, month = f"City of {number % 40}", f"202{number % 5}-{number % 12 + 1:02}"
        where = f"city = '{city}' AND day LIKE '{month}%'"
        gold = f"SELECT COUNT(*) FROM sale WHERE {where}"
        right = (
            gold,
            f"SELECT COUNT(id) FROM sale WHERE {where}",
            f"SELECT SUM(city = '{city}') FROM sale WHERE day LIKE '{month}%'",
            f"SELECT COUNT(*) FROM sale AS T1 WHERE T1.city = '{city}' AND substr(T1.day, 1, 7) = '{month}'",
        )
        wrong = (
            f"SELECT COUNT(*) FROM sale WHERE city = '{city.lower()}'",
            f"SELECT SUM(amount) FROM sale WHERE {where}",
            f"SELECT COUNT(*), city FROM sale WHERE {where}",
            f"SELECT COUNT(* FROM sale WHERE {where}",
        )
        share = draw.choice((0.95, 0.85, 0.7, 0.4, 0.1))
        for _ in range(21):
            among = right if draw.random() < share else wrong
            (predicted,) = draw.choices(
                among, [1 / (place + 1) ** 1.5 for place in range(4)]
            )
            run.append((str(database), gold, predicted, str(number)))
    return run


def spider_files(root):
    benchmark = wb.open_benchmark("spider-dev", root)
    found = wb.read_predictions(benchmark, root / "predictions")
    databases = {
        question.id: str(benchmark.database(question.db_id))
        for question in benchmark.questions
    }
    return [
        [(databases[key], benchmark.golds[key].sql, sql, key) for key, sql in zip(part["question_id"], part["sql"], strict=True)]
        for _, part in found.groupby("generator")
    ]  # fmt: skip


def runaways(pool, folder, right):
    """The lost right verdicts of the pool, and what is left at work, with queries in between that never end."""
    endless = "WITH RECURSIVE n(i) AS (SELECT {} UNION ALL SELECT i + 1 FROM n) SELECT COUNT(*) FROM n"
    deaf = "SELECT {}, length(trim(hex(zeroblob(4e6)), replace(hex(zeroblob(2e5)), '0', 'z') || '0'))"
    added = [
        (*pool[n][:2], (endless, deaf)[n % 2].format(n), pool[n][3])
        for n in range(RUNAWAYS)
    ]
    wall, _, left, verdicts = measured(
        "ours", [added + pool], folder, "3.sqlite", SHORT
    )
    lost = sum(
        was and not now for was, now in zip(right, verdicts[RUNAWAYS:], strict=True)
    )
    print(
        f"runaways: {wall:.1f} s, {lost} right verdicts lost, {sum(verdicts[:RUNAWAYS])} judged right, {left} left at work"
    )
    return lost + sum(verdicts[:RUNAWAYS]) + left


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument(
        "--spider", type=Path, default=os.environ.get("WORKBENCH_SPIDER")
    )
    parser.add_argument("--quick", action="store_true", help="a small pool, one round")
    parser.add_argument("--side", nargs=3)
    given = parser.parse_args()
    if given.side:
        one_side(*given.side)
        return
    missed = 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        build(database := folder / "databases/shop/shop.sqlite")
        pool = made_up(database, 16 if given.quick else 100)
        files = spider_files(Path(given.spider)) if given.spider else []
        workloads = {
            "Spider's files": files,
            "one of them": files[:1],
            "a made-up pool": [pool],
        }
        for title, runs in workloads.items():
            if not runs:
                continue
            seen = {"bird": [], "cold": [], "warm": []}
            for number in range(1 if given.quick else 3):
                cache = f"{title[:3]}{number}.sqlite"
                for way, found in seen.items():
                    found.append(
                        measured(
                            "bird" if way == "bird" else "ours", runs, folder, cache
                        )
                    )
            verdicts = [each[3] for found in seen.values() for each in found]
            differ = sum(
                one != other
                for later in verdicts
                for one, other in zip(verdicts[0], later, strict=True)
            )
            times = {
                way: [statistics.median(each[n] for each in found) for n in (0, 1)]
                for way, found in seen.items()
            }
            print(
                f"{title}, {len(verdicts[0]):,} predictions, BIRD's way {times['bird'][0]:.2f} s wall, {differ} verdicts differ"
            )
            missed += differ
            for way, bar in (("cold", 5), ("warm", 50)):
                ratios = [
                    bird / ours
                    for bird, ours in zip(times["bird"], times[way], strict=True)
                ]
                held = title == "one of them" or min(ratios) >= bar
                print(
                    f"  ours {way}: {times[way][0]:.2f} s, {ratios[0]:.1f} times faster by wall, {ratios[1]:.1f} by processor (bar {bar})"
                )
                missed += not held
        missed += runaways(pool, folder, verdicts[0])
    sys.exit(bool(missed))


if __name__ == "__main__":
    main()
