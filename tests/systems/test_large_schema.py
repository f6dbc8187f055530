"""CHESS on as many columns as the paper's largest schema has, 4,337: the bundled ones, repeated (figure 3)."""

from collections import Counter
from dataclasses import replace

import pytest

from workbench.benchmarks.bundled import load_bundled
from workbench.embedded.answer import answer
from workbench.evaluate.around_gold import AroundGold
from workbench.lab import Lab
from workbench.retrieve.retrieval import Retrieval
from workbench.sql.executor import Executor
from workbench.sql.reading import used
from workbench.systems.chess import InformationRetriever, chess_ir_ss_cg
from workbench.systems.system import prepare, trials_of
from workbench.types import Completion

COLUMNS = 4337
RETRIEVE = InformationRetriever(Retrieval(keywords=None, index=None))


class Model:
    """Finds relevant, one column at a time, what gold uses; answers all else as the embedded model does."""

    def __init__(self, relevant):
        self.relevant = relevant
        self.shown = Counter()  # characters by prompt
        self.calls = Counter()

    def complete(self, request):
        self.shown[request.prompt] += sum(len(m["content"]) for m in request.messages)
        self.calls[request.prompt] += 1
        if request.prompt == "prune/filter_column":
            asked = request.messages[-1]["content"].split("\nColumn: ")[1].splitlines()[0]
            verdict = "yes" if asked in self.relevant else "no"
            return Completion(f'{{"relevant": "{verdict}"}}', request.model)
        return Completion(answer(request.messages, temperature=0.0, seed=""), request.model)

    def complete_many(self, requests):
        return [self.complete(request) for request in requests]


@pytest.fixture(scope="module")
def models():
    """What a model was shown by CHESS (IR, SS, CG), with the Schema Selector and without it."""
    benchmark = load_bundled("dev")
    question = benchmark.questions[0]
    gold = benchmark.golds[question.id]
    system = chess_ir_ss_cg("m/x")
    found = []
    with Executor(workers=1) as executor:
        lab = Lab(None, executor, benchmark.database)
        others = tuple(map(lab.schema, sorted({q.db_id for q in benchmark.questions})))
        columns = used(gold.sql, lab.schema(question.db_id)).columns
        retrieve = AroundGold(RETRIEVE, benchmark.golds, COLUMNS, others, repeated=True)
        for prune in (system.prune, ()):
            model = Model({f"{table}.{column}" for table, column in columns})
            asking = replace(lab, client=model)
            whole = replace(system, retrieve=retrieve, prune=prune, fix=())
            trials_of(whole, prepare(whole, question, asking), asking)
            found.append(model)
    return found


def test_pruning_4337_columns_cuts_the_generators_prompt_at_least_five_times(models):
    pruned, whole = (model.shown["generate/chess_candidate"] for model in models)
    assert whole > 5 * pruned


def test_filtering_every_column_costs_more_tokens_than_it_saves_for_one_candidate(models):
    pruned, whole = (model.shown.total() for model in models)
    assert models[0].calls["prune/filter_column"] > 3000
    assert pruned > whole
