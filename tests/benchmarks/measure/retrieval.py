"""Value retrieval: how many of the text literals in gold queries are among the retrieved values.

    python tests/benchmarks/measure/retrieval.py [--model MODEL] [--spider DIR] [--runs] [--misses]
        [--retrieval SETTING] [--every N]

On the bundled benchmark (dev and train) and, with `--spider` or WORKBENCH_SPIDER, on Spider's dev set; on
the bundled one with the hints and without them. Keywords come from a model (the embedded one, which
costs nothing, unless another is named) and from the question alone; with `--runs` also as all runs of up
to five words, the most that could be looked up.

- A text literal is a string of the gold query that a text column of the database holds, or as a LIKE
  pattern matches; others (formats, parts of dates) cannot be retrieved by anybody.
- The question names it when its words stand in the question (with hints: in question or hint) in their
  order and next to each other, whatever their accents and punctuation, and their case unless it is a code
  of one or two letters.
- It is found when a retrieved value equals it or matches its pattern, and found in place when that value's
  column is one that the gold query uses.

`--retrieval` takes what an experiment's setting of that name does, as YAML: `paper`, `{index: minhash}`.

The bar, for literals that the question names: 0.95 found. Exits with 1 if it is missed.
"""

import argparse
import os
import re
import sqlite3
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path

import pandas as pd
import yaml

sys.path[:0] = [str(Path(__file__).parents[3])]

from workbench.benchmarks.benchmark import Benchmark  # noqa: E402
from workbench.benchmarks.bundled import load_bundled  # noqa: E402
from workbench.benchmarks.load import open_benchmark  # noqa: E402
from workbench.evaluate.spider_em import hardness  # noqa: E402
from workbench.lab import Lab  # noqa: E402
from workbench.llm.cache import Cache  # noqa: E402
from workbench.llm.client import Client  # noqa: E402
from workbench.retrieve.index.values import open_index  # noqa: E402
from workbench.retrieve.keywords import Keywords, distinct, spoken  # noqa: E402
from workbench.retrieve.lexical import words  # noqa: E402
from workbench.retrieve.matches import find_matches  # noqa: E402
from workbench.retrieve.named import retrieval_of  # noqa: E402
from workbench.retrieve.retrieval import Retrieval  # noqa: E402
from workbench.sql.executor import Executor  # noqa: E402
from workbench.sql.reading import used  # noqa: E402
from workbench.sql.schema import read_schema  # noqa: E402
from workbench.sql.schema_text import quote  # noqa: E402
from workbench.types import Gold, Question, Schema, ValueMatch  # noqa: E402

BAR = 0.95
SPAN = 5

Asker = Callable[[Lab, Question], Sequence[str]]


@dataclass(frozen=True, slots=True)
class Literal:
    """One string of a gold query, and the text columns that hold it."""

    text: str
    pattern: re.Pattern[str]
    places: frozenset[tuple[str, str]]

    def named_in(self, text: str) -> bool:
        own = self.text.replace("%", " ")
        if len(own.strip()) <= 2:
            return re.search(rf"\b{re.escape(own.strip())}\b", text) is not None
        return f" {' '.join(words(own))} " in f" {' '.join(words(text))} "

    def found_in(self, values: Iterable[ValueMatch], places: frozenset[tuple[str, str]]) -> bool:
        return any(
            (match.table, match.column) in places and self.pattern.fullmatch(match.value)
            for match in values
        )


def literals(sql: str, schema: Schema, connection: sqlite3.Connection) -> Iterator[Literal]:
    """The strings of a query that the database holds. In double quotes, a column's name is no string."""
    names = {column.name.lower() for table in schema.tables for column in table.columns}
    sql = re.sub(r"strftime\(\s*'[^']*'", "strftime(", sql, flags=re.IGNORECASE)
    texts = [m[1].replace("''", "'") for m in re.finditer(r"'((?:[^']|'')*)'", sql)]
    bare = re.sub(r"'(?:[^']|'')*'", "''", sql)
    texts += [m[1] for m in re.finditer(r'"([^"]*)"', bare) if m[1].lower() not in names]
    for text in dict.fromkeys(texts):
        like = "%" in text
        if not words(text):
            continue
        places = frozenset(
            (table, column)
            for table, column in text_columns(schema)
            if connection.execute(
                f"SELECT 1 FROM {quote(table)} WHERE {quote(column)} {'LIKE' if like else '='} ?"
                " LIMIT 1",
                (text,),
            ).fetchone()
        )
        if places:
            pattern = re.escape(text).replace("%", ".*").replace("_", "." if like else "_")
            yield Literal(text, re.compile(pattern, re.IGNORECASE if like else 0), places)


def text_columns(schema: Schema) -> Iterator[tuple[str, str]]:
    for table in schema.tables:
        for column in table.columns:
            if table.kind != "view" and re.search("CHAR|TEXT|CLOB|DATE|^$", column.type.upper()):
                yield table.name, column.name


