"""What the embedded parser reaches, which is no language model's result: CHASE-SQL and a direct query, bundled dev.

    python tests/benchmarks/bench_embedded.py [--quick]

Where WORKBENCH_SPIDER names a folder with Spider, a direct query with retrieved values on its questions, too. EX is
BIRD's; the oracle takes a right candidate where there is one. Bars on two idle cores: CHASE-SQL 27 and its oracle 33 on
the 278 bundled questions within 90 s, Spider 35. `--quick` asks 35 questions and has no bars.
"""

import os
import sys
import tempfile
import time
from dataclasses import replace

import workbench as wb

SPIDER = os.environ.get("WORKBENCH_SPIDER")


def measured(system, limit=None, **benchmark):
    """EX, the oracle's and the wall seconds of a system on a benchmark, in percent."""
    with wb.open_study(limit=limit, **benchmark) as study:
        began = time.perf_counter()
        questions = study.run(system).questions
        seconds = time.perf_counter() - began
    ex, oracle = (100 * questions[name].mean() for name in ("correct", "oracle"))
    print(
        f"{system.name}: EX {ex:.1f}, oracle {oracle:.1f}, n={len(questions)}, {seconds:.0f} s"
    )
    return ex, oracle, seconds


def main():
    limit = 35 if "--quick" in sys.argv else None
    held = []
    with tempfile.TemporaryDirectory() as home:
        os.environ["WORKBENCH_HOME"] = home
        ex, oracle, seconds = measured(wb.chase_sql(), limit, experiment="bundled-dev")
        held += [ex >= 27, oracle >= 33, seconds <= 90]
        query = replace(wb.direct(), retrieve=wb.chase_sql().retrieve)
        measured(query, limit, experiment="bundled-dev")
        if SPIDER:
            ex, *_ = measured(query, limit, experiment="spider-dev", root=SPIDER)
            held.append(ex >= 35)
    sys.exit(limit is None and not all(held))


if __name__ == "__main__":
    main()
