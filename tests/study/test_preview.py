"""A preview counts the calls of each model without calling any."""

import os
import re

import pytest
from click.testing import CliRunner

from workbench.cli.run import reproduce, run
from workbench.llm.cache import Cache
from workbench.llm.calls import register
from workbench.llm.client import Client
from workbench.llm.send import scripted
from workbench.prompts import load
from workbench.store import Store
from workbench.study.experiment import session_of
from workbench.study.preview import previewed, stand_in
from workbench.study.study import open_study
from workbench.types import Request

LAST = r"about \$([\d,.]+), at worst \$([\d,.]+); ([\d,]+) calls, (\d+)% of them (\w+)"
RUNS = """import workbench as wb
study = wb.open_study(experiment, limit=limit)
run = study.run(wb.direct(study.model))
run = study.run(wb.zero_shot(study.models["judge"]))"""


@pytest.fixture
def told(tmp_path, monkeypatch):
    """What a command prints: its lines, and the numbers of the last one."""
    monkeypatch.setenv("WORKBENCH_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)

    def told(command, *words):
        done = CliRunner().invoke(
            command, list(map(str, words)), catch_exceptions=False
        )
        lines = done.stdout.strip().splitlines()
        found = re.fullmatch(LAST, lines[-1])
        assert found, done.output
        return lines, found.groups()

    return told


@pytest.mark.slow  # a kernel
def test_a_preview_of_an_experiment_ends_in_one_line_and_leaves_nothing_behind(
    checkout, told, tmp_path
):
    checkout(settings="model: openai/gpt-4\nmodels: {judge: openai/gpt-4o}", one=[RUNS])
    lines, (about, worst, calls, share, prompt) = told(
        reproduce, tmp_path / "experiments/mine.yaml", "--preview"
    )
    assert (calls, share, prompt) == ("556", "50", "direct")
    assert 1 < float(about) < float(worst.replace(",", ""))
    assert any(
        re.match(r" *generate/zero_shot +openai/gpt-4o +278 ", line) for line in lines
    )
    assert not (tmp_path / "figures").exists()
    with Store() as store:
        assert store.read("SELECT count(*) FROM calls") == [(0,)]


def test_a_preview_of_a_run_counts_what_is_cached(told):
    few = ("direct", "--limit", 6)
    _, (about, _, calls, *_) = told(run, *few, "--preview")
    assert (about, calls) == ("0.00", "6")
    CliRunner().invoke(run, list(map(str, few)), catch_exceptions=False)
    lines, (*_, calls, _, _) = told(run, *few, "--preview")
    assert calls == "0"
    assert lines[-3].split()[:3] == ["together", "0", "6"]


def test_at_worst_every_reply_is_as_long_as_its_call_allows_however_short_earlier_ones_were(
    capsys,
):
    short = Request(
        "generate/direct", "openai/gpt-4", [{"role": "user", "content": "Hello"}]
    )
    with Cache() as store:
        Client(store, send=scripted(["SELECT 1"])).complete(short)

    def worst(most):
        given = {
            "model": "openai/gpt-4",
            "parameters": {"openai/gpt-4": {"max_tokens": most}},
        }
        whole = session_of("bundled-dev").with_settings(given)
        with previewed(whole) as few, open_study(few, limit=10) as study:
            study.run(study.direct())
        return float(
            capsys.readouterr().out.partition("at worst $")[2].partition(";")[0]
        )

    output = 0.06 / 1000  # dollars for a token of GPT-4's output
    assert worst(1000) - worst(10) == pytest.approx(10 * 990 * output, abs=0.011)


def test_a_model_that_runs_in_this_process_is_not_asked():
    def answer(request, seed):
        raise AssertionError("the model was asked")

    register("inside", answer, "inside/model@1")
    messages = load("retrieve/keywords").messages(
        question="How many tugs are there?", hint=""
    )
    reply = stand_in(Request("retrieve/keywords", "inside/model", messages))
    assert "tugs" in reply["choices"][0]["message"]["content"]


@pytest.mark.parametrize("before", [None, "/somewhere"])
def test_a_preview_leaves_the_environment_as_it_was(monkeypatch, before, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("WORKBENCH_HOME")
    if before:
        monkeypatch.setenv("WORKBENCH_HOME", str(tmp_path / "given"))
    known = os.environ.get("WORKBENCH_HOME")
    with previewed(session_of("bundled-dev")) as few, open_study(few, limit=1) as study:
        study.run(study.direct())
    assert os.environ.get("WORKBENCH_HOME") == known
