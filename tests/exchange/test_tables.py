"""Runs and calls as CSV and Parquet: every candidate and every call, in cells that other tools read."""

import json
import sys

import pandas as pd
import pytest
from click.testing import CliRunner

from workbench.cli.cache import cache
from workbench.errors import BadInputError


def calls(path, *options):
    arguments = ["export", str(path), *options]
    CliRunner().invoke(cache, arguments, catch_exceptions=False, standalone_mode=False)
    return path


def test_a_run_as_csv_has_a_row_for_each_candidate(run, exported):
    frame = pd.read_csv(exported("run.csv"), dtype={"question_id": str})
    columns = ["question_id", "generator", "sample", "sql", "status", "chosen", "correct"]
    assert frame[columns].to_dict("records") == run.trials[columns].to_dict("records")


def test_calls_as_csv_have_the_whole_request_and_the_reply(study, run, tmp_path):
    frame = pd.read_csv(calls(tmp_path / "calls.csv"))
    ((count, tokens),) = study.lab.client.store.read(
        "SELECT count(*), sum(input_tokens) FROM calls"
    )
    assert (len(frame), frame["input_tokens"].sum()) == (count, tokens)
    messages = json.loads(frame["messages"][0])
    assert messages[-1]["role"] == "user"


def test_a_secret_of_the_environment_is_in_no_cell(run, tmp_path, monkeypatch):
    assert "SELECT COUNT" in calls(tmp_path / "before.csv").read_text()
    monkeypatch.setenv("OTHER_API_KEY", "SELECT COUNT")
    assert "SELECT COUNT" not in calls(tmp_path / "after.csv").read_text()


def test_parquet_without_pyarrow_says_what_to_do(exported, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(BadInputError, match=r"Parquet needs pyarrow.*or name a .csv file"):
        exported("run.parquet")


def test_another_ending_is_refused(exported):
    with pytest.raises(BadInputError, match=r"ends in \.json, \.csv, \.parquet"):
        exported("run.xlsx")


@pytest.mark.interop
def test_parquet_has_the_rows_of_csv(run, exported):
    pytest.importorskip("pyarrow", reason="needs pyarrow: make test-interop")
    frame = pd.read_parquet(exported("run.parquet"))
    assert frame["sql"].tolist() == run.trials["sql"].tolist()
    assert frame["correct"].tolist() == run.trials["correct"].tolist()
