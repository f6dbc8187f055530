"""What asking about several columns in one call does: to the columns that gold needs, and to the answers.

    python tests/benchmarks/measure/grouping.py [--limit N] [--model MODEL] [--sizes N ...]

CHESS (IR, SS, CG) on bundled dev, filter_column asked about so many columns at once, 1 in the paper. Recall and
precision are those of the columns that filter_column leaves, keys included; EX is that of the answers, with its
difference to the first size, paired by question, and the interval clustered by database.

The embedded model judges each column of a group by itself, so for it the sizes can only differ where an answer
cannot be read. A language model's numbers need --model.
"""

import argparse
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parents[3])]

from workbench.benchmarks.benchmark import some  # noqa: E402
from workbench.benchmarks.bundled import load_bundled  # noqa: E402
from workbench.evaluate.ex import ex_verdicts  # noqa: E402
from workbench.evaluate.linking import linking_by_stage  # noqa: E402
from workbench.evaluate.stats import compare  # noqa: E402
from workbench.lab import Lab  # noqa: E402
from workbench.llm.cache import Cache  # noqa: E402
from workbench.llm.client import Client  # noqa: E402
from workbench.sql.executor import Executor  # noqa: E402
from workbench.systems.chess import chess_ir_ss_cg  # noqa: E402
from workbench.systems.system import solve, stages  # noqa: E402


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--limit", type=int, help="so many questions, spread evenly; default: all")
    parser.add_argument("--model", default="embedded/parser")
    parser.add_argument("--sizes", type=int, nargs="+", default=[1, 6, 12, 24])
    given = parser.parse_args()
    bundled = load_bundled("dev")
    benchmark = replace(bundled, questions=tuple(some(bundled.questions, given.limit)))
    databases = {question.id: question.db_id for question in benchmark.questions}
    first: dict[str, bool] = {}
    print(f"{given.model}, {len(databases)} questions of bundled dev\n")
    print("columns a call  calls  recall  precision    EX  difference")
    with (
        tempfile.TemporaryDirectory() as folder,
        Cache(Path(folder) / "lab.sqlite") as own,
        Cache() as users,
        Executor(own) as executor,
    ):
        store = own if given.model.startswith("embedded/") else users  # paid replies are kept
        for size in given.sizes:
            system = chess_ir_ss_cg(given.model)
            first, *others = system.prune
            system = replace(system, prune=(replace(first, group=size), *others))
            lab = Lab(Client(store), executor, benchmark.database)
            contexts = [
                ([*stages(system, question, lab)], benchmark.golds[question.id])
                for question in benchmark.questions
            ]
            _, filtered, *_ = linking_by_stage(contexts)
            tallies = lab.client.ledger.by("prompt").items()
            calls = sum(t.calls + t.hits for name, t in tallies if "filter_column" in name)
            trials = {q.id: solve(system, q, lab).trial for q in benchmark.questions}
            pairs = [(name, t.candidate.sql if t else "") for name, t in trials.items()]
            right = dict(zip(trials, ex_verdicts(benchmark, pairs, executor), strict=True))
            first = first or right
            versus = compare(right, first, databases)
            print(
                f"{size:14}{calls / len(databases):7.1f}{filtered.column_recall:8.1%}"
                f"{filtered.column_precision:11.1%}{sum(right.values()) / len(right):6.1%}"
                f"  {100 * versus.difference:+.1f} ({100 * versus.low:+.1f} to {100 * versus.high:+.1f})",
                flush=True,
            )


if __name__ == "__main__":
    main()
