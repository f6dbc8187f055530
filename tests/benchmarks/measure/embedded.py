"""What the embedded model reaches: one direct call per question, with and without what the prompt tells it.

    python tests/benchmarks/measure/embedded.py                     the bundled dev split
    python tests/benchmarks/measure/embedded.py --spider FOLDER     and Spider's questions, zero shot, no hints

EX is BIRD's. Nothing here is a language model's result.
"""

import argparse
import tempfile
import time
from collections import Counter, defaultdict
from dataclasses import replace
from pathlib import Path

from workbench.benchmarks.benchmark import Benchmark
from workbench.benchmarks.load import open_benchmark
from workbench.embedded.answer import answer
from workbench.evaluate.spider_em import hardness
from workbench.evaluate.stats import mean_interval
from workbench.lab import Lab
from workbench.llm.cache import Cache
from workbench.llm.client import Client
from workbench.retrieve.keywords import Keywords
from workbench.retrieve.retrieval import Retrieval
from workbench.sql.executor import Executor
from workbench.sql.facts import clauses, features
from workbench.sql.reading import used
from workbench.systems.baselines import direct
from workbench.systems.generate import Generate
from workbench.types import Question, Schema

MODEL = "embedded/parser"
FULL = Retrieval(Keywords(MODEL))
NO_VALUES = replace(FULL, index=None)


def right(
    lab: Lab, benchmark: Benchmark, retrieve: Retrieval, generate: Generate, *, hints: bool = True
) -> list[list[bool]]:
    """For each question, whether each sample's answer equals gold's."""
    verdicts = []
    for question in benchmark.questions:
        asked = question if hints else Question(question.id, question.db_id, question.text)
        context = retrieve(lab, asked, lab.schema(asked.db_id))
        path = benchmark.database(question.db_id)
        sqls = [candidate.sql for candidate in generate(lab, context)]
        gold = lab.executor.execute(path, benchmark.golds[question.id].sql)
        runs = lab.executor.execute_many([(path, sql) for sql in sqls])
        verdicts.append([bool(r.fingerprint) and r.fingerprint == gold.fingerprint for r in runs])
    return verdicts


def shown(name: str, benchmark: Benchmark, verdicts: list[bool]) -> None:
    """A line: the mean in percent and its interval, clustered by database."""
    groups = [question.db_id for question in benchmark.questions]
    found = mean_interval([float(verdict) for verdict in verdicts], groups)
    interval = f"({100 * found.low:.1f} to {100 * found.high:.1f})"
    print(f"{name:46} {100 * found.mean:6.2f}  {interval}  n={found.n}")


def bundled(lab: Lab, benchmark: Benchmark) -> None:
    """The figures of the bundled dev split."""
    (greedy,) = direct(MODEL).generate
    full = [v[0] for v in right(lab, benchmark, FULL, greedy)]
    shown("hint, values, full schema", benchmark, full)
    for level in ("simple", "moderate", "challenging"):
        of_level = [
            v
            for q, v in zip(benchmark.questions, full, strict=True)
            if benchmark.golds[q.id].difficulty == level
        ]
        print(f"  {level:44} {100 * sum(of_level) / len(of_level):6.2f}  n={len(of_level)}")
    shown("without values", benchmark, [v[0] for v in right(lab, benchmark, NO_VALUES, greedy)])
    without_hints = right(lab, benchmark, FULL, greedy, hints=False)
    shown("without hints", benchmark, [v[0] for v in without_hints])
    ten = right(lab, benchmark, FULL, replace(greedy, samples=10, temperature=1.0))
    one = sum(sum(v) for v in ten) / sum(map(len, ten))
    print(f"{'one sample at temperature 1 (mean of ten)':46} {100 * one:6.2f}")
    shown("best of ten samples at temperature 1", benchmark, [any(v) for v in ten])


