"""What the embedded model reaches: systems on the bundled questions, and a direct query with retrieved values for each of Spider's.

    python tests/benchmarks/measure/embedded.py                     CHASE-SQL and a direct query, bundled dev
    python tests/benchmarks/measure/embedded.py --spider FOLDER     and Spider's questions

EX is BIRD's. The oracle takes a right candidate where there is one. Seconds are of this process's processor time, without
the workers that run SQL. Nothing here is a language model's result.
"""

import argparse
import tempfile
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path

import workbench as wb


def measure(system: wb.System, benchmark: wb.Benchmark) -> None:
    """A line with the system's EX, by database, its oracle, and the time that it took."""
    right: Counter[str] = Counter()
    oracle, questions = 0, Counter(question.db_id for question in benchmark.questions)
    with (
        tempfile.TemporaryDirectory() as folder,
        wb.Cache(Path(folder) / "lab.sqlite") as store,
        wb.Executor(store) as executor,
    ):
        lab = wb.Lab(wb.Client(store), executor, benchmark.database)
        began = time.process_time()
        for question in benchmark.questions:
            gold = (benchmark.database(question.db_id), benchmark.golds[question.id].sql)
            (wanted,) = executor.result_fingerprints([gold])
            selection = wb.solve(system, question, lab)
            trials = (selection.trial, *selection.trials)
            first, *all_of = (t.execution.fingerprint if t and t.execution else "" for t in trials)
            right[question.db_id] += bool(first) and first == wanted
            oracle += bool(wanted) and wanted in all_of
        seconds = time.process_time() - began
    count = questions.total()
    by_database = ", ".join(f"{name} {right[name]}/{n}" for name, n in sorted(questions.items()))
    print(f"{system.name} on {benchmark.name}: EX {100 * right.total() / count:.1f}, ", end="")
    print(f"oracle {100 * oracle / count:.1f}, n={count}, {seconds:.0f} s ({by_database})")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--spider", type=Path, help="folder where Spider was unpacked")
    folder = parser.parse_args().spider
    query = replace(wb.direct(), retrieve=wb.chase_sql().retrieve)
    if folder:
        measure(query, wb.open_benchmark("spider-dev", folder))
    dev = wb.open_benchmark("bundled-dev")
    measure(query, dev)
    measure(wb.chase_sql(), dev)


if __name__ == "__main__":
    main()
