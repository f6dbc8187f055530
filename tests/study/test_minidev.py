"""A dollar's experiment on BIRD's mini-dev runs on a folder in the release's exact layout."""

import re
from pathlib import Path

import pandas as pd
import pytest
from click.testing import CliRunner

from workbench.benchmarks.benchmark import open_benchmark
from workbench.benchmarks.check import missing
from workbench.cli.run import reproduce
from workbench.study.experiment import load_experiment, shipped
from workbench.study.reproduce import plan, run

GUIDE = Path(__file__).parents[2] / "experiments" / "README.md"


@pytest.fixture
def folder(tiny, tmp_path):
    """minidev/MINIDEV as it is unpacked, with twelve questions."""
    inside = tmp_path / "minidev" / "MINIDEV"
    inside.mkdir(parents=True)
    items = tiny.bird_items()
    tiny.write_bird(inside, file="mini_dev_sqlite.json", items=items)
    golds = "".join(f"{item['SQL']}\t{item['db_id']}\n" for item in items)
    (inside / "mini_dev_sqlite_gold.sql").write_text(golds)
    return tmp_path / "minidev"


def test_what_is_missing_is_named(folder):
    assert "no database_description of pond, shop, zoo" in missing(
        "bird-mini-dev", folder
    )
    (folder / "MINIDEV/dev_databases/zoo/zoo.sqlite").unlink()
    assert any(
        "is no database zoo" in line for line in missing("bird-mini-dev", folder)
    )


@pytest.mark.slow  # a kernel that runs three systems
def test_the_three_systems_are_compared_within_the_budget(
    folder, tmp_path, monkeypatch
):
    monkeypatch.setenv("BIRD_MINIDEV", str(folder))
    path = tmp_path / "experiments" / "minidev.yaml"
    path.parent.mkdir()
    text = (shipped("experiments") / "minidev.yaml").read_text()
    for model in ("openai/gpt-4.1-mini", "openai/gpt-4.1-nano"):
        text = text.replace(model, "embedded/parser")
    path.write_text(text)
    experiment = load_experiment(str(path))
    assert (experiment.dollars, experiment.limit, experiment.cheaper) == (1, 20, True)
    jobs = plan(experiment)
    run(jobs)
    assert [(job.state, job.error) for job in jobs] == [("done", "")]
    table = pd.read_csv(tmp_path / "figures/minidev/beyond_three_systems.csv")
    assert table["system"].tolist() == [
        "CHASE-SQL",
        "CHESS (IR, CG, UT)",
        "MAC-SQL",
        "agent",
    ]
    assert set(table["n"]) == {12}


@pytest.mark.slow  # a kernel that runs four systems
def test_the_guide_tells_the_estimate_of_bundled_questions(tmp_path, monkeypatch):
    databases = open_benchmark("bundled-dev").databases
    (tmp_path / "dev_databases").symlink_to(databases)
    questions = databases.with_name("dev.json").read_bytes()
    (tmp_path / "mini_dev_sqlite.json").write_bytes(questions)
    monkeypatch.setenv("BIRD_MINIDEV", str(tmp_path))
    path = shipped("experiments") / "minidev.yaml"
    done = CliRunner().invoke(
        reproduce, [str(path), "--preview"], catch_exceptions=False
    )
    (told,) = re.findall(r"about \$.* calls", GUIDE.read_text())
    assert done.stdout.splitlines()[-1].startswith(f"{told},")
