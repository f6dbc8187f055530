"""A real language model answers every prompt of the three systems, and each reply is read or counted as unread.

SmolLM2 has 135 million parameters and runs on llama.cpp, reached as a provider is. It rambles, repeats and stops in the
middle, and that is its use here. Each question comes with the tables and columns of gold, so that prompts are short.
`pytest -m model -s` prints the share of unread replies by prompt, before and after the second request.
"""

import subprocess
import sys
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

import workbench as wb
from workbench.prompts import names
from workbench.systems.chase_sql import Synthetic
from workbench.systems.mac_sql import Selector, decomposer
from workbench.types import Candidate, Context, Trial

pytestmark = pytest.mark.model

MODEL = "openai/SmolLM2-135M-Instruct"
LIMIT = 200  # tokens of a reply; many of this model's have no end of their own
QUESTIONS = 2
BROKEN = Candidate("SELECT nothing FROM nowhere", "given", 2)


def systems(model):
    """The three papers' systems and their variants; together they have every packaged prompt but the baselines'."""
    chase = wb.chase_sql(model, samples=1, attempts=1)
    divide, plan, synthetic = chase.generate
    few = replace(synthetic, examples=Synthetic(model, by_feature=1, by_column=1))
    high = wb.chess_ir_cg_ut(model, candidates=1, tests=2)
    low, mac = wb.chess_ir_ss_cg(model), wb.mac_sql(model, shots=0, tries=1)
    grouped = wb.cheaper(low, group=4)
    spider = decomposer(model, shots=0, benchmark="spider")
    # Asks however small the schema is.
    selector = Selector(model, mean_columns=0, most_columns=0)
    repairs = [
        replace(one, tries=1) for system in (chase, low, mac) for one in system.fix
    ]
    return {
        "retrieve": [wb.Keywords(model)],
        "prune": [*low.prune, grouped.prune[0], selector],
        "generate": [divide, plan, few, *low.generate, *mac.generate, spider,
                     *wb.agent(model, turns=2).generate, *wb.zero_shot(model).generate, *wb.direct(model).generate],
        "fix": repairs,
        "select": [chase.select, wb.Ranker(model), high.select, replace(high.select, by="candidate")],
    }  # fmt: skip


@contextmanager
def served():
    """The address of the model's server, a process of its own."""
    pytest.importorskip("xllamacpp", reason="needs the extra `local`: make test-model")
    command = [sys.executable, str(Path(__file__).with_name("llama_server.py"))]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield f"{process.stdout.readline().strip()}/v1"
        finally:
            process.kill()


def take(steps, lab, benchmark, question):
    """Take every step on a question, with gold's columns, and with a right, a wrong and a broken trial."""
    context = wb.AroundGold(wb.WHOLE_SCHEMA, benchmark.golds)(
        lab, question, lab.schema(question.db_id)
    )
    right = Candidate(benchmark.golds[question.id].sql, "given")
    trials = lab.run_candidates(
        question, [right, Candidate("SELECT 1, 2, 3", "given", 1), BROKEN]
    )
    for step in steps["retrieve"]:
        assert isinstance(step(lab, question), tuple)
    for step in steps["prune"]:
        assert isinstance(step(lab, context), Context)
    for step in steps["generate"]:
        for candidate in step(lab, context):
            assert bool(candidate.sql) != bool(candidate.problem)
    for step in steps["fix"]:
        assert isinstance(step(lab, context, trials[-1]), Trial)
    for step in steps["select"]:
        assert step(lab, context, trials[:2]).chosen in {0, 1}


def shares(heard, ledger):
    """For each prompt its calls, and the numbers of replies that were asked for again, and that stayed unread."""
    rows = {}
    for prompt, calls in ledger.frame().groupby("prompt").size().items():
        answers = [answer for request, answer in heard if request.prompt == prompt]
        again = sum(bool(answer.asked_again) for answer in answers)
        unread = sum(bool(answer.asked_again and answer.wanted) for answer in answers)
        rows[prompt] = (calls - again, again, unread)
    return rows


def test_every_reply_is_read_or_counted_as_unread(tmp_path):
    benchmark = wb.open_benchmark("bundled-dev").limited(QUESTIONS)
    with (
        served() as address,
        wb.Cache(tmp_path / "lab.sqlite") as cache,
        wb.Executor(cache) as executor,
    ):
        client = wb.Client(cache, at_once=1, api_base={MODEL: address})
        limits = {MODEL: {"max_tokens": LIMIT}}
        heard = []
        lab = wb.Lab(
            client,
            executor,
            benchmark.database,
            parameters=limits,
            heard=lambda *pair: heard.append(pair),
        )
        steps = systems(MODEL)
        for question in benchmark.questions:
            take(steps, lab, benchmark, question)
        rows = shares(heard, client.ledger)
        for prompt, (asked, again, unread) in rows.items():
            print(
                f"{prompt:32} {asked:4} asked, {again / asked:4.0%} unread, {unread / asked:4.0%} after a second request"
            )
        assert set(names()) - set(rows) <= {
            "select/evaluate_one_test",
            "select/evaluate_one_candidate",
            "generate/agent_turn",  # counted as generate/agent
        }
        assert all(unread <= again <= asked for asked, again, unread in rows.values())
        again = wb.Client(cache, offline=True)  # every reply is kept
        take(steps, replace(lab, client=again), benchmark, benchmark.questions[0])
