"""What `trace` finds behind a row is what the row was counted from: its number comes out of it again."""

import platform
import sqlite3
from dataclasses import replace

import pandas as pd
import pytest
from click.testing import CliRunner

from workbench.cli.run import trace as command
from workbench.errors import BadInputError
from workbench.evaluate import stats
from workbench.evaluate.judge import by_feature
from workbench.report.figures import (
    accuracy_by,
    agreement,
    bounds_by_difficulty,
    bounds_by_generator,
    paired_differences,
    regret,
    unique_solves,
    venn,
)
from workbench.report.tables import alone
from workbench.study.run import accuracy, costs
from workbench.study.study import open_study
from workbench.study.trace import questions_of, trace
from workbench.systems.baselines import replayed
from workbench.systems.chase_sql import chase_sql
from workbench.systems.select import Majority
from workbench.types import Candidate

REGION = "run,solved_by,n,question_ids,counted\n{run},a & b,{n},{ids},all\n"
WHOLE = chase_sql(samples=2)
SYSTEM = replace(WHOLE, generate=WHOLE.generate[:2], select=Majority("failed"))
KEY = ["run", "question_id", "generator", "sample"]


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WORKBENCH_HOME", str(tmp_path_factory.mktemp("home")))
        with open_study(
            "embedded", limit=40, figures=tmp_path_factory.mktemp("f")
        ) as opened:
            yield opened


@pytest.fixture(scope="module")
def run(study):
    return study.run(SYSTEM)


@pytest.fixture(scope="module")
def other(study):
    """Another selector's choice among the same candidates."""
    return study.run(replace(SYSTEM, select=Majority("nulls")), "other")


@pytest.fixture
def behind(study, run, other, monkeypatch):
    """Saves the data of a figure or a table; gives each row with the candidates behind it, judged."""
    # What is traced is the data: drawing the figure in three formats takes most of a second.
    monkeypatch.setattr("workbench.report.style.save", lambda *_: None)
    trials = pd.concat([run.trials, other.trials])
    right = trials.set_index(KEY)["correct"].to_dict()

    def found(shown, data=None):
        study.save("it", shown, data)
        path = study.saved.folder / "it.csv"
        for number, row in enumerate(rows_of(path)):
            candidates = trace(path, number, study.lab.client.cache)
            keys = zip(*(candidates[name] for name in KEY), strict=True)
            yield row, candidates.assign(correct=[right[key] for key in keys])

    return found


def rows_of(path):
    return pd.read_csv(path, dtype=str, keep_default_na=False).to_dict("records")


def table(study, *rows):
    return alone(pd.DataFrame(rows), study.stamp, "Rows")


def near(value):
    return pytest.approx(float(value), rel=1e-5)


def share(verdicts):
    return 100 * verdicts.mean()


def by_question(found):
    return {
        name: rows.tolist() for name, rows in found.groupby("question_id")["correct"]
    }


def test_an_accuracy_comes_from_what_was_chosen(study, run, behind):
    ((row, found),) = behind(table(study, costs(run.questions, run.name)))
    assert found["chosen"].all()
    assert found["question_id"].nunique() == len(found) == int(row["n"])
    assert share(found["correct"]) == near(row["EX"])


def test_one_candidate_and_the_bounds_come_from_all_of_them(study, run, behind):
    rows = [accuracy(run.trials), accuracy(run.oracle)]
    rows += [accuracy(run.adversary), accuracy(run.questions)]
    rows_behind = list(behind(table(study, *rows)))
    means = [found.groupby("question_id")["correct"] for _, found in rows_behind]
    again = [means[0].mean(), means[1].any(), means[2].all(), means[3].first()]
    assert [share(one) for one in again] == [near(row["EX"]) for row, _ in rows_behind]
    assert [len(found) for _, found in rows_behind] == [160, 160, 160, 40]


@pytest.mark.parametrize("draw", [bounds_by_generator, bounds_by_difficulty])
def test_bounds_come_from_all_candidates_of_their_slice(study, run, behind, draw):
    for row, found in behind(draw(run.trials, stamp=study.stamp)):
        expected = stats.bounds(by_question(found)).iloc[int(row["k"]) - 1]
        assert expected.upper == near(row["upper"])
        assert expected.lower == near(row["lower"])


