"""A judge that was tuned here chooses between candidates: on the command line, and in an experiment by its name."""

import pytest
from click.testing import CliRunner

import workbench as wb
from tests.train.tuning.tiny import write_model
from workbench.cli.ask import ask
from workbench.store import Store
from workbench.train.tuning.lora import Lora

DISPUTED = "Who trained Patrick Oyelaran?"  # the candidates of the embedded model disagree on it
LONG = 32_768  # tokens: prompts of pairs are longer than the other tiny models read
DUELLED = """SELECT count(*) FROM calls
    WHERE model = 'local/judge' AND prompt = 'select/pairwise' AND output_tokens > 0"""


@pytest.fixture
def judge(torch, talks, tmp_path, monkeypatch):
    """The name of a judge that was tuned on a few conversations."""
    home = tmp_path / "home"
    monkeypatch.setenv("WORKBENCH_HOME", str(home))
    (home / "models").mkdir(parents=True)
    model = write_model(tmp_path / "model", window=LONG)
    Lora(epochs=1, batch=4, micro_batch=4)(talks.few, model, home / "models" / "judge")
    return "local/judge"


def duels():
    with Store() as store:
        ((count,),) = store.read(DUELLED)
    return count


def test_ask_takes_it_by_its_name(judge):
    answered = CliRunner().invoke(ask, ["harbour", DISPUTED, "--judge", judge])
    assert answered.exit_code == 0, answered.output
    assert "SELECT" in answered.output
    assert duels()


def test_an_experiment_takes_it_by_its_name(judge, tmp_path):
    experiment = tmp_path / "mine.yaml"
    experiment.write_text(f"models: {{judge: {judge}}}\nnotebooks: {{}}\n")
    with wb.open_study(str(experiment), figures=tmp_path / "figures") as study:
        (question,) = [asked for asked in study.benchmark.questions if asked.text == DISPUTED]
        system = wb.chase_sql(study.model, wb.Pairwise(study.models["judge"]), 1)
        selection = wb.solve(system, question, study.lab)
    assert selection.sql
    assert duels()
