"""Description retrieval (CHESS, retrieve_context): how often the retrieved ones are all that the gold query needs.

    python tests/benchmarks/measure/descriptions.py [--minilm] [--model MODEL]

On bundled dev and train. A column is needed if the gold query uses it, the catalog describes it, and it is no key: a
key is told by the schema. For each similarity and number of descriptions:

- whole: the share of questions for which every needed column's description is retrieved;
- columns: the share of the needed columns;
- text: the letters of the retrieved descriptions, as a share of the database's whole catalog.

`--minilm` also compares by embeddings, which takes minutes the first time and needs the extra `embed`. Keywords come
from a model: the embedded one, which costs nothing, unless another is named.
"""

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

import pandas as pd

sys.path[:0] = [str(Path(__file__).parents[3])]

from workbench.benchmarks.benchmark import Benchmark  # noqa: E402
from workbench.benchmarks.bundled import load_bundled  # noqa: E402
from workbench.lab import Lab  # noqa: E402
from workbench.llm.cache import Cache  # noqa: E402
from workbench.llm.client import Client  # noqa: E402
from workbench.retrieve.descriptions import Descriptions, description  # noqa: E402
from workbench.retrieve.embed import MiniLM, Similarity  # noqa: E402
from workbench.retrieve.keywords import Keywords  # noqa: E402
from workbench.retrieve.lexical import Lexical  # noqa: E402
from workbench.sql.executor import Executor  # noqa: E402
from workbench.sql.reading import used  # noqa: E402

COUNTS = (5, 10, 20, 30, 40, 50, 60)


def measure(
    lab: Lab, benchmark: Benchmark, similarity: Similarity, ask: Keywords
) -> Iterator[dict[str, float]]:
    """A record for each question and number of descriptions."""
    for question in benchmark.questions:
        schema = lab.schema(question.db_id)
        texts = {
            (table.name, column.name): text
            for table in schema.tables
            for column in table.columns
            if (text := description(column))
        }
        keys = {
            (table.name, name)
            for table in schema.tables
            for names in (table.primary_key, *(key.columns for key in table.foreign_keys))
            for name in names
        }
        gold = benchmark.golds[question.id]
        needed = (used(gold.sql, schema).columns & texts.keys()) - keys
        every = Descriptions(top=len(texts))
        keywords = ask(lab, question)
        found = [(m.table, m.column) for m in every(lab, question, schema, keywords, similarity)]
        for count in COUNTS:
            shown = found[:count]
            hit = len(needed & set(shown))
            letters = sum(len(texts[one]) for one in shown)
            yield {
                "descriptions": count,
                "whole": hit == len(needed),
                "columns": hit / len(needed) if needed else 1.0,
                "text": letters / sum(map(len, texts.values())),
            }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--model", default="embedded/parser")
    parser.add_argument("--minilm", action="store_true")
    given = parser.parse_args()
    similarities: dict[str, Similarity] = {"by letters": Lexical()}
    if given.minilm:
        similarities["by MiniLM"] = MiniLM()
    with Cache() as store, Executor() as executor:
        for split in ("dev", "train"):
            benchmark = load_bundled(split)
            lab = Lab(Client(store), executor, benchmark.database)
            for name, similarity in similarities.items():
                records = measure(lab, benchmark, similarity, Keywords(given.model))
                means = pd.DataFrame(records).astype(float).groupby("descriptions").mean()
                print(f"\n{benchmark.name}, {name}\n{means.mul(100).round(1)}")


if __name__ == "__main__":
    main()