def spider(lab: Lab, benchmark: Benchmark) -> None:
    """EX per hardness, zero shot."""
    (generate,) = direct(MODEL).generate
    verdicts = [v[0] for v in right(lab, benchmark, FULL, generate)]
    shown("Spider, zero shot", benchmark, verdicts)
    by_level: dict[str, list[bool]] = defaultdict(list)
    for question, verdict in zip(benchmark.questions, verdicts, strict=True):
        gold = benchmark.golds[question.id].sql
        by_level[hardness(gold, benchmark.schemas[question.db_id])].append(verdict)
    for level in ("easy", "medium", "hard", "extra"):
        found = by_level[level]
        print(f"  {level:44} {100 * sum(found) / len(found):6.2f}  n={len(found)}")
    why: Counter[str] = Counter()
    for question, verdict in zip(benchmark.questions, verdicts, strict=True):
        if not verdict:
            context = FULL(lab, question, lab.schema(question.db_id))
            said = generate(lab, context)[0].sql
            why.update(reasons(context.schema, said, benchmark.golds[question.id].sql))
    print(f"of {verdicts.count(False)} wrong answers, so many differ from gold's query in")
    for reason, count in why.most_common(10):
        print(f"  {reason:44} {count:6}")


def count(parts: tuple[tuple[str, str], ...], *names: str) -> int:
    return sum(name in names for name, _ in parts)


def reasons(schema: Schema, said: str, gold: str) -> set[str]:
    """In what a wrong query differs from gold's: several things at once, as a rule."""
    mine, theirs = used(said, schema), used(gold, schema)
    ours, wanted = features(said), features(gold)
    one, two = clauses(said), clauses(gold)
    if mine.error or not ours or not wanted or not one or not two:
        return {"unreadable"}
    found = {
        "a table too few": theirs.tables - mine.tables,
        "a table too many": mine.tables - theirs.tables,
        "other columns": mine.columns != theirs.columns and mine.tables == theirs.tables,
        "another number of result columns": count(one, "SELECT") != count(two, "SELECT"),
        "no set operation where gold has one": wanted["set operation"] > ours["set operation"],
        "no nested query where gold has one": wanted["nested query"] > ours["nested query"],
        "a nested query where gold has none": ours["nested query"] > wanted["nested query"],
        "no grouping where gold has one": wanted["GROUP BY"] > ours["GROUP BY"],
        "a grouping where gold has none": ours["GROUP BY"] > wanted["GROUP BY"],
        "other aggregates": ours["aggregation"] != wanted["aggregation"],
        "no order or limit where gold has one": wanted["LIMIT"] + wanted["ORDER BY"]
        > ours["LIMIT"] + ours["ORDER BY"],
        "an order or limit where gold has none": ours["LIMIT"] + ours["ORDER BY"]
        > wanted["LIMIT"] + wanted["ORDER BY"],
        "DISTINCT differs": bool(ours["DISTINCT"]) != bool(wanted["DISTINCT"]),
        "a condition too few": count(two, "WHERE", "JOIN ON") > count(one, "WHERE", "JOIN ON"),
        "a condition too many": count(one, "WHERE", "JOIN ON") > count(two, "WHERE", "JOIN ON"),
    }
    return {reason for reason, holds in found.items() if holds} or {"something else"}


def speed(lab: Lab, benchmark: Benchmark) -> None:
    """Milliseconds of an answer to a direct prompt that was never seen, outside client and cache."""
    took = []
    for question in benchmark.questions[::3]:
        context = FULL(lab, question, lab.schema(question.db_id))
        request = direct(MODEL).generate[0].request(lab, context)
        started = time.perf_counter()
        answer(request.messages, temperature=0.0, seed="")
        took.append(1000 * (time.perf_counter() - started))
    took.sort()
    print(
        f"milliseconds an answer: median {took[len(took) // 2]:.1f}, "
        f"95th percentile {took[int(0.95 * len(took))]:.1f}, longest {took[-1]:.1f}"
    )


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--spider", type=Path, help="folder where Spider was unpacked")
    arguments = parser.parse_args()
    with (
        tempfile.TemporaryDirectory() as folder,
        Cache(Path(folder) / "lab.sqlite") as store,
        Executor(store) as executor,
    ):
        dev = open_benchmark("bundled-dev")
        lab = Lab(Client(store), executor, dev.database)
        bundled(lab, dev)
        speed(lab, dev)
        if arguments.spider:
            real = open_benchmark("spider-dev", arguments.spider)
            spider(replace(lab, database=real.database), real)


if __name__ == "__main__":
    main()