def test_a_region_of_a_venn_diagram_is_its_questions_and_no_others(study, run, behind):
    rows_behind = list(behind(venn(run.trials, stamp=study.stamp)))
    assert any(int(row["n"]) for row, _ in rows_behind)
    for row, found in rows_behind:
        solved = found.pivot_table("correct", "question_id", "generator", "max").astype(
            bool
        )
        assert len(solved) == int(row["n"])
        for _, solvers in solved.iterrows():
            assert {name for name in solved if solvers[name]} == set(
                filter(None, row["solved_by"].split(" & "))
            )


@pytest.mark.parametrize("by", ["difficulty", "db_id"])
def test_unique_solves_are_the_questions_that_are_counted(study, run, behind, by):
    for row, found in behind(unique_solves(run.trials, by, stamp=study.stamp)):
        solved = found.groupby("question_id")["correct"].any()
        assert solved.all()
        assert len(solved) == int(row["n"])
        assert set(found[by]) <= {row[by]}
        assert set(found["generator"]) <= {row["generator"]}


@pytest.mark.parametrize("measure", ["same verdict", "row alone"])
def test_agreement_comes_from_both_of_a_pair(study, run, behind, measure):
    for row, found in behind(agreement(run.trials, measure=measure, stamp=study.stamp)):
        solved = found.pivot_table("correct", "question_id", "generator", "max").astype(
            bool
        )
        ours, theirs = solved[row["generator"]], solved[row["other"]]
        pairs = ours == theirs if measure == "same verdict" else ours & ~theirs
        assert share(pairs) == near(row["percent"])


def test_an_outcome_is_the_questions_that_came_out_so(study, run, behind):
    wrong_gold = run.questions.loc[~run.questions["correct"], "question_id"].tolist()[
        :1
    ]
    asked = run.questions.assign(system="here")
    for row, found in behind(regret(asked, wrong_gold, stamp=study.stamp)):
        questions = found.groupby("question_id")
        right = found[found["chosen"]].set_index("question_id")["correct"]
        assert len(questions) == int(row["n"]) > 0
        if row["outcome"] == "gold is wrong":
            assert list(questions.groups) == wrong_gold
        else:
            assert right.all() == right.any() == (row["outcome"] == "right one chosen")
            there = questions["correct"].any()
            assert (
                there.all() == there.any() == (row["outcome"] != "no right candidate")
            )


def test_a_difference_comes_from_what_both_chose(study, run, other, behind):
    asked = pd.concat([one.questions.assign(system=one.name) for one in (run, other)])
    ((row, found),) = behind(paired_differences(asked, stamp=study.stamp))
    right = found.pivot_table("correct", "question_id", "run", "max").astype(bool)
    assert len(right) == int(row["n"])
    assert share(right[other.id]) - share(right[run.id]) == near(row["difference"])


@pytest.mark.parametrize("by", ["feature", "difficulty", "db_id"])
def test_a_slice_of_one_answer_each_comes_from_these(study, run, behind, by):
    first = by_feature(run.trials[run.trials["sample"] == 1], study.benchmark)
    if by != "feature":
        first = first.drop_duplicates(KEY)
    rows_behind = list(behind(accuracy_by(first, by, "generator", stamp=study.stamp)))
    assert len({row[by] for row, _ in rows_behind}) > 1
    for row, found in rows_behind:
        assert len(found) == int(row["n"])
        assert set(found["sample"]) == {1}
        assert share(found["correct"]) == near(row["EX"])


def test_a_question_without_an_answer_is_among_those_counted(study):
    silent = study.run(replace(SYSTEM, generate=()), "silent")
    rows = costs(silent.questions, silent.name), accuracy(silent.oracle)
    study.save("few", table(study, *rows))
    path = study.saved.folder / "few.csv"
    for number, row in enumerate(rows_of(path)):
        found = trace(path, number, study.lab.client.cache)
        assert found["question_id"].tolist() == silent.questions["question_id"].tolist()
        assert set(found["sql"] + found["status"]) == {"missing"}
        assert len(found) == int(row["n"])


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("system,n,EX,CHESS: EX,run\nDIN-SQL,,,55.9,\n", "names no run"),
        ("question_id,found\n3,True\n", "names no run"),
        # No number, though it looks so.
        ("a,run\n1,123e45678901\n", "run 123e45678901 is not in"),
        ("a,run\n1,012345678901\n", "run 012345678901 is not in"),
    ],
)
def test_a_row_without_sql_says_why(study, tmp_path, text, complaint):
    data = tmp_path / "x.csv"
    data.write_text(text)
    with pytest.raises(BadInputError, match=complaint):
        trace(data, 0, study.lab.client.cache)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b'a,run\n1,"2\n',
        b"a,run\n1,2\n1,2,3\n",
        b"a,run\n1,2,3\n",
        b"a,run\n\xff,2\n",
    ],
)
def test_a_broken_csv_is_refused_by_its_name(study, tmp_path, content):
    (tmp_path / "x.csv").write_bytes(content)
    with pytest.raises(BadInputError, match=r"x\.csv: give the .csv beside a figure"):
        trace(tmp_path / "x.csv", 0, study.lab.client.cache)


