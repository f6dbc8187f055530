"""How many queries that differ are told apart, how fast, and whether equal ones are ever said to differ.

    python tests/benchmarks/bench_differ.py [--spider DIR] [--pairs N] [--rewrites N]

1. Mutants of the gold queries of the bundled benchmark and of Spider, as many of each kind as can be. A mutant is
   known to differ where its result on the benchmark's own database is another one than gold's. Of the others
   nobody knows: EX cannot tell them from gold.
2. Rewrites of gold queries that mean the same (`REWRITES`), in both senses of equality, and pairs of which the
   second states what the first leaves open (`CHOICES`): which of the rows that tie it takes. No claim that they
   differ is right, as SQLite may give the first the result of the second.

Seconds are of processor time, of this process and its worker, as a machine's load is no part of the search.
Exits with 1 if a bar is missed.
"""

import argparse
import os
import random
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from sqlglot import exp, parse_one  # noqa: TID251  rewrites are made of trees

from workbench.benchmarks.bundled import load_bundled
from workbench.benchmarks.spider import load_spider
from workbench.db.compare import bird_equal, spider_equal
from workbench.db.execute import Executor
from workbench.db.schema import read_schema
from workbench.db.sql.derived.mutants import mutants
from workbench.differ.search import Outcome, tell_apart
from workbench.types import Limits

# As sets of rows, mutants of these kinds mostly equal gold: they are judged in Spider's sense.
IN_SPIDERS_SENSE = {"DISTINCT", "UNION ALL", "direction of ORDER BY", "column of ORDER BY"}
LIMITS = Limits(seconds=5.0)


@dataclass(frozen=True, slots=True)
class Case:
    kind: str
    database: Path
    gold: str
    other: str
    sense: str


def golds(spider: Path | None) -> list[tuple[Path, str]]:
    benchmarks = [load_bundled("dev"), load_bundled("train")]
    if spider:
        benchmarks.append(load_spider(spider))
    return [
        (benchmark.database(question.db_id), benchmark.golds[question.id].sql)
        for benchmark in benchmarks
        for question in benchmark.questions
    ]


def mutant_cases(given: list[tuple[Path, str]], count: int) -> list[Case]:
    """Cases of all kinds in turn, so that rare kinds are there as often as can be."""
    schemas = {database: read_schema(database) for database, _ in given}
    by_kind: dict[str, list[Case]] = defaultdict(list)
    random.Random(0).shuffle(given)
    for database, gold in given[:count]:  # enough golds for so many mutants
        seen: Counter[str] = Counter()
        for mutant in mutants(gold, schemas[database]):
            seen[mutant.kind] += 1
            if seen[mutant.kind] == 1:
                sense = "spider" if mutant.kind in IN_SPIDERS_SENSE else "bird"
                by_kind[mutant.kind].append(Case(mutant.kind, database, gold, mutant.sql, sense))
    cases: list[Case] = []
    while len(cases) < count and any(by_kind.values()):
        cases += [kind.pop() for kind in by_kind.values() if kind]
    return cases[:count]


def _flipped(tree: exp.Expr) -> Iterator[exp.Expr]:
    flips = {exp.GT: exp.LT, exp.LT: exp.GT, exp.GTE: exp.LTE, exp.LTE: exp.GTE, exp.EQ: exp.EQ}
    for node in tree.find_all(*flips):
        yield node, flips[type(node)](this=node.expression.copy(), expression=node.this.copy())


def _between(tree: exp.Expr) -> Iterator[exp.Expr]:
    for node in tree.find_all(exp.Between):
        low = exp.GTE(this=node.this.copy(), expression=node.args["low"].copy())
        high = exp.LTE(this=node.this.copy(), expression=node.args["high"].copy())
        yield node, exp.Paren(this=exp.And(this=low, expression=high))


def _in(tree: exp.Expr) -> Iterator[exp.Expr]:
    for node in tree.find_all(exp.In):
        if node.expressions:
            parts = [exp.EQ(this=node.this.copy(), expression=e.copy()) for e in node.expressions]
            yield node, exp.Paren(this=exp.or_(*parts))


def _commuted(tree: exp.Expr) -> Iterator[exp.Expr]:
    for node in tree.find_all(exp.And, exp.Or):
        sides = {"this": node.expression.copy(), "expression": node.this.copy()}
        sides = {key: exp.Paren(this=side) for key, side in sides.items()}
        yield node, exp.Paren(this=type(node)(**sides))


