"""Judging as BIRD's own evaluator does it: the peer that `bench_judging.py` measures against.

Written from a description of `llm/src/evaluation.py` in BIRD's repository, for measuring only. A
`multiprocessing.Pool` of `num_cpus` processes takes one prediction at a time. Each runs in a thread under
a time limit for prediction and gold together: open a fresh connection, execute the prediction and fetch
everything, execute gold and fetch everything, compare the two sets of rows. A time-out and any error score
zero. Nothing is shared between predictions, and nothing is kept.

The evaluator takes its time limit from the package func_timeout. Where that is not installed, `limited`
does what it does: run the function in a daemon thread, and once time is up raise an exception inside that
thread again and again, which has no effect while the thread is inside SQLite.

    python bird_way.py WORK.json VERDICTS.jsonl

reads `{"seconds": ..., "processes": ..., "runs": [[[database, gold, predicted], ...], ...]}`, where a run is
what one call of the evaluator judges, writes a JSON line `[number, verdict]` for each prediction as it
comes, and at last one with what it cost.
"""

import ctypes
import gc
import itertools
import json
import multiprocessing
import resource
import sqlite3
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any


class OutOfTime(BaseException):
    """Raised where the time limit of a function is over, and inside its thread."""


def _limited(seconds: float, function: Callable[..., Any], args: tuple[Any, ...]) -> Any:
    """What func_timeout does, for where it is not installed."""
    results: list[Any] = []
    errors: list[Exception] = []

    def target() -> None:
        try:
            results.append(function(*args))
        except OutOfTime:
            pass
        except Exception as error:  # noqa: BLE001  handed to the caller, whatever it is
            errors.append(error)

    thread = threading.Thread(target=target, daemon=True)
    thread.start()
    thread.join(seconds)
    if thread.is_alive():
        threading.Thread(target=_insist, args=(thread,), daemon=True).start()
        raise OutOfTime
    if errors:
        raise errors[0]
    return results[0]


def _insist(thread: threading.Thread) -> None:
    """Raise in the other thread every two seconds until it has ended."""
    while thread.is_alive():
        ctypes.pythonapi.PyThreadState_SetAsyncExc(
            ctypes.c_ulong(thread.ident or 0), ctypes.py_object(OutOfTime)
        )
        thread.join(2.0)


try:
    from func_timeout import FunctionTimedOut, func_timeout

    LIMITER = "func_timeout"
except ImportError:
    FunctionTimedOut, func_timeout = OutOfTime, _limited
    LIMITER = "a stand-in for func_timeout"


def compare(predicted: str, gold: str, database: str) -> int:
    """1 where both queries give the same set of rows."""
    connection = sqlite3.connect(database)
    cursor = connection.cursor()
    answer = cursor.execute(predicted).fetchall()
    expected = cursor.execute(gold).fetchall()
    return int(set(answer) == set(expected))


def score(number: int, database: str, gold: str, predicted: str, seconds: float) -> list[int]:
    """The number of a prediction and its verdict."""
    try:
        verdict = func_timeout(seconds, compare, args=(predicted, gold, database))
    except FunctionTimedOut:
        verdict = 0
    except Exception:  # noqa: BLE001  as the evaluator has it: whatever fails is wrong
        verdict = 0
    return [number, verdict]


def seconds_used() -> float:
    """CPU time of this process and of its children that have ended."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(u.ru_utime + u.ru_stime for u in used)


def threads(pid: int) -> int:
    """How many threads a process has."""
    return len(list(Path(f"/proc/{pid}/task").iterdir()))


def main(work: Path, verdicts: Path) -> None:
    task = json.loads(work.read_text())
    numbers = itertools.count()
    left = 0
    gc.collect()
    wall, cpu = time.perf_counter(), seconds_used()
    with verdicts.open("w", buffering=1) as file:
        for run in task["runs"]:
            pool = multiprocessing.get_context("fork").Pool(task["processes"])
            pending = [
                pool.apply_async(
                    score,
                    (next(numbers), *item, task["seconds"]),
                    callback=lambda found: file.write(json.dumps(found) + "\n"),
                )
                for item in run
            ]
            for one in pending:
                one.wait()
            # An idle process of the pool has one thread; others are queries whose time is long over.
            left += sum(threads(child.pid or 0) - 1 for child in multiprocessing.active_children())
            pool.close()
            pool.join()
        cost = {
            "wall": time.perf_counter() - wall,
            "cpu": seconds_used() - cpu,
            "left": left,
            "limiter": LIMITER,
        }
        file.write(json.dumps(cost) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
