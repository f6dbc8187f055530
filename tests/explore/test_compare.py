"""From an idea in a cell to a paired table; and what is compared: systems, runs, prompts, models."""

from dataclasses import replace
from pathlib import Path

import pytest

import workbench as wb
from workbench.errors import BadInputError

OWN = wb.Prompt("# User\nBe brief. {{ question }}")


def test_an_idea_in_a_cell_comes_to_a_paired_table_in_three_statements(zoo, capsys):
    mine = wb.Generate(OWN, zoo.study.model)
    idea = replace(zoo.system, name="brief", generate=(mine,))
    found = wb.compare(zoo.system, idea, study=zoo.study)
    row = found.table.frame.set_index("system").loc["brief"]
    assert (row["won"], row["lost"], row["p"], row["n"]) == (0, 1, 1.0, 12)
    assert row["change low"] < row["change"] < row["change high"]
    first = found.questions.frame.iloc[0]
    assert (first["question_id"], first[zoo.system.name], first["brief"]) == (
        "0",
        "right",
        "wrong",
    )
    assert list(found.questions.frame["flips"]) == [True, *[False] * 11]
    assert (
        "12 of 12 questions need new calls; the first 12 cost $"
        in capsys.readouterr().err
    )


def test_runs_prompts_folders_and_models_are_variants(zoo, tmp_path):
    (tmp_path / "mine/generate").mkdir(parents=True)
    (tmp_path / "mine/generate/direct.md").write_text(OWN.source)
    run = zoo.study.run(zoo.system)
    found = wb.compare(
        run, zoo.system, OWN, tmp_path / "mine", "openai/gpt-4o", study=zoo.study
    )
    assert list(found.runs) == [
        run.name,
        f"{run.name} 2",
        "own",
        "mine",
        "openai/gpt-4o",
    ]
    assert [one.questions["correct"].sum() for one in found.runs.values()] == [
        1,
        1,
        0,
        0,
        1,
    ]
    assert {one.model for one in zoo.asked} == {"openai/gpt-4o-mini", "openai/gpt-4o"}
    # Its answers are of other prompts than the study's.
    with pytest.raises(BadInputError, match="with other prompts"):
        wb.compare(found.runs["mine"], study=zoo.study)
    with pytest.raises(BadInputError, match="with other prompts"):
        wb.explore(zoo.study, found.runs["mine"])
    calls = len(zoo.asked)
    few = wb.compare(run, OWN, study=zoo.study.sample(3))
    assert few.table.frame["n"].tolist() == [3, 3]
    assert len(zoo.asked) == calls  # the run's answers are cached


@pytest.mark.parametrize("variants", [(), (3,), ("direct",), (Path("nowhere"),)])
def test_what_is_no_variant_is_refused(zoo, variants):
    with pytest.raises(
        BadInputError, match=str(variants[0]) if variants else "nothing"
    ):
        wb.compare(*variants, study=zoo.study)
    assert zoo.asked == []


def test_a_run_of_another_study_is_not_run_anew_under_its_name(zoo):
    """Its settings may be others, and new calls may cost."""
    run = zoo.study.run(zoo.system)
    calls = len(zoo.asked)
    other = wb.open_study(zoo.benchmark, model=zoo.study.model, sql_seconds=3)
    with other:
        with pytest.raises(BadInputError, match="run of another study"):
            wb.compare(run, study=other)
        with pytest.raises(BadInputError, match="run of another study"):
            wb.explore(other, run)
    assert len(zoo.asked) == calls