def word_runs(lab: Lab, question: Question) -> tuple[str, ...]:
    """Every run of up to `SPAN` words."""
    del lab
    said = f"{question.text} {question.evidence}".split()
    runs = (said[i : i + n] for n in range(SPAN, 0, -1) for i in range(len(said) - n + 1))
    return tuple(distinct(map(" ".join, runs)))


def measure(
    lab: Lab, benchmark: Benchmark, hints: bool, ask: Asker, chosen: Retrieval
) -> Iterator[dict[str, object]]:
    """A record for each text literal; and one without a literal for each question, for what it cost."""
    schemas = {q.db_id: read_schema(benchmark.database(q.db_id)) for q in benchmark.questions}
    assert chosen.index
    indexes = {db_id: open_index(benchmark.database(db_id), chosen.index) for db_id in schemas}
    for asked in benchmark.questions:
        question = asked if hints else replace(asked, evidence="")
        schema, gold = schemas[asked.db_id], benchmark.golds[asked.id]
        started = time.process_time()
        keywords = ask(lab, question)
        index, similarity, matching = indexes[asked.db_id], chosen.similarity, chosen.matching
        values = find_matches(lab, index, schema, keywords, similarity, matching)
        seconds = time.process_time() - started
        record = {"question": asked.id, "type": kind(gold, schema), "db": asked.db_id}
        yield {**record, "keywords": len(keywords), "values": len(values), "seconds": seconds}
        with closing(sqlite3.connect(benchmark.database(asked.db_id))) as connection:
            for literal in literals(gold.sql, schema, connection):
                right = literal.places & used(gold.sql, schema).columns
                yield {
                    **record,
                    "literal": literal.text,
                    "asked": question.text,
                    "named": literal.named_in(f"{question.text} | {question.evidence}"),
                    "found": literal.found_in(values, literal.places),
                    "in place": literal.found_in(values, right or literal.places),
                }


def kind(gold: Gold, schema: Schema) -> str:
    return gold.difficulty or hardness(gold.sql, schema)


def tell(title: str, records: pd.DataFrame) -> float:
    """Print the recalls by question type; returns that of the literals that are named."""
    found = records[records["literal"].notna()]
    cost = records[records["literal"].isna()]
    print(
        f"\n{title}: {len(cost)} questions, {cost['keywords'].mean():.1f} keywords,"
        f" {cost['values'].mean():.1f} values (p95 {cost['values'].quantile(0.95):.0f}),"
        f" {1000 * cost['seconds'].median():.1f} ms of CPU each"
    )
    print(
        f"{'':12} {'named':>6} {'found':>6} {'in place':>8}    {'all':>6} {'found':>6} {'in place':>8}"
    )
    groups = [*found.groupby("type", sort=True), ("all", found)]
    for name, group in groups:
        named = group[group["named"].astype(bool)]
        cells = [
            (len(part), part["found"].mean(), part["in place"].mean()) for part in (named, group)
        ]
        print(f"{name:12} " + "    ".join(f"{n:6} {a:6.3f} {b:8.3f}" for n, a, b in cells))
    return float(found[found["named"].astype(bool)]["found"].mean())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--model", default="embedded/parser")
    parser.add_argument("--spider", type=Path, default=os.environ.get("WORKBENCH_SPIDER"))
    parser.add_argument("--runs", action="store_true")
    parser.add_argument("--misses", action="store_true")
    parser.add_argument("--retrieval", type=yaml.safe_load, default="default")
    parser.add_argument("--every", type=int, default=1, help="ask every N-th question")
    given = parser.parse_args()
    askers: dict[str, Asker] = {
        given.model: Keywords(given.model),
        "question alone": lambda _, question: spoken(question),
    }
    if given.runs:
        askers[f"runs of {SPAN} words"] = word_runs
    sets = [(load_bundled(split), hints) for split in ("dev", "train") for hints in (True, False)]
    if given.spider:
        sets.append((open_benchmark("spider-dev", Path(given.spider)), False))
    recalls: dict[str, float] = defaultdict(float)
    with Cache() as store, Executor() as executor:
        for whole, hints in sets:
            benchmark = replace(whole, questions=whole.questions[:: given.every])
            lab = Lab(Client(store), executor, benchmark.database)
            for name, ask in askers.items():
                title = f"{benchmark.name}, {'with' if hints else 'without'} hints, {name}"
                chosen = retrieval_of(given.retrieval)
                records = pd.DataFrame(measure(lab, benchmark, hints, ask, chosen))
                recalls[title] = tell(title, records)
                if given.misses:
                    literal = records[records["literal"].notna()]
                    missed = literal[literal["named"].astype(bool) & ~literal["found"].astype(bool)]
                    print(missed[["db", "literal", "asked"]].to_string(max_colwidth=150))
    low = [title for title, recall in recalls.items() if recall < BAR]
    print("\nbelow the bar:", "; ".join(low) if low else "nothing")
    sys.exit(bool(low))


if __name__ == "__main__":
    main()
