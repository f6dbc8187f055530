"""The calls of one question, prompt by prompt, as each system makes them: the files of `golden/` read like the figures.

WORKBENCH_GOLDEN=write writes the files anew.
"""

import json
import os
from dataclasses import replace
from itertools import groupby
from pathlib import Path

import pytest

import workbench as wb
from tests.systems.conftest import ALL, BROKEN, QUESTION
from workbench.benchmarks.benchmark import Benchmark
from workbench.systems.mac_sql import Selector
from workbench.types import Gold

GOLDEN = Path(__file__).parent / "golden"
WITH_ONE_SHOT = {"shots": 1}
CANARY = "SELECT 'known to the judge alone'"


def chase_sql():
    whole = wb.chase_sql(
        "m/x", judge="m/judge", samples=2, temperature=0.5, filtering="m/cheap"
    )
    divide, plan, synthetic = whole.generate
    shown = (replace(divide, data=WITH_ONE_SHOT), replace(plan, data=WITH_ONE_SHOT))
    examples = replace(synthetic.examples, shots=2)
    return replace(whole, generate=(*shown, replace(synthetic, examples=examples)))


SYSTEMS = {
    "chase_sql": chase_sql,
    "chess_ir_cg_ut": lambda: wb.chess_ir_cg_ut("m/x", 3, 2, generation="m/tuned"),
    "chess_ir_ss_cg": lambda: wb.chess_ir_ss_cg("m/x", filtering="m/cheap"),
    "mac_sql": lambda: replace(
        wb.mac_sql("m/x", shots=1), prune=(Selector("m/x", most_columns=3),)
    ),
    "zero_shot": lambda: wb.zero_shot("m/x"),
}
# What a prompt is answered first, so that every step has something to do.
FIRST = {
    "generate/query_plan": [
        f"**Final Optimized SQL Query:**\n{BROKEN}",
        f"**Final Optimized SQL Query:**\n{ALL}",
    ],
    "generate/chess_candidate": [
        json.dumps({"chain_of_thought_reasoning": "", "SQL": sql})
        for sql in (BROKEN, ALL, ALL)
    ],
    "generate/decomposer": [f"Sub question 1: Which?\nSQL\n```sql\n{BROKEN}\n```"],
}


def transcript(model):
    """One call of each prompt in full, in the order of the prompts, and how many there are."""
    order = dict.fromkeys(request.prompt for request in model.asked)
    text = []
    for prompt in order:
        requests = sorted(model.of(prompt), key=lambda r: (r.sample, str(r.messages)))
        for settings, same in groupby(
            requests, key=lambda r: (r.model, tuple(sorted(r.parameters.items())))
        ):
            count = len({(r.sample, str(r.messages)) for r in same})
            engine, parameters = settings
            told = ", ".join(
                [engine, *(f"{name} {value}" for name, value in parameters)]
            )
            text.append(
                f"<!-- {prompt}: {count} different {'call' if count == 1 else 'calls'}; {told} -->"
            )
        text += (
            f"# {m['role'].capitalize()}\n{m['content']}" for m in requests[0].messages
        )
    return "\n\n".join(text) + "\n"


@pytest.mark.parametrize("name", SYSTEMS)
def test_the_calls_of_one_question(zoo, name):
    zoo.model.replies |= {prompt: list(replies) for prompt, replies in FIRST.items()}
    selection = zoo.run(SYSTEMS[name]())
    assert selection.sql
    made, file = transcript(zoo.model), GOLDEN / f"{name}.md"
    if os.environ.get("WORKBENCH_GOLDEN") == "write":
        file.write_text(made)
    assert made == file.read_text()


@pytest.mark.parametrize("name", SYSTEMS)
def test_no_gold_reaches_a_step(zoo, name, tmp_path):
    """The gold query and its result stand in the benchmark alone."""
    gold = Gold(QUESTION.id, CANARY, "simple")
    benchmark = Benchmark(
        "zoo", "bird", zoo.path.parent, (QUESTION,), {QUESTION.id: gold}
    )
    zoo.model.replies |= {prompt: list(replies) for prompt, replies in FIRST.items()}
    wb.solve(SYSTEMS[name](), benchmark.questions[0], zoo.lab)
    assert zoo.model.asked
    assert "known to the judge" not in str(zoo.model.asked)


def test_hyper_parameters_asked_for_are_those_used(zoo):
    zoo.run(
        wb.chase_sql("m/x", "m/judge", samples=3, temperature=1.3, filtering="m/cheap")
    )
    counts = zoo.model.counts()
    generators = ("divide_and_conquer", "query_plan", "synthetic_examples")
    assert [counts[f"generate/{name}"] for name in generators] == [3, 3, 3]
    drawn = {
        r.parameters["temperature"]
        for n in generators
        for r in zoo.model.of(f"generate/{n}")
    }
    assert drawn == {1.3}
    assert {r.model for r in zoo.model.of("prune/filter_column")} == {"m/cheap"}


def test_the_papers_numbers_are_the_defaults():
    chase, high, low, mac = (
        wb.chase_sql(),
        wb.chess_ir_cg_ut(),
        wb.chess_ir_ss_cg(),
        wb.mac_sql(),
    )
    assert [step.samples for step in chase.generate] == [7, 7, 7]
    examples = chase.generate[2].examples
    assert examples.by_feature + examples.by_column == 75
    assert (chase.fix[0].tries, chase.fix[0].suspect) == (3, "empty")
    assert (chase.select.by, chase.select.orders) == ("candidate", "both")
    assert (high.generate[0].samples, high.select.tests, high.select.by) == (
        20,
        10,
        "test",
    )
    assert (low.generate[0].samples, low.fix[0].tries, low.fix[0].sound) == (1, 3, True)
    assert [step.group for step in low.prune[:1]] == [1]
    assert (mac.generate[0].data["shots"], mac.fix[0].tries) == (2, 3)
    assert {system.retrieve.retrieval.descriptions.top for system in (high, low)} == {5}
