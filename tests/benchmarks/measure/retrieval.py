"""Which literals of gold queries retrieval finds, and what a direct call answers with these values.

    python tests/benchmarks/measure/retrieval.py [--every N] [--model MODEL] [SETTING ...]

A setting is one of an experiment's `retrieval`, such as trigram or {similarity: minilm}; by default lsh, trigram and none.
"""

import argparse
import sys
import time
from dataclasses import replace
from pathlib import Path

import yaml

sys.path.insert(0, str(Path(__file__).parents[3]))
from workbench.generate.direct import Direct

from workbench.benchmarks.bundled import load_bundled
from workbench.evaluate.linking import literals
from workbench.lab import Lab
from workbench.llm.cache import Cache
from workbench.llm.client import Client
from workbench.retrieve.keywords import Keywords
from workbench.retrieve.named import with_retrieval
from workbench.retrieve.retrieval import Retrieval
from workbench.sql.executor import Executor


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("settings", nargs="*", default=["lsh", "trigram", "{index: none}"])
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--model", default="embedded/parser")
    given = parser.parse_args()
    whole = load_bundled("dev")
    benchmark = replace(whole, questions=whole.questions[:: given.every])
    with Cache() as store, Executor(store) as executor:
        lab = Lab(Client(store), executor, benchmark.database)
        for setting in given.settings:
            retrieve = with_retrieval(Retrieval(Keywords(given.model)), yaml.safe_load(setting))
            started = time.process_time()
            contexts = {q.id: retrieve(lab, q, lab.schema(q.db_id)) for q in benchmark.questions}
            seconds, right = time.process_time() - started, 0
            for question in benchmark.questions:
                sql = Direct(given.model)(lab, contexts[question.id])[0].sql
                path = benchmark.database(question.db_id)
                jobs = [(path, benchmark.golds[question.id].sql), (path, sql)]
                gold, answer = executor.result_fingerprints(jobs)
                right += bool(gold) and gold == answer
            found = literals(benchmark, contexts, lab.schema)
            named, count = found[found["spelled"]], len(contexts)
            shown = sum(len(context.values) for context in contexts.values())
            print(
                f"{setting}: {len(named)} literals named, {named['found'].mean():.3f} found;"
                f" {len(found)} in all, {found['found'].mean():.3f}; {shown / count:.1f} values and"
                f" {1000 * seconds / count:.0f} ms a question; EX {100 * right / count:.1f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
