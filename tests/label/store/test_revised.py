"""Labels survive a revision: what changed under a label is listed, and a reworded question keeps its labels."""

import json
from dataclasses import replace

import pytest
from click.testing import CliRunner

from workbench.benchmarks.bundled import load_bundled
from workbench.cli.label import label
from workbench.label.store import LabelStore, label_of


@pytest.fixture
def run(monkeypatch, tmp_path, make_case):
    """`workbench label ...` in a home with labels of the first four bundled questions."""
    monkeypatch.setenv("WORKBENCH_HOME", str(tmp_path))
    questions = load_bundled("dev").questions[:4]
    case = make_case("SELECT 1")
    LabelStore.named("bundled-dev").add(
        label_of(replace(case, question=question), "T", "join", annotator="ann")
        for question in questions
    )

    def run(*arguments):
        done = CliRunner().invoke(label, list(map(str, arguments)), catch_exceptions=False)
        assert done.exit_code == 0
        return done.output.splitlines()

    return run


@pytest.fixture
def revision(tmp_path):
    """Another gold query for question 1, and other words for question 2."""
    first, second, third, _ = (q.id for q in load_bundled("dev").questions[:4])
    path = tmp_path / "revision.json"
    items = [
        {"question_id": first},
        {"question_id": second, "SQL": "SELECT 2"},
        {"question_id": third, "question": "Said anew?"},
    ]
    path.write_text(json.dumps(items))
    return path


def test_labels_whose_question_or_gold_changed_are_listed(run, revision):
    lines = run("revised", "bundled-dev", "--gold", f"new={revision}")
    ids = [q.id for q in load_bundled("dev").questions[:4]]
    assert lines == [
        f"new: question {ids[1]} on harbour, SQL changed: ann: join",
        f"new: question {ids[2]} on harbour, question changed: ann: join",
        "new: 2 of 4 labels need another look",
    ]


def test_a_label_of_a_reworded_question_is_found_under_the_new_text_once_it_is_carried(
    run, revision
):
    given = ("revised", "bundled-dev", "--gold", f"new={revision}", "--carry")
    assert run(*given)[-1] == "new: 1 labels added under the new text"
    found = LabelStore.named("bundled-dev").labels()
    assert [label.question for label in found].count("Said anew?") == 1
    assert len(found) == 5
    assert run(*given)[-1] == "new: 0 labels added under the new text"


def test_without_a_revision_the_command_says_what_is_missing(run):
    done = CliRunner().invoke(label, ["revised", "bundled-dev"])
    assert "add --gold NAME=FILE" in str(done.exception)
