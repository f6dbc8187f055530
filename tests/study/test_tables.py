"""Runs side by side as tables and figures, beside a paper's, with claims about a column of them."""

from dataclasses import replace

import pandas as pd
import pytest

import workbench as wb
from workbench.errors import BadInputError
from workbench.study.experiment import Experiment
from workbench.study.saved import read_index


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tables")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WORKBENCH_HOME", str(folder / "home"))
        with wb.open_study(Experiment("small", folder=folder), limit=12) as study:
            yield study


@pytest.fixture(scope="module")
def runs(study):
    whole = study.chase_sql(samples=2)
    divide, plan, _ = whole.generate
    two = replace(whole, generate=(divide, plan), select=wb.Majority())
    return study.run(
        {"CHASE-SQL": two, "w/o fixer": replace(two, fix=()), "direct": study.direct()}
    )


def test_an_accuracy_stands_beside_its_change_and_the_papers_rows(runs):
    rows = runs.accuracy(against="CHASE-SQL")
    table = rows.beside("CHASE-SQL", "table 7")
    frame = table.frame.set_index("system")
    assert frame.loc["w/o fixer", "CHASE-SQL, Gemini 1.5 Pro: EX"] == 69.23
    assert len(frame) == 9  # the paper's eight, and a system of ours
    change = frame["EX"]["w/o fixer"] - frame["EX"]["CHASE-SQL"]
    assert frame.loc["w/o fixer", "change"] == pytest.approx(change)
    # Those of ours that have one.
    assert table["change"].index.tolist() == ["w/o fixer", "direct"]
    found = runs.differences("CHASE-SQL").data.set_index("system")["difference"]
    assert found["direct"] == pytest.approx(table["change"]["direct"])


def test_a_study_without_questions_has_the_papers_rows_alone(study):
    none = study.spider()
    table = (
        none.run({"CHASE-SQL": none.chase_sql()}).costs().beside("CHASE-SQL", "table 3")
    )
    assert table["EX"].empty
    assert table["CHASE-SQL: EX"]["CHASE-SQL + Gemini 1.5 (Ours)"] == 87.6
    assert "No rows of ours" in " ".join(table.caption)


def test_the_questions_of_spider_are_the_experiments_own_on_spider(tiny, tmp_path):
    root = tiny.write_spider(tmp_path / "spider")
    spider = Experiment("s", benchmark="spider-dev", root=root, folder=tmp_path)
    with wb.open_study(spider) as study:
        assert len(study.spider().sample(3).benchmark.questions) == 3
        assert study.mac_sql().generate[0].prompt == "generate/decomposer_spider"


def test_roles_are_filled_in_and_others_have_the_model(study):
    models = {"judge": "a/j", "filtering": "a/f", "rest": "a/r", "generation": "a/g"}
    named = on(study, model="a/m", models=models)
    chase, chess = named.chase_sql(samples=3), named.chess_ir_ss_cg()
    assert (chase.select.model, chase.generate[0].model, chase.generate[0].samples) == (
        "a/j",
        "a/m",
        3,
    )
    assert chase.generate[2].examples.columns.model == chess.prune[0].model == "a/f"
    assert (chess.generate[0].model, chess.fix[0].model, named.models["small"]) == (
        "a/g",
        "a/r",
        "a/m",
    )
    with pytest.raises(AttributeError, match="judg"):
        _ = named.judg
    with pytest.raises(BadInputError, match="judg"):
        replace(study.experiment, models={"judg": "a/j"})


def on(study, **settings):
    return replace(study, session=study.session.with_settings(settings))


@pytest.fixture
def paid(study):
    """The study as if a language model had answered, so that claims are judged."""
    return on(study, model="openai/gpt-4o")


