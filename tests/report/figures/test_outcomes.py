"""What became of each question, and what selection lost."""

from workbench.report.figures.outcomes import exists_and_chosen, outcome_pie, outcomes, regret


def test_every_question_has_one_outcome(questions):
    frame = questions(("chase_sql",), ("clinic",))
    found = dict(zip(frame["question_id"], outcomes(frame)["outcome"], strict=True))
    assert found["clinic/1"] == "right one chosen"
    assert found["clinic/3"] == "right one there, another chosen"
    assert found["clinic/5"] == "no right candidate"


def test_wrong_gold_is_counted_separately_only_where_the_answer_was_judged_wrong(questions):
    frame = questions(("chase_sql",), ("clinic",))
    data = outcome_pie(frame, ["clinic/1", "clinic/3"], stamp="s").data.set_index("outcome")
    assert data["n"].to_dict() == {
        "right one chosen": 6,
        "right one there, another chosen": 2,
        "no right candidate": 3,
        "gold is wrong": 1,
    }
    assert data["percent"].sum() == 100


def test_exists_and_chosen_are_shares_of_each_database(questions):
    data = exists_and_chosen(questions(("chase_sql",)), stamp="s").data
    assert data["db_id"].tolist() == ["clinic", "harbour", "cinema"]
    assert data["exists"].tolist() == [75.0] * 3
    assert data["chosen"].tolist() == [50.0] * 3


def test_regret_is_what_another_choice_would_have_won(questions):
    frame = questions()
    data = regret(frame, stamp="s").data.set_index("system")
    for name, group in frame.groupby("system"):
        lost = group["oracle"] & ~group["correct"]
        assert data.loc[name, "n_lost"] == lost.sum()
        assert data.loc[name, "lost"] == 100 * lost.mean()
        assert data.loc[name, "right"] == 100 * group["correct"].mean()
