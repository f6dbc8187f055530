"""What a command does not import: packages that take as long to import as its own work takes."""

import json
import os
import subprocess
import sys

import pytest
from click.testing import CliRunner

from workbench.cli.ask import ask

PROGRAM = """
import sys
from workbench.cli import cli
cli.main(sys.argv[1:], standalone_mode=False)
packages = {name.partition(".")[0] for name in sys.modules}
print(*sorted(packages))
print(*sorted(name for name in sys.modules if name.startswith("workbench.")))
"""


def imported(home, *arguments):
    """The packages and the modules of the workbench that a process has imported when its command has ended."""
    environment = os.environ | {"WORKBENCH_HOME": str(home)}
    process = subprocess.run(
        [sys.executable, "-c", PROGRAM, *map(str, arguments)],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    packages, modules = process.stdout.splitlines()[-2:]
    return set(packages.split()), set(modules.split())


@pytest.fixture(scope="module")
def indexed(tmp_path_factory):
    """A home in which the bundled databases are built, and the values of harbour indexed."""
    home = tmp_path_factory.mktemp("home")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WORKBENCH_HOME", str(home))
        CliRunner().invoke(ask, ["harbour", "How many berths are there?"], catch_exceptions=False)
    return home


@pytest.mark.parametrize("system", ["chase", "chess-ss", "mac"])
def test_ask_with_the_embedded_model_imports_no_package_that_it_does_not_need(indexed, system):
    question = "How many vessels are tankers?"
    packages, _ = imported(indexed, "ask", "harbour", question, "--system", system)
    slow = {"litellm", "openai", "httpx", "pandas", "scipy", "matplotlib", "tqdm", "IPython"}
    hashing = {"scipy"} if system != "mac" else set()  # datasketch imports it
    assert packages & slow == hashing


def test_evaluate_imports_no_steps_and_nothing_that_asks_a_model(tmp_path):
    answers = tmp_path / "answers.json"
    answers.write_text(json.dumps({"0": "SELECT 1"}))
    packages, modules = imported(
        tmp_path, "evaluate", "bundled-dev", "--limit", 1, "--predictions", answers
    )
    assert not packages & {"litellm", "matplotlib", "IPython"}
    assert not modules & {"workbench.lab", "workbench.llm.client", "workbench.retrieve"}
