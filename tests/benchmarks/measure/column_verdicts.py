"""What a small language model loses when filter_column asks about several columns in one call.

    python tests/benchmarks/measure/column_verdicts.py [--questions 4] [--group 12] --model MODEL

The columns of the tables that gold queries use, spread over bundled dev, without retrieved values. Keys are not
asked about. A reply ends after --tokens for each column of its call, as many of a small model have no end of their own;
a column whose verdict cannot be read stays. Differences are paired by column, with intervals clustered by question.
"""

import argparse
import sys
from dataclasses import replace
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parents[3])]

from workbench.benchmarks.benchmark import some  # noqa: E402
from workbench.benchmarks.bundled import load_bundled  # noqa: E402
from workbench.evaluate.stats import compare  # noqa: E402
from workbench.lab import Lab  # noqa: E402
from workbench.llm.cache import Cache  # noqa: E402
from workbench.llm.client import Client  # noqa: E402
from workbench.sql.executor import Executor  # noqa: E402
from workbench.sql.reading import used  # noqa: E402
from workbench.systems.chess import FilterColumns  # noqa: E402
from workbench.types import Context, lower_name  # noqa: E402


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--questions", type=int, default=4)
    parser.add_argument("--group", type=int, default=12)
    parser.add_argument("--tokens", type=int, default=48)
    parser.add_argument("--model", required=True)
    given = parser.parse_args()
    bundled = load_bundled("dev")
    kept: dict[int, dict[str, bool]] = {}
    question_of: dict[str, str] = {}
    needed: set[str] = set()
    with Cache() as store, Executor(store) as executor:
        for size in (given.group, 1):
            parameters = {given.model: {"max_tokens": size * given.tokens}}
            lab = Lab(Client(store), executor, bundled.database, parameters=parameters)
            step = FilterColumns(given.model, group=size)
            verdicts = kept[size] = {}
            for question in some(bundled.questions, given.questions):
                schema = lab.schema(question.db_id)
                gold = used(bundled.golds[question.id].sql, schema)
                tables = {lower_name(name) for name in gold.tables}
                own = tuple(t for t in schema.tables if lower_name(t.name) in tables)
                context = Context(question, replace(schema, tables=own))
                left = set(step(lab, context).schema.columns())
                for pair in context.schema.columns():
                    name = f"{question.id}: {'.'.join(pair)}"
                    verdicts[name] = pair in left
                    question_of[name] = question.id
                    if tuple(map(lower_name, pair)) in {
                        tuple(map(lower_name, column)) for column in gold.columns
                    }:
                        needed.add(name)
            prompts = lab.client.ledger.by("prompt").items()
            calls = sum(tally.calls + tally.hits for _, tally in prompts)
            print(f"{size} columns a call: {calls} calls", flush=True)
    for what, names in (("needed", needed), ("other", set(question_of) - needed)):
        one, many = ({n: kept[size][n] for n in sorted(names)} for size in (1, given.group))
        found = compare(many, one, {name: question_of[name] for name in names})
        print(
            f"{what} columns that stay, of {len(names)}: {sum(one.values())} one by one,"
            f" {sum(many.values())} in groups; difference {100 * found.difference:+.1f}"
            f" ({100 * found.low:+.1f} to {100 * found.high:+.1f}) points"
        )


if __name__ == "__main__":
    main()
