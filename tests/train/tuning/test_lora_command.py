import pytest
from click.testing import CliRunner

from workbench.cli.train.lora import lora

QUICK = ["--epochs", "1", "--batch", "4", "--micro-batch", "4", "--rank", "2"]


def run(*arguments):
    return CliRunner().invoke(lora, [str(argument) for argument in arguments])


@pytest.fixture(autouse=True)
def environment(monkeypatch):
    monkeypatch.delenv(
        "HF_HUB_OFFLINE", raising=False
    )  # the command sets it, and the test takes it back


def test_it_tunes_and_says_what_became_of_it(tiny_model, talks, tmp_path, monkeypatch):
    monkeypatch.setenv("WORKBENCH_HOME", str(tmp_path))
    result = run(talks.few, "--model", tiny_model, "--name", "mine", *QUICK)
    assert result.exit_code == 0, result.output
    lines = result.stdout.splitlines()
    assert lines[0] == "12 conversations"
    assert lines[1].startswith("loss by epoch: ")
    assert lines[2].startswith(f"{tmp_path / 'models' / 'mine'}: the adapter")
    assert "local/mine" in lines[3]


def test_help_names_every_setting():
    text = run("--help").output
    assert "PAIRS" in text
    assert "[default: 16]" in text
