"""What a preview says is what the ledger counts afterwards, where the model answers as in the preview."""

import pytest

import workbench as wb
from workbench.experiment.preview import cost_lines, preview_work, save_preview
from workbench.llm.cache import Cache
from workbench.llm.client import Client
from workbench.llm.money import Tally
from workbench.llm.preview import Preview, Row
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

        with Cache() as store, monkeypatch.context() as patched:
            before = preview_work(run, QUESTIONS, store)
            client = Client(store, send=lambda request, *_: stand_in(request))
            patched.setattr(study, "client_of", lambda *_, **__: client)
            run()
            patched.undo()
            solving._prepared.clear()  # contexts of the first preview, which a new process does not have
            return before, client.ledger, preview_work(run, QUESTIONS, store)

    return answered


def test_a_preview_of_all_questions_is_what_the_ledger_counts(answered):
    before, ledger, after = answered()
    paid, frame = ledger.total(), ledger.frame()
    assert {row.prompt: row.calls for row in before.rows} == dict(
        frame[~frame["cached"]].groupby("prompt").size()
    )
    assert before.together.calls == paid.calls
    assert before.together.input == pytest.approx(1.3 * paid.input_tokens, rel=0.01)
    assert 0 < before.together.low < before.together.high
    assert sum(row.calls for row in after.rows) == 0
    assert sum(row.cached for row in after.rows) == paid.calls
    assert (after.together.low, after.together.high) == (0, 0)


def test_a_notebook_previews_a_system_by_the_front_door(tmp_path, monkeypatch):
    monkeypatch.setenv("WORKBENCH_HOME", str(tmp_path / "home"))
    found = wb.preview_of(wb.zero_shot(MODEL), "bundled-dev", questions=2, limit=10)
    assert [(row.prompt, row.calls, row.cached) for row in found.rows] == [
        ("generate/zero_shot", 10, 0)
    ]


def test_what_a_run_came_to_stands_beside_its_preview(tmp_path):
    path = tmp_path / "preview.json"
    paid = Tally(3, 2000, 100, 0.05, hits=4)
    alone = cost_lines(path, paid)
    assert "$0.0500" in alone
    assert cost_lines(path, Tally()).endswith("which cost nothing; all answers were cached")
    row = Row("p", MODEL, calls=5, input=6500, low=0.0078, high=0.053)
    save_preview(Preview((row,)), path)
    assert "5 calls, about 6,500 tokens in, $0.0078 to $0.0530" in cost_lines(path, paid)
    assert "$0.0039 to $0.0265 in batches" in cost_lines(path, paid, batch=True)
