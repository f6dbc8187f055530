"""The experiments and the notebooks ask the questions that the papers asked, by the papers' own methods."""

import json
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]


def notebooks_of(experiment):
    return yaml.safe_load((ROOT / f"experiments/{experiment}.yaml").read_text())[
        "notebooks"
    ]


def test_chess_figure_4_is_of_all_questions_and_figure_3_of_at_least_147():
    notebooks = notebooks_of("chess_bird")
    assert notebooks["chess/unit_tests"]["sweep"] is None
    for name in ("chess/schema_size", "chess/pruning_cost"):
        assert notebooks[name]["sweep"] == "bird-sds"  # which has 147


@pytest.mark.parametrize("name", ["selection", "regret"])
def test_the_selector_of_chase_is_algorithm_3_unless_an_experiment_says_otherwise(name):
    notebook = json.loads((ROOT / f"notebooks/chase_sql/{name}.ipynb").read_text())
    code = "".join(
        "".join(c["source"]) for c in notebook["cells"] if c["cell_type"] == "code"
    )
    assert 'by = "candidate"' in code
    assert "by=by" in code
    assert 'by="result"' not in code
