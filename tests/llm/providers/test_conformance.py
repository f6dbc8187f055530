"""The conformance table: each provider and behaviour is a test. README.md shows it."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.llm.providers.cases import CASES, table
from tests.llm.providers.protocols import KEYS
from tests.llm.wire import ROOT


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, str], dict[str, Any]]:
    """What was read in each case."""
    command = [
        sys.executable,
        "-m",
        "tests.llm.providers.ask_all",
        tmp_path_factory.mktemp("asked"),
    ]
    done = subprocess.run(
        command, capture_output=True, text=True, check=True, cwd=ROOT, env=os.environ | KEYS
    )
    rows = map(json.loads, done.stdout.splitlines())
    return {(name, behaviour): read for name, behaviour, read in rows}


@pytest.mark.parametrize(("provider", "behaviour"), CASES)
def test_each_behaviour_of_a_provider_is_read_correctly(
    found: dict[tuple[str, str], dict[str, Any]], provider: str, behaviour: str
) -> None:
    read, case = found[provider, behaviour], CASES[provider, behaviour]
    expected = {
        name: pytest.approx(value) if name == "cost" and value else value
        for name, value in case.read.items()
    }
    assert {name: read.get(name) for name in expected} == expected, read
    if case.status == 200:
        assert read["kept"]  # paid, so it is never asked for again
    else:
        assert "\n" not in read["error"]
        assert not read.get("kept")


def test_the_readme_shows_the_table() -> None:
    assert table() in (Path(__file__).parent / "README.md").read_text()
