"""What the README shows runs as it stands there."""

import os
import re
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import click
import pytest

from workbench.cli import cli

README = (Path(__file__).parents[1] / "README.md").read_text()
PROGRAMS = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
OFFLINE = (
    "from workbench.llm.scripted import Scripted\nimport workbench.llm.client as module\n"
    "module.Client = lambda store, made=module.Client: made(store, send=Scripted(otherwise='SELECT 1'))\n"
)


def run(program: str, folder: Path) -> list[str]:
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).parents[1])}
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.splitlines()


def workbench(*words: str, folder: Path) -> str:
    return "\n".join(
        run(
            f"import sys; sys.argv[1:] = {list(words)}\nfrom workbench.cli import main; main()",
            folder,
        )
    )


def program(word: str) -> str:
    (found,) = [text for text in PROGRAMS if word in text]
    return found


def test_the_system_program_answers_twice(tmp_path: Path) -> None:
    lines = run(program("Majority"), tmp_path)
    assert len(lines) == 2
    assert all(line.startswith("SELECT ") for line in lines)


def test_the_candidates_that_the_training_program_saves_train_a_selector(tmp_path: Path) -> None:
    pytest.importorskip("sklearn", reason="the extra train is not installed")
    run(program("candidates.jsonl").replace("limit=20", "limit=8"), tmp_path)
    (train,) = re.findall(r"(?m)^workbench (train selector .*) --cross-validate$", README)
    assert "learned from 8 questions by 3 generators" in workbench(*train.split(), folder=tmp_path)


def test_the_database_program_shows_schema_answer_and_plan(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "my.sqlite")) as database:
        database.executescript(
            "CREATE TABLE customer(id INTEGER); INSERT INTO customer VALUES (7), (8)"
        )
    lines = run(program("narrate"), tmp_path)
    assert lines[0] == "CREATE TABLE customer ("
    assert "ok ((2,),)" in lines
    assert lines[-1].endswith("Return the number of rows.")


def test_the_model_program_asks_for_three_samples(tmp_path: Path) -> None:
    lines = run(OFFLINE + program("range(3)"), tmp_path)
    assert lines[:4] == ["SELECT 1", "SELECT 1", "SELECT 1", "3 calls paid: $0.0000"]


COMMANDS = sorted(set(re.findall(r"(?m)(?:^|`|bin/)workbench ([a-z]+(?: [a-z]+)?)", README)))


@pytest.mark.parametrize("words", COMMANDS)
def test_every_command_it_names_is_there(words: str) -> None:
    first, *rest = words.split()
    command = cli.get_command(click.Context(cli), first)
    assert command
    assert not rest or rest[0] in getattr(command, "commands", rest)
