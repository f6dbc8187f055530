"""The programs and commands of the READMEs run as they stand there."""

import os
import re
import shlex
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import click
import pytest

from workbench.cli import cli

CHECKOUT = Path(__file__).parents[1]
PAGES = [CHECKOUT / "README.md", *sorted(CHECKOUT.glob("*/README.md"))]
PAGES += sorted(CHECKOUT.glob("workbench/*/README.md"))
README = "\n".join(page.read_text() for page in PAGES)
PROGRAMS = re.findall(r"```python\n(.*?)```", README, re.DOTALL)


def run(program: str, folder: Path) -> list[str]:
    environment = os.environ | {"PYTHONPATH": str(CHECKOUT)}
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


def test_the_system_program_prints_a_row_for_each_system(tmp_path: Path) -> None:
    lines = run(program("runs.costs()").replace("limit=10", "limit=3"), tmp_path)
    rows = [line for line in lines if re.match(r"\| \S.* \| +3 \| +\d+\.\d \(\d+\.\d to ", line)]
    assert len(rows) == 3
    assert rows[0].startswith("| CHASE-SQL ")


def test_the_database_program_shows_schema_answer_and_plan(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "my.sqlite")) as database:
        database.executescript(
            "CREATE TABLE customer(id INTEGER); INSERT INTO customer VALUES (7), (8)"
        )
    lines = run(program("EXPLAIN QUERY PLAN"), tmp_path)
    assert lines[0] == "CREATE TABLE customer ("
    assert "ok ((2,),)" in lines
    assert "SCAN customer" in lines[-1]


def test_the_first_command_answers_as_it_is_printed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WORKBENCH_HOME", str(tmp_path / "home"))  # an empty cache
    command, output = re.findall(
        r"```\nmake .venv/installed\n.venv/bin/workbench (ask .*?)\n```\n\n```\n(.*?)```",
        README,
        re.DOTALL,
    )[0]
    assert workbench(*shlex.split(command), folder=tmp_path).split() == output.split()


def test_an_own_prompt_takes_three_steps(tmp_path: Path) -> None:
    (tmp_path / "workbench").symlink_to(CHECKOUT / "workbench")
    copied, edited, run_command = re.findall(r"(?m)^(.*?) +# [123]\. ", README)
    subprocess.run(copied, shell=True, check=True, cwd=tmp_path)  # noqa: S602  a line of our README
    prompt = tmp_path / edited.split()[-1]
    prompt.write_text(prompt.read_text().replace("You are an expert in SQLite.", "You write SQL."))
    words = shlex.split(run_command.replace("50", "3"))[1:]
    printed = workbench(*words, folder=tmp_path)
    assert re.search(r"\| packaged prompts \| +3 \|", printed)
    assert re.search(r"\| mine +\| +3 \|", printed)


def test_every_linked_page_exists() -> None:
    for page in PAGES:
        for target in re.findall(r"\]\((?!https?:)([^)#]+)\)", page.read_text()):
            assert (page.parent / target).exists(), f"{page.name}: {target}"


COMMANDS = sorted(set(re.findall(r"(?m)(?:^|`|bin/)workbench ([a-z]+(?: [a-z]+)?)", README)))


@pytest.mark.parametrize("words", COMMANDS)
def test_every_command_in_the_readme_exists(words: str) -> None:
    first, *rest = words.split()
    command = cli.get_command(click.Context(cli), first)
    assert command
    assert not rest or rest[0] in getattr(command, "commands", rest)