def test_a_claim_about_a_column_holds_if_every_row_does_and_says_its_numbers(
    paid, runs
):
    table = runs.accuracy(against="direct").beside("CHASE-SQL", "table 7")
    saved = paid.save("a_table", table)
    change = table["change"]
    claim = saved.claim("Each is better.", change > 0)
    assert claim.verdict == ("holds" if (change > 0).all() else "fails")
    assert claim.detail == ", ".join(
        f"{name} {value:,.1f}" for name, value in change.items()
    )
    assert (
        read_index(paid.saved.folder)["a_table"]["claims"][0]["detail"] == claim.detail
    )
    figure = paid.save("a_figure", runs.differences("direct"))
    again = figure.data.set_index("system")["difference"]
    assert figure.claim("Each is better.", again > 0).detail == claim.detail


@pytest.mark.parametrize(
    ("holds", "of", "expected"),
    [
        (True, {"a": 1.0, "b_c": 0.046, "n": 12}, ("holds", "a 1.0, b_c 0.046, n 12")),
        (False, "1 < 2", ("fails", "1 < 2")),
        (pd.Series([True, False], ["a", "b"]), None, ("fails", "")),
        (pd.Series([], dtype=bool), None, ("not judged", "")),  # nothing was asked
    ],
)
def test_a_claim_takes_numbers_by_label_or_a_sentence(paid, runs, holds, of, expected):
    saved = paid.save("a_table", runs.accuracy().alone("A table"))
    claim = saved.claim("So it is.", holds, of)
    assert (claim.verdict, claim.detail) == expected


def difference(low, high):
    return pd.DataFrame(
        {"difference": [(low + high) / 2], "low": [low], "high": [high]}, ["other"]
    )


@pytest.mark.parametrize(
    ("holds", "verdict", "detail"),
    [
        (difference(1.0, 3.0), "holds", "other +2.0 (+1.0 to +3.0)"),
        (difference(-3.0, -1.0), "fails", "other -2.0 (-3.0 to -1.0)"),
        (difference(-1.9, 4.1), "not decided", "other +1.1 (-1.9 to +4.1)"),
        (pd.concat([difference(1, 3), difference(-1, 3)]), "not decided", None),
        (pd.concat([difference(-3, -1), difference(-1, 3)]), "fails", None),
        (difference(1.0, 3.0).head(0), "not judged", ""),  # nothing was asked
    ],
)
def test_a_claim_about_differences_holds_fails_or_is_not_decided(
    paid, runs, holds, verdict, detail
):
    saved = paid.save("a_table", runs.accuracy().alone("A table"))
    claim = saved.claim("It is better.", holds)
    assert claim.verdict == verdict
    assert detail in {claim.detail, None}


def test_a_claim_may_ask_for_a_least_difference(paid, runs):
    saved = paid.save("a_table", runs.accuracy().alone("A table"))
    assert saved.claim("Far better.", difference(1.0, 3.0), least=5).verdict == "fails"


def test_a_lead_is_paired_and_that_of_candidates_is_over_their_shares(runs):
    table = runs.accuracy(against="direct").set_index("system")
    lead = runs.lead("CHASE-SQL", over=["direct"]).loc["over direct"]
    change = table.loc["CHASE-SQL", ["change", "change low", "change high"]]
    assert lead.tolist() == pytest.approx(change.tolist())
    trials = runs["CHASE-SQL"].trials
    fixed = wb.leads(
        trials, {"unfixed": trials.assign(correct=trials["correct_first"])}
    )
    means = trials.groupby("question_id")[["correct", "correct_first"]].mean().mean()
    expected = 100 * (means["correct"] - means["correct_first"])
    assert fixed.loc["unfixed", "difference"] == pytest.approx(expected)
    assert runs.lead("not run").empty


def test_a_parser_judges_no_claim(study, runs):
    saved = study.save("a_table", runs.accuracy().alone("A table"))
    assert saved.claim("So it is.", holds=True).verdict == "not judged"
    assert (
        saved.claim("So it is.", pd.Series([True, True], ["a", "b"])).verdict
        == "not judged"
    )
