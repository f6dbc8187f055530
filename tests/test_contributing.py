"""Each recipe of CONTRIBUTING.md works: its files are written into a copy of the project, and its tests run there."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from workbench.prompts import load

CHECKOUT = Path(__file__).parents[1]
GUIDE = (CHECKOUT / ".github/CONTRIBUTING.md").read_text()
RECIPES = dict(
    re.findall(
        r"(?m)^## Add an? ([^\n]+)\n(.*?)(?=^## |\Z)", GUIDE, re.DOTALL | re.MULTILINE
    )
)

TERSE_PROMPT = """---
follows: ours, the shortest prompt that asks for a query
role: generation
output_limit: 500
---
# System
You write SQLite.
# User
## Task
Answer.

## Database schema
{{ schema | fence }}

{% if values %}
## Values found
{{ values | block }}

{% endif %}
{% if descriptions %}
## Descriptions found
{{ descriptions | block }}

{% endif %}
## Question
{{ question }}

## Hint
{{ hint or "None." }}

## Answer
```sql
SELECT ...
```
"""
MINE = {
    "files": ["mine.json"],
    "databases": "databases",
    "questions": 12,
    "url": "https://example.org",
}
TEST_MINE = """from workbench.benchmarks.benchmark import open_benchmark


def test_its_questions_are_read(tiny, tmp_path):
    root = tiny.write_bird(tmp_path, file="mine.json", databases="databases")
    benchmark = open_benchmark("mine", root)
    assert (benchmark.name, benchmark.sense, len(benchmark.questions)) == ("mine", "bird", 12)
"""


CONTEXT = {"question", "hint", "schema", "values", "descriptions"}


def test_the_guide_names_what_a_copied_prompt_has_beyond_a_context():
    beyond = set(load("generate/direct").variables) - CONTEXT
    assert beyond
    assert all(f"`{name}`" in RECIPES["generator"] for name in beyond)


def copied(folder: Path) -> Path:
    """A copy of what the recipes touch."""
    for name in ("workbench", "notebooks", "experiments", "tests"):
        shutil.copytree(
            CHECKOUT / name,
            folder / name,
            ignore=shutil.ignore_patterns(
                "__pycache__", "screenshots", ".ipynb_checkpoints"
            ),
        )
    shutil.copy(CHECKOUT / "pyproject.toml", folder)
    return folder


def run_tests(folder: Path, *tests: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-n", "0", *tests],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(folder)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """The copy, with a prompt, a benchmark, a notebook and a taxonomy more."""
    folder = copied(tmp_path_factory.mktemp("contribution"))
    (folder / "workbench/prompts/generate/terse.md").write_text(TERSE_PROMPT)
    table = folder / "workbench/benchmarks/releases.json"
    table.write_text(json.dumps(json.loads(table.read_text()) | {"mine": MINE}))
    (folder / "tests/datasets/test_mine.py").write_text(TEST_MINE)
    notebook = json.loads((folder / "notebooks/mac_sql/end_to_end.ipynb").read_text())
    text = json.dumps(notebook).replace("mac_table", "beyond_mine_table")
    (folder / "notebooks/beyond/mine.ipynb").write_text(text)
    experiment = folder / "experiments/embedded.yaml"
    experiment.write_text(experiment.read_text().rstrip() + "\n  beyond/mine:\n")
    return folder


def test_every_recipe_is_short_and_names_files_that_there_are():
    assert set(RECIPES) == {
        "generator",
        "selector",
        "benchmark",
        "notebook",
        "taxonomy of errors",
    }
    for text in RECIPES.values():
        assert len(text.strip().splitlines()) < 12
        for name in re.findall(
            r"`((?:workbench|tests|notebooks|experiments)/[\w./]+)`", text
        ):
            assert (CHECKOUT / name).parent.is_dir(), name


def test_a_prompt_and_a_benchmark_are_added(project):
    out = run_tests(
        project, "tests/prompts/test_prompts.py", "-v", "-k", "generate/terse"
    )
    assert "2 passed" in out
    run_tests(project, "tests/datasets/test_mine.py")


def test_a_notebook_is_added(project):
    out = run_tests(
        project,
        "tests/notebooks/test_conventions.py",
        "-k",
        "beyond/mine or embedded_experiment",
    )
    assert "passed" in out or "[100%]" in out


def test_a_taxonomy_is_added(tmp_path):
    from workbench.label.cases import open_taxonomy

    source = (CHECKOUT / "workbench/label/taxonomies/chase-sql.yaml").read_text()
    mine = tmp_path / "my_taxonomy.yaml"
    mine.write_text(
        source.replace("name: CHASE-SQL", "name: Mine").replace("Joins", "Wrong joins")
    )
    assert "Wrong joins" in [
        category.name for category in open_taxonomy(str(mine)).categories
    ]
