"""Which columns a value index should hold: our rule beside CHESS's, on real schemas and on the bundled ones.

    python tests/benchmarks/measure/columns.py [--spider DIR]

CHESS indexes a column that is declared TEXT, is no primary key, is not called after an id, a URL, an e-mail,
the web, a time, a phone, a date or an address, and either has "name" in its name and less than 5 MB, or
less than 2 MB and short values, or less than a hundred values. Counted are the columns and distinct values
that each rule indexes, and how many of the quoted strings in gold queries that some cell holds are in
a column that it indexes.
"""

import argparse
import os
import re
import sqlite3
import sys
import time
from collections import Counter
from contextlib import closing
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[3]))
from workbench.benchmarks.benchmark import Benchmark
from workbench.benchmarks.bundled import load_bundled
from workbench.benchmarks.load import open_benchmark
from workbench.retrieve.index.columns import read_values
from workbench.sql.schema import read_schema
from workbench.sql.schema_text import quote

NAMED = ("_id", " id", "url", "email", "web", "time", "phone", "date", "address")
QUOTED = re.compile(r"'((?:[^']|'')*)'|\"([^\"]*)\"")


def by_chess(path: Path) -> set[tuple[str, str]]:
    """The columns that CHESS's rule indexes."""
    chosen = set()
    with closing(sqlite3.connect(path)) as connection:
        connection.text_factory = bytes
        for table in read_schema(path).tables:
            for column in table.columns:
                name = column.name.lower()
                if (
                    column.type.upper() != "TEXT"
                    or column.name in table.primary_key
                    or any(part in name for part in NAMED)
                    or column.name.endswith("Id")
                ):
                    continue
                size, count = connection.execute(
                    f"SELECT sum(length(v)), count(v) FROM"
                    f" (SELECT DISTINCT {quote(column.name)} AS v FROM {quote(table.name)})"
                ).fetchone()
                if count and (
                    ("name" in name and size < 5_000_000)
                    or (size < 2_000_000 and size / count < 25)
                    or count < 100
                ):
                    chosen.add((table.name, column.name))
    return chosen


def measure(benchmark: Benchmark) -> Counter[str]:
    count: Counter[str] = Counter()
    queries = {question.id: question.db_id for question in benchmark.questions}
    for db_id in sorted(set(queries.values())):
        path = benchmark.database(db_id)
        started = time.process_time()
        values = read_values(path)
        count["milliseconds"] += round(1000 * (time.process_time() - started))
        theirs = {values.columns.index(pair) for pair in by_chess(path) if pair in values.columns}
        columns = dict(
            zip(values.texts, map(values.groups.__getitem__, values.group_of), strict=True)
        )
        count["columns"] += len(read_schema(path).columns())
        count["columns, ours"] += len(values.columns)
        count["columns, CHESS"] += len(theirs)
        count["values, ours"] += len(columns)
        count["values, CHESS"] += sum(not theirs.isdisjoint(group) for group in columns.values())
        for gold in benchmark.golds.values():
            if queries[gold.question_id] == db_id:
                strings = {a.replace("''", "'") or b for a, b in QUOTED.findall(gold.sql)}
                held = [columns[string] for string in strings if string in columns]
                count["strings"] += len(held)
                count["strings, CHESS"] += sum(not theirs.isdisjoint(group) for group in held)
    return count


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--spider", type=Path, default=os.environ.get("WORKBENCH_SPIDER"))
    spider = parser.parse_args().spider
    benchmarks = [load_bundled("dev"), load_bundled("train")]
    if spider:
        benchmarks.append(open_benchmark("spider-dev", Path(spider)))
    for benchmark in benchmarks:
        print(benchmark.name, dict(measure(benchmark)))


if __name__ == "__main__":
    main()