def _negated(tree: exp.Expr) -> Iterator[exp.Expr]:
    for node in tree.find_all(exp.NEQ):
        yield node, exp.Not(this=exp.EQ(**node.copy().args))
    for node in tree.find_all(exp.GT):
        yield node, exp.Not(this=exp.Paren(this=exp.LTE(**node.copy().args)))


def _always_true(tree: exp.Expr) -> Iterator[exp.Expr]:
    for node in tree.find_all(exp.Where):
        true = exp.EQ(this=exp.Literal.number(1), expression=exp.Literal.number(1))
        both = exp.And(this=exp.Paren(this=node.this.copy()), expression=true)
        yield node, exp.Where(this=both)


def _counted_rows(tree: exp.Expr) -> Iterator[exp.Expr]:
    for node in tree.find_all(exp.Count):
        if isinstance(node.this, exp.Star):
            yield node, exp.Count(this=exp.Literal.number(1))


def _swapped_join(tree: exp.Expr) -> Iterator[exp.Expr]:
    for node in tree.find_all(exp.Select):
        joins = node.args.get("joins") or []
        stars = any(part.is_star for part in node.expressions)
        if len(joins) == 1 and not joins[0].side and not stars:
            new = node.copy()
            first, second = new.args["from_"].this, new.args["joins"][0].this
            new.args["from_"].set("this", second.copy())
            new.args["joins"][0].set("this", first.copy())
            yield node, new


def _in_a_query(tree: exp.Expr) -> Iterator[exp.Expr]:
    # Spider's sense looks for ORDER BY in the text of gold, which stays as it is.
    names = [part.output_name for part in tree.selects]
    if all(names) and len(set(map(str.lower, names))) == len(names) and not tree.find(exp.With):
        yield tree, exp.select("*").from_(tree.copy().subquery("q"))


REWRITES: dict[str, Callable[[exp.Expr], Iterator[exp.Expr]]] = {
    "a comparison with its sides swapped": _flipped,
    "BETWEEN as two comparisons": _between,
    "IN as OR": _in,
    "AND and OR with their sides swapped": _commuted,
    "a comparison as NOT of its opposite": _negated,
    "a condition that is always true": _always_true,
    "COUNT(1) for COUNT(*)": _counted_rows,
    "joined tables swapped": _swapped_join,
    "the query inside another": _in_a_query,
}


Pair = tuple[exp.Expr, exp.Expr]


def _any_row_of_a_group(tree: exp.Expr) -> Iterator[Pair]:
    """A column outside GROUP BY, and its least or greatest value in the group."""
    if _is_plain(tree) and len(tree.expressions) > 1:
        group, taken = (part.unalias().copy() for part in tree.expressions[:2])
        for chosen in (exp.Min, exp.Max):
            pair = tree.copy(), tree.copy()
            for query, part in zip(pair, (taken, chosen(this=taken.copy())), strict=True):
                query.set("expressions", [group.copy(), part.copy()])
                query.set("group", exp.Group(expressions=[group.copy()]))
                query.set("order", None)
                query.set("limit", None)
            yield pair


def _any_of_the_first(tree: exp.Expr) -> Iterator[Pair]:
    """Rows of a LIMIT without ORDER BY, and with one."""
    if _is_plain(tree):
        first = tree.copy().limit(2)
        first.set("order", None)
        yield first, first.copy().order_by(tree.expressions[0].unalias().copy())


def _ties_of_an_order(tree: exp.Expr) -> Iterator[Pair]:
    """ORDER BY with and without a further key."""
    if not isinstance(tree, exp.Select) or not tree.args.get("order"):
        return
    if any(tree.args.get(part) for part in ("group", "distinct")):
        return
    for column in list(tree.find_all(exp.Column)):
        if column.parent_select is tree:
            other = tree.copy()
            other.args["order"].append("expressions", exp.Ordered(this=column.copy()))
            yield tree, other


def _is_plain(tree: exp.Expr) -> bool:
    """Whether a query selects columns and does not group, aggregate or drop duplicates."""
    return (
        isinstance(tree, exp.Select)
        and not tree.is_star
        and not any(tree.args.get(part) for part in ("group", "having", "distinct", "with_"))
        and all(isinstance(part.unalias(), exp.Column) for part in tree.expressions)
    )


CHOICES: dict[str, Callable[[exp.Expr], Iterator[Pair]]] = {
    "a column of any row of its group": _any_row_of_a_group,
    "LIMIT without ORDER BY": _any_of_the_first,
    "a further key of ORDER BY": _ties_of_an_order,
}


