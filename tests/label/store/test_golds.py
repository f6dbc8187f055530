"""What people say of gold becomes a revision by which predictions are judged again."""

import json
from dataclasses import replace

import pytest
from click.testing import CliRunner

from workbench.benchmarks.benchmark import with_golds
from workbench.benchmarks.bundled import load_bundled
from workbench.cli.evaluate import evaluate
from workbench.errors import BadInputError
from workbench.label.store import LabelStore, label_of
from workbench.label.store.golds import BOTH_RIGHT, CORRECTED, GOLD, NO_VERDICT, peoples_gold
from workbench.label.taxonomy import open_taxonomy
from workbench.label.widget.session import Session

WRONG = "SELECT 'no answer'"


@pytest.fixture
def cases(make_case, bird):
    """The first three questions of the benchmark, each with a wrong prediction."""
    return [
        replace(make_case(WRONG, bird.golds[question.id].sql), question=question)
        for question in bird.questions[:3]
    ]


def verdict(case, category, annotator="ann", sql=""):
    return label_of(case, GOLD, category, annotator=annotator, note=sql)


def test_a_query_written_in_the_labeller_is_run_and_is_gold_then(
    cases, bird, lab, labels, tmp_path
):
    session = Session(cases, open_taxonomy("CHESS"), labels, "ann", lab)
    session.step("correct gold", "SELECT 1")
    assert session.status == "gold is corrected; the query gives 1 rows"
    session.step("next")
    session.step("both right")
    found = peoples_gold(labels.labels(), bird)
    assert (found.corrected, found.both_right, found.disputed) == (1, 1, ())
    found.write(tmp_path / "people.json")
    revised = with_golds(bird, tmp_path / "people.json")
    first, second = (question.id for question in bird.questions[:2])
    assert revised.golds[first].sql == "SELECT 1"
    assert revised.golds[second] == bird.golds[second]
    assert len(revised.questions) == len(bird.questions), "EX is that of the whole benchmark"


def test_a_correction_is_that_of_its_own_question_where_two_have_the_same_text(cases, bird):
    first, second = (replace(case.question, text="Which?", db_id="d") for case in cases[:2])
    twins = replace(bird, questions=(first, second))
    given = [verdict(replace(cases[0], question=first), CORRECTED, sql="SELECT 1")]
    sql = {item["question_id"]: item["SQL"] for item in peoples_gold(given, twins).items}
    assert sql == {first.id: "SELECT 1", second.id: bird.golds[second.id].sql}


def test_a_query_that_fails_is_not_saved(cases, lab, labels):
    session = Session(cases, open_taxonomy("CHESS"), labels, "ann", lab)
    with pytest.raises(BadInputError, match="not saved, since the query gives no result: no such"):
        session.step("correct gold", "SELECT gone FROM nowhere")
    assert not labels.labels()


def test_both_right_is_taken_back_by_the_same_key_and_by_undo(cases, bird, labels):
    session = Session(cases, open_taxonomy("CHESS"), labels, "ann")
    session.step("both right")
    session.step("both right")
    assert peoples_gold(labels.labels(), bird).both_right == 0
    session.step("undo")
    assert peoples_gold(labels.labels(), bird).both_right == 1


def test_what_annotators_dispute_stays_as_it_is_until_it_is_settled(cases, bird, labels):
    first, second, _ = cases
    labels.add([verdict(first, CORRECTED, sql="SELECT 1"), verdict(second, BOTH_RIGHT)])
    labels.add([verdict(first, CORRECTED, "bob", "SELECT 2"), verdict(second, NO_VERDICT, "bob")])
    found = peoples_gold(labels.labels(), bird)
    assert found.disputed == (first.question.id, second.question.id)
    assert (found.corrected, found.both_right) == (0, 0)
    labels.add([verdict(first, CORRECTED, "adjudicator", "SELECT 2")])
    assert peoples_gold(labels.labels(), bird).items[0]["SQL"] == "SELECT 2"


def test_another_layout_of_the_same_query_is_no_dispute(cases, bird, labels):
    labels.add([verdict(cases[0], CORRECTED, sql="SELECT 1")])
    labels.add([verdict(cases[0], CORRECTED, "bob", "select  1")])
    assert not peoples_gold(labels.labels(), bird).disputed


def test_from_the_labeller_to_ex_under_peoples_gold(make_case, monkeypatch, tmp_path):
    """The prediction answers three questions wrongly; people call two of these answers right."""
    monkeypatch.setenv("WORKBENCH_HOME", str(tmp_path))
    bundled = load_bundled("dev")
    questions = bundled.questions
    answers = {question.id: bundled.golds[question.id].sql for question in questions}
    wrong = [
        replace(make_case(WRONG, answers[question.id]), question=question)
        for question in questions[:3]
    ]
    answers |= {case.question.id: WRONG for case in wrong}
    (tmp_path / "system.json").write_text(json.dumps(answers))
    LabelStore.named("bundled-dev").add(
        [verdict(wrong[0], CORRECTED, sql=WRONG), verdict(wrong[1], BOTH_RIGHT)]
    )

    def run(command, *arguments):
        done = CliRunner().invoke(command, list(map(str, arguments)), catch_exceptions=False)
        assert done.exit_code == 0, done.output
        return done.output

    file = tmp_path / "people.json"
    found = peoples_gold(LabelStore.named("bundled-dev").labels(), bundled)
    assert (found.corrected, found.both_right) == (1, 1)
    found.write(file)
    report = json.loads(
        run(
            evaluate, "bundled-dev", "--predictions", tmp_path / "system.json",
            "--gold", f"people={file}", "--json",
        )
    )  # fmt: skip
    (own,), (people,) = report["files"], report["golds"]
    n = len(questions)
    assert own["ex_bird"] == pytest.approx(100 * (n - 3) / n)
    assert people["ex"] == pytest.approx(100 * (n - 2) / n)
    assert (people["won"], people["lost"]) == ([questions[0].id], [])
