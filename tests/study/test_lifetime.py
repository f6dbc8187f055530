"""A study leaves nothing behind in the process that opened it."""

import os
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

CELL = """import time
import workbench as wb
study = wb.open_study("bundled-dev", limit=3)
run = study.run(study.direct())
study.lab.run(study.benchmark.questions[0], f"SELECT {time.time()}")  # which no cache has
"""
RERUN = f"""
import gc, os
from pathlib import Path
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance()

def workers():
    tasks = Path(f"/proc/{{os.getpid()}}/task").iterdir()
    return sum(len((task / "children").read_text().split()) for task in tasks)

def descriptors():
    gc.collect()  # SQLite's connections
    return sum("lab.sqlite" in str(path.resolve()) for path in Path("/proc/self/fd").iterdir())

counts = []
for _ in range(6):
    shell.run_cell({CELL!r})
    counts.append((workers(), descriptors()))
assert counts[1] == counts[-1], counts
assert counts[0][0], counts
run = shell.user_ns["run"]
assert run.selection(run.questions["question_id"][0]).trials
del run
before = workers()
shell.run_cell("del study, run")
assert workers() < before, (workers(), before)
"""
IMPORTED = """
import signal, sys, types
kernel = types.SimpleNamespace(kernel=1, display_formatter=None)
sys.modules["IPython"] = types.SimpleNamespace(get_ipython=lambda: kernel)
before = [signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)]
import workbench as wb
study = wb.open_study("bundled-dev", limit=1)
assert before == [signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)]
"""


def run(program, tmp_path):
    home = os.environ | {"WORKBENCH_HOME": str(tmp_path / "home")}
    command = [sys.executable, "-c", program]
    done = subprocess.run(
        command, env=home, cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="needs /proc")
def test_a_cell_that_is_run_again_ends_what_the_study_before_had(tmp_path):
    run(RERUN, tmp_path)


def test_importing_in_a_kernel_and_opening_a_study_leave_its_signals_alone(tmp_path):
    run(IMPORTED, tmp_path)


def test_opening_a_study_sets_no_option_of_pandas(study):
    assert study.model == "embedded/parser"
    assert pd.get_option("display.html.use_mathjax")
