"""What the READMEs show is true: their programs run, the first answer and the first table come out as printed, and
every page and command that they name exists."""

import ast
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
README = CHECKOUT / "README.md"
PAGES = [README, *CHECKOUT.glob(".github/*.md"), *CHECKOUT.glob("*/README.md")]
PAGES += sorted(CHECKOUT.glob("workbench/*/README.md"))
TEXTS = {str(page.relative_to(CHECKOUT)): page.read_text() for page in PAGES}
BLOCKS = r"```{}\n(.*?)```\n(?:\n```\n(?!workbench|pip)(.*?)```)?"  # a program or commands, and what it prints if the page says so
PROGRAMS = [
    pytest.param(program, printed, id=page)
    for page, text in TEXTS.items()
    for program, printed in re.findall(BLOCKS.format("python"), text, re.DOTALL)
    if "import workbench" in program  # not an expression
]


def run(folder: Path, *words: str) -> str:
    environment = os.environ | {
        "PYTHONPATH": str(CHECKOUT),
        "WORKBENCH_HOME": str(folder / "home"),
    }
    command = [sys.executable, *words]
    done = subprocess.run(
        command,
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return done.stdout


@pytest.mark.parametrize(("program", "printed"), PROGRAMS)
def test_a_program_runs_and_prints_what_the_page_says(
    tmp_path: Path, program: str, printed: str
) -> None:
    with closing(sqlite3.connect(tmp_path / "my.sqlite")) as database:
        database.execute("CREATE TABLE customer(id INTEGER)")
    # What it prints does not matter: fewer questions, and no model that takes a key.
    if not printed:
        program = re.sub("limit=[0-9]+", "limit=2", program)
        program = re.sub('"(openai|hosted_vllm)/[^"]+"', '"embedded/parser"', program)
    lines = run(tmp_path, "-c", program)
    assert not printed or lines.split() == printed.split()


@pytest.mark.parametrize(
    ("room", "name"),
    [
        ("systems", "agent"),
        ("evaluate", "undetermined"),
        ("evaluate", "with_golds"),
        ("train", "execution_reward"),
    ],
)
def test_what_is_beyond_the_papers_takes_a_cell_of_three_statements(
    room: str, name: str
) -> None:
    text = TEXTS[f"workbench/{room}/README.md"]
    programs = [
        program for program, _ in re.findall(BLOCKS.format("python"), text, re.DOTALL)
    ]
    calling = [ast.parse(program) for program in programs if f".{name}(" in program]
    assert min(len(program.body) for program in calling) <= 3


def test_the_first_command_answers_as_it_is_printed(tmp_path: Path) -> None:
    commands, printed = re.findall(BLOCKS.format(""), TEXTS["README.md"], re.DOTALL)[0]
    _, *words = shlex.split(commands.splitlines()[1])
    assert run(tmp_path, "-m", "workbench", *words).split() == printed.split()


def test_every_linked_page_exists() -> None:
    for page, text in TEXTS.items():
        for target in re.findall(r"\]\((?!https?:)([^)#]+)\)", text):
            assert ((CHECKOUT / page).parent / target).exists(), f"{page}: {target}"


def test_every_linked_heading_exists() -> None:
    for page, text in TEXTS.items():
        for target, anchor in re.findall(
            r"\]\((?!https?:)([^)#]+\.md)#([^)]+)\)", text
        ):
            linked = ((CHECKOUT / page).parent / target).read_text()
            headings = re.findall(r"(?m)^#+ (.*)", linked)
            slugs = [
                re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")
                for heading in headings
            ]
            assert anchor in slugs, f"{page}: {target}#{anchor}"


COMMANDS = sorted(
    {
        words
        for text in TEXTS.values()
        for words in re.findall(r"(?m)(?:^|`|bin/)workbench ([a-z]+(?: [a-z]+)?)", text)
    }
)


@pytest.mark.parametrize("words", COMMANDS)
def test_every_command_exists(words: str) -> None:
    first, *rest = words.split()
    command = cli.get_command(click.Context(cli), first)
    assert command
    assert not rest or rest[0] in getattr(command, "commands", rest)
