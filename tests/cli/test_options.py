"""Options that commands share: the judge, and files that are written."""

import pytest

from workbench.cli.options import make_system
from workbench.errors import BadInputError


def test_the_judge_is_the_model_of_the_selector_alone():
    system = make_system("chase", "some/model", "own/judge")
    assert system.select.model == "own/judge"
    assert {step.model for step in system.generate} == {"some/model"}
    with pytest.raises(BadInputError, match="mac"):
        make_system("mac", "some/model", "own/judge")


def test_no_output_replaces_a_file_that_is_read(run, tmp_path, tiny):
    root = tiny.write_bird(tmp_path / "bird")
    read = {
        name: tmp_path / name for name in ("answers.jsonl", "new.json", "link.jsonl")
    }
    read["answers.jsonl"].write_text('{"question_id": 0, "sql": "SELECT 1"}\n')
    read["new.json"].write_text((root / "dev.json").read_text())
    read["link.jsonl"].symlink_to(read["answers.jsonl"])
    before = {name: path.read_text() for name, path in read.items()}
    own = (read["new.json"], "--root", root)
    bird = ("bird-dev", "--root", root, "--gold", f"new={read['new.json']}")
    answers = (read["answers.jsonl"],)
    commands = [
        ("evaluate", *own, *answers, "--save", read["answers.jsonl"]),
        ("evaluate", *own, *answers, "--save", read["link.jsonl"]),
        ("evaluate", *bird, *answers, "--save", read["new.json"]),
        ("train", "pairs", *own, *answers, "--out", read["new.json"]),
        ("train", "generator", *own, "--out", read["new.json"]),
        ("train", "instructions", *own, "--out", read["new.json"]),
    ]
    for command in commands:
        code, _, said = run(*command)
        assert (code, "is read by this command" in said) == (2, True), command
    assert {name: path.read_text() for name, path in read.items()} == before
