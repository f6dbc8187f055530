"""What a preview says is what the ledger counts afterwards, where the model answers as in the preview."""

import pytest

import workbench as wb
from workbench.experiment.preview import cost_lines, preview_work, save_preview
from workbench.llm.budget import Tally
from workbench.llm.client import Client
from workbench.llm.preview import Estimate, preview
from workbench.store import Store
from workbench.study import open_study, solving, study
from workbench.study.previewing import stand_in
from workbench.systems.chase_sql import chase_sql

MODEL = "openai/gpt-4.1"
QUESTIONS = 2


@pytest.fixture
def answered(monkeypatch, tmp_path):
    """Previews CHASE-SQL on two questions, runs it, and previews it again: the previews and the ledger."""
    monkeypatch.setenv("WORKBENCH_HOME", str(tmp_path / "home"))

    def answered():
        def run():
            with open_study("bundled-dev", model=MODEL, limit=QUESTIONS) as opened:
                return opened.run(chase_sql(MODEL, samples=2))

        with Store() as store, monkeypatch.context() as patched:
            before = preview_work(run, QUESTIONS, store)
            client = Client(store, send=stand_in)
            patched.setattr(study, "client_of", lambda *_, **__: client)
            run()
            patched.undo()
            solving._prepared.clear()  # contexts of the first preview, which a new process does not have
            return before, client.ledger, preview_work(run, QUESTIONS, store)

    return answered


def test_a_preview_of_all_questions_is_what_the_ledger_counts(answered):
    before, ledger, after = answered()
    paid = ledger.total()
    counted = {row.prompt: row.calls for row in before.rows}
    assert counted == {prompt: tally.calls for prompt, tally in ledger.by("prompt").items()}
    for (low, high), came in (
        (before.together.input, paid.input_tokens),
        (before.together.output, paid.output_tokens),
        (before.together.live, paid.cost),
    ):
        assert low <= came <= high
    middle = sum(before.together.live) / 2
    assert before.together.live[0] < paid.cost < middle  # the upper end has longer replies
    assert sum(row.calls for row in after.rows) == 0
    assert sum(row.cached for row in after.rows) == paid.calls
    assert after.together.live == (0, 0)


def test_a_notebook_previews_a_system_by_the_front_door(tmp_path, monkeypatch):
    monkeypatch.setenv("WORKBENCH_HOME", str(tmp_path / "home"))
    found = wb.preview_of(wb.zero_shot(MODEL), "bundled-dev", questions=2, limit=10)
    assert [(row.prompt, row.calls, row.cached) for row in found.rows] == [
        ("generate/zero_shot", 10, 0)
    ]


def test_embedding_calls_are_counted_and_have_no_output():
    with Store() as store:
        calls = Estimate("retrieve/embed", "openai/text-embedding-3-small", 1000, 500)
        found = preview(Client(store), [], [calls])
    assert found.together.output == (0, 0)
    assert found.together.live == pytest.approx((0.007, 0.013))


def test_what_a_run_came_to_stands_beside_its_preview(tmp_path):
    path = tmp_path / "preview.json"
    paid = Tally(3, 2000, 100, 0.05, hits=4)
    alone = cost_lines(path, paid)
    assert (
        alone == "paid:    3 calls, 2,000 tokens in, 100 out, $0.0500; 4 further calls were cached"
    )
    assert cost_lines(path, Tally()).endswith("which cost nothing; all answers were cached")
    with Store() as store:
        save_preview(preview(Client(store), [], [Estimate("p", MODEL, 5, 1000)]), path)
    said = "preview: 5 calls, 3,500 to 6,500 tokens in, 100 to 5,000 out, $0.0078 to $0.0530"
    assert cost_lines(path, paid) == f"{alone}\n{said}"
    halved = f"{said.rpartition(', ')[0]}, $0.0039 to $0.0265 in batches"
    assert cost_lines(path, paid, batch=True) == f"{alone}\n{halved}"


def test_the_table_has_a_line_for_each_prompt_and_their_sums():
    with Store() as store:
        rows = [
            Estimate("a/b", MODEL, 5, 1000),
            Estimate("c/d", MODEL, 2, 10, cached=7),
        ]
        head, first, second, last = preview(Client(store), [], rows).table().splitlines()
    assert head.split()[:4] == ["prompt", "model", "calls", "cached"]
    assert first.split()[:4] == ["a/b", "gpt-4.1", "5", "0"]
    assert second.split()[:4] == ["c/d", "gpt-4.1", "2", "7"]
    assert last.split()[:3] == ["together", "7", "7"]