def rewrite_cases(given: list[tuple[Path, str]], count: int) -> list[Case]:
    random.Random(1).shuffle(given)
    by_kind: dict[str, list[Case]] = defaultdict(list)
    for database, gold in given:
        for kind, rewrite in REWRITES.items():
            tree = parse_one(gold, read="sqlite")
            for node, new in list(rewrite(tree))[:1]:
                if node is tree:
                    tree = new
                else:
                    node.replace(new)
                sense = ("bird", "spider")[len(by_kind[kind]) % 2]
                by_kind[kind].append(Case(kind, database, gold, tree.sql("sqlite"), sense))
        for kind, choice in CHOICES.items():
            for pair in choice(parse_one(gold, read="sqlite")):
                first, second = (query.sql("sqlite") for query in pair)
                by_kind[kind] += [
                    Case(kind, database, first, second, sense) for sense in ("bird", "spider")
                ]
    cases: list[Case] = []
    while len(cases) < count and any(by_kind.values()):
        cases += [kind.pop() for kind in by_kind.values() if kind]
    return cases[:count]


def processor_seconds() -> float:
    ticks = 0
    for child in Path(f"/proc/self/task/{os.getpid()}/children").read_text().split():
        fields = Path(f"/proc/{child}/stat").read_text().rpartition(")")[2].split()
        ticks += int(fields[11]) + int(fields[12])
    return time.process_time() + ticks / os.sysconf("SC_CLK_TCK")


def differ_on_the_real_database(case: Case, executor: Executor) -> bool | None:
    """None if the other query does not run there."""
    jobs = [(case.database, case.gold), (case.database, case.other)]
    gold, other = executor.execute_many(jobs, LIMITS)
    if not {gold.status, other.status} <= {"ok", "empty"}:
        return None
    if case.sense == "spider":
        return not spider_equal(other, gold, case.gold)
    return not bird_equal(gold, other)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--spider", type=Path, help="Spider's folder, with database/ and dev.json")
    parser.add_argument("--pairs", type=int, default=2_000)
    parser.add_argument("--rewrites", type=int, default=360)
    parser.add_argument("--show", action="store_true", help="print the pairs not told apart")
    options = parser.parse_args()
    given = golds(options.spider)
    known: Counter[tuple[str, str]] = Counter()
    unknown: Counter[str] = Counter()
    seconds: list[float] = []
    largest = 0

    def told(case: Case, executor: Executor) -> Outcome:
        nonlocal largest
        started = processor_seconds()
        outcome = tell_apart(case.database, case.gold, case.other, executor, case.sense)
        seconds.append(processor_seconds() - started)
        if outcome.database:
            largest = max(largest, *map(len, outcome.database.rows.values()))
        if options.show and outcome.status != "differ":
            print(f"{case.kind} | {case.gold} | {case.other} | {outcome}", flush=True)
        return outcome

    with Executor(workers=1) as executor:
        for case in mutant_cases(given, options.pairs):
            differs = differ_on_the_real_database(case, executor)
            if differs is not None:
                outcome = told(case, executor)
                (known if differs else unknown)[
                    (case.kind, outcome.status) if differs else outcome.status
                ] += 1
        speeds = sorted(seconds)
        seconds.clear()
        wrong = [
            case
            for case in rewrite_cases(given, options.rewrites)
            if told(case, executor).status == "differ"
        ]
    for kind in sorted({kind for kind, _ in known}):
        row = {status: count for (one, status), count in known.items() if one == kind}
        print(f"{kind:24} {row.get('differ', 0):5} of {sum(row.values()):5}")
    found = sum(count for (_, status), count in known.items() if status == "differ")
    median, p95 = (speeds[int(share * len(speeds))] for share in (0.5, 0.95))
    rate = found / known.total()
    print(f"known to differ: {found} of {known.total()} told apart ({100 * rate:.1f}%)")
    print(f"same result on the real database: {unknown['differ']} of {unknown.total()} told apart")
    print(
        f"seconds: median {median:.2f}, 95th percentile {p95:.2f}; at most {largest} rows a table"
    )
    print(f"rewrites that are equal: {len(seconds)}, said to differ: {len(wrong)}")
    for case in wrong:
        print(f"  {case.kind}, {case.sense}: {case.gold} | {case.other}")
    return int(rate < 0.92 or bool(wrong) or median > 0.5 or p95 > 3 or largest > 10)


if __name__ == "__main__":
    sys.exit(main())
