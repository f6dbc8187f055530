"""Every provider's model answers a question through each of the three systems, and on the command line.

The server answers with what the embedded parser makes of the messages, so that every prompt gets a sensible reply.
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.llm.providers.protocols import KEYS, MODELS, answer, base
from tests.llm.server import Server
from tests.llm.wire import ROOT

QUESTION = "How many tugs are there?"
SYSTEMS = ("CHASE-SQL", "CHESS", "MAC-SQL")

ASK = """
import json, sys
from pathlib import Path
import workbench as wb
from tests.llm.providers.protocols import MODELS, answer, base
from tests.llm.server import Server
from tests.llm.providers.test_systems import QUESTION
from workbench.benchmarks.bundled import load_bundled
from workbench.lab import Lab

path = load_bundled().database("harbour")
with Server() as server, wb.Store(Path(sys.argv[1])) as store, wb.Executor(store) as executor:
    server.respond = answer
    root = server.url.removesuffix("/v1")
    for name, model in MODELS.items():
        systems = (
            wb.chase_sql(model, samples=1),
            wb.chess_ir_cg_ut(model, candidates=2, tests=2),
            wb.mac_sql(model),
        )
        for number, system in enumerate(systems):
            client = wb.Client(store, api_base=base(name, root))
            lab = Lab(client, executor, lambda _: path)
            found = wb.solve(system, wb.Question("ask", "harbour", QUESTION), lab)
            told = {"sql": found.sql, "failed": dict(client.ledger.failed), "calls": client.ledger.total().calls}
            print(json.dumps([name, number, told]), flush=True)
"""


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, int], dict[str, object]]:
    """What each provider's model answered through each system."""
    command = [sys.executable, "-c", ASK, tmp_path_factory.mktemp("asked") / "lab.sqlite"]
    done = subprocess.run(
        command, capture_output=True, text=True, check=True, cwd=ROOT, env=os.environ | KEYS
    )
    rows = map(json.loads, done.stdout.splitlines())
    return {(name, number): told for name, number, told in rows}


@pytest.mark.slow
@pytest.mark.parametrize("provider", MODELS)
@pytest.mark.parametrize("system", SYSTEMS)
def test_a_providers_model_answers_through_each_system(
    found: dict[tuple[str, int], dict[str, object]], provider: str, system: str
) -> None:
    told = found[provider, SYSTEMS.index(system)]
    assert (told["sql"], told["failed"]) == ("SELECT COUNT(*) FROM tug", {})
    assert told["calls"]


@pytest.fixture(scope="module")
def addresses() -> Iterator[dict[str, str]]:
    with Server() as server:
        server.respond = answer
        root = server.url.removesuffix("/v1")
        names = ("OpenAI", "Anthropic", "Gemini")
        yield {f"{name.upper()}_API_BASE": base(name, root) for name in names}


@pytest.mark.slow
@pytest.mark.parametrize("name", ["OpenAI", "Anthropic", "Gemini"])
def test_a_model_of_a_provider_is_asked_on_the_command_line(
    addresses: dict[str, str], tmp_path: Path, name: str
) -> None:
    command = [
        sys.executable,
        "-m",
        "workbench",
        "ask",
        "harbour",
        QUESTION,
        "--model",
        MODELS[name],
    ]
    home = {"WORKBENCH_HOME": str(tmp_path)}
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
        env=os.environ | KEYS | addresses | home,
    )
    assert (done.returncode, done.stdout.splitlines()[:3]) == (0, ["1 row:", "`COUNT(*)`", "8"])
    refused = f"{MODELS[name]} takes no temperature 0.2: left out"
    assert (refused in done.stderr) == (name == "OpenAI")