def test_names_may_hold_what_stands_between_them(study):
    asked = study.benchmark.questions
    names = ("A & B", "C", "B")
    candidates = {
        one.id: tuple(Candidate("SELECT 1", name) for name in names) for one in asked
    }
    part = study.run(replayed("odd", candidates, Majority()))
    counted = alone(
        pd.DataFrame({"generator": names, "counted": "all", "run": part.id}),
        study.stamp,
        "Names",
    )
    study.save("odd", counted)
    for number, name in enumerate(names):
        found = trace(study.saved.folder / "odd.csv", number, study.lab.client.cache)
        assert {name} <= set(found["generator"]) <= {name, "B"}


def test_the_command_says_what_a_row_is_counted_from(study, run, tmp_path, monkeypatch):
    monkeypatch.setenv("WORKBENCH_HOME", str(study.lab.client.cache.path.parent))
    data = tmp_path / "it.csv"

    def output(text):
        data.write_text(text)
        return CliRunner().invoke(command, [str(data), "0"]).output

    first, second, *_ = run.questions["question_id"]
    ids = f"{first} {second}"
    found = output(REGION.format(run=run.id, n=2, ids=ids))
    assert found.startswith("8 candidates for 2 questions, ")
    none = output(REGION.format(run=run.id, n=0, ids=""))
    assert none.startswith("0 candidates for 0 questions")
    assert "0 candidates" in output(f"run,generator\n{run.id},nobody\n")
    left = output(f"run,stage,columns\n{run.id},filter_column,9\n")
    assert "40 candidates for 40 questions" in left


@pytest.fixture
def traced(study, run, tmp_path, monkeypatch):
    monkeypatch.setenv("WORKBENCH_HOME", str(study.lab.client.cache.path.parent))
    path = tmp_path / "it.csv"
    path.write_text(f"run\n{run.id}\n")
    return lambda *words: CliRunner().invoke(command, [str(path), "0", *words])


def test_each_question_has_its_verdict_and_the_sizes_of_both_results(
    study, run, traced
):
    chosen = trace(written(run, study), 0, study.lab.client.cache)
    table = questions_of(chosen, study.lab.client.cache)
    assert table["question"].tolist() == run.questions["question_id"].tolist()
    expected = run.questions["correct"].map({True: "right", False: "wrong"})
    assert table["verdict"].tolist() == expected.tolist()
    for question, row in zip(
        study.benchmark.questions, table.to_dict("records"), strict=True
    ):
        gold = study.benchmark.golds[question.id].sql
        assert row["gold"] == " ".join(gold.split())
        assert row["gold rows"] == study.lab.run(question, gold).row_count
        if row["verdict"] == "right":
            assert row["rows"] == study.lab.run(question, row["prediction"]).row_count
    said = traced().output
    assert platform.machine() in said
    assert said.count(" right ") == run.questions["correct"].sum()


def written(run, study):
    path = study.saved.folder / "rows.csv"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"run\n{run.id}\n")
    return path


def test_a_question_is_shown_with_gold_and_with_the_prompt_and_reply_of_each_call(
    study, run, traced
):
    question = study.benchmark.questions[3]
    said = traced("--question", question.id).output
    assert f"{question.id} ({question.db_id}) {question.text}" in said
    assert " ".join(study.benchmark.golds[question.id].sql.split()) in said
    assert all(f"\n  {name}: " in said for name in ("verdict", "rows", "gold rows"))
    trial = run.selection(question.id).trial
    assert all(key in said for key in trial.candidate.call_keys)
    first = trial.candidate.reasoning.splitlines()[0]
    assert first.strip() in said
    assert "[user]" in said
    assert "[reply]" in said
    none = traced("--question", "nothing").exception
    assert "no question nothing is behind this row" in str(none)


def test_a_run_that_is_not_here_is_refused_with_the_name_of_this_machine(
    study, tmp_path
):
    (tmp_path / "x.csv").write_text("run\n0123\n")
    with pytest.raises(BadInputError, match=rf"SQLite {sqlite3.sqlite_version}"):
        trace(tmp_path / "x.csv", 0, study.lab.client.cache)
