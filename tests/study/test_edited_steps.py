"""A step that is edited is a new step: its old answers are not taken for its own, wherever it was written."""

import os
import re
from dataclasses import replace

import pytest
from jupyter_client.manager import start_new_kernel

from workbench.study.experiment import Experiment
from workbench.study.study import open_study
from workbench.systems.baselines import direct

OPEN = """
from dataclasses import dataclass, replace
from pathlib import Path
from workbench.study.study import open_study
from workbench.study.experiment import Experiment
from workbench.systems.baselines import direct
from workbench.types import Candidate
study = open_study(Experiment("small", folder=Path({folder!r})), limit=2)
"""
STEP = """
@dataclass(frozen=True)
class Mine:
    model: str = "embedded/parser"

    def __call__(self, lab, context):
        return (Candidate("SELECT {answer}", "mine"),)
"""
RUN = """
run = study.run(replace(direct(), generate=(Mine(),)))
print(sorted(set(run.trials["sql"])), run.id)
"""
COUNT = "SELECT count(*) FROM attempts"


@pytest.fixture
def kernel(tmp_path):
    """Runs a cell in a notebook's kernel, and gives what it printed."""
    home = os.environ | {"WORKBENCH_HOME": str(tmp_path / "home")}
    manager, client = start_new_kernel(
        startup_timeout=600, env=home, kernel_name="python3"
    )

    def run(cell):
        printed = []
        reply = client.execute_interactive(
            cell,
            timeout=600,
            output_hook=lambda m: printed.append(m["content"].get("text", "")),
        )
        assert reply["content"]["status"] == "ok", reply["content"]
        # Without the bar of a slow run.
        return re.sub(r"[^\n]*\r", "", "".join(printed))

    yield run
    client.stop_channels()
    manager.shutdown_kernel(now=True)


def test_a_cell_that_is_edited_and_run_again_gets_new_answers(kernel, tmp_path):
    kernel(OPEN.format(folder=str(tmp_path)))
    kernel(STEP.format(answer=1))
    one = kernel(RUN)
    assert "['SELECT 1']" in one
    kernel(STEP.format(answer=2))
    two = kernel(RUN)
    assert "['SELECT 2']" in two
    kernel(STEP.format(answer=1))
    assert kernel(RUN) == one
    assert kernel(f"print(study.lab.client.cache.read({COUNT!r}))") == "[(4,)]\n"
    executed = kernel(f"exec({STEP.format(answer=3)!r})" + RUN)
    assert "['SELECT 3']" in executed
    assert "__main__.Mine: its source cannot be read" in executed
    assert kernel(f"print(study.lab.client.cache.read({COUNT!r}))") == "[(4,)]\n"


def test_functions_are_steps_too(tmp_path, study):
    def generate(lab, context):
        return direct().generate[0](lab, context)

    run = study.run(replace(direct(), generate=(generate,)))
    assert study.run(direct()).trials["sql"].tolist() == run.trials["sql"].tolist()
    before = study.lab.client.cache.read(COUNT)
    with open_study(Experiment("small", folder=tmp_path), limit=6) as again:
        assert again.run(replace(direct(), generate=(generate,))).id == run.id
        assert again.lab.client.cache.read(COUNT) == before
