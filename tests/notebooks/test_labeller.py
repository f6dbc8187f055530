"""`label_errors` opens the very answers that the figures of each taxonomy count."""

from pathlib import Path

import nbformat
import pytest

import workbench as wb
from workbench.study.experiment import Experiment

FOLDER = Path(__file__).parents[2] / "notebooks"
MODELS = {
    "judge": "openai/j",
    "rest": "openai/r",
    "filtering": "openai/f",
    "generation": "openai/g",
}


class Asked(Exception):  # noqa: N818  it ends the notebook
    """The systems that a notebook runs first."""


@pytest.fixture
def systems(monkeypatch, tmp_path):
    def run(_, systems):
        raise Asked(systems)

    def of(name, **parameters):
        monkeypatch.setattr(wb.Study, "run", run)
        experiment = Experiment(
            "small", model="openai/m", models=MODELS, folder=tmp_path
        )
        cells = nbformat.read(FOLDER / f"{name}.ipynb", nbformat.NO_CONVERT).cells
        first, *others = [cell.source for cell in cells if cell.cell_type == "code"]
        names = {}
        exec(first, names)  # noqa: S102  a notebook's cells
        names |= parameters | {"experiment": experiment, "limit": 1}
        with pytest.raises(Asked) as asked:
            exec("\n".join(others), names)  # noqa: S102
        return asked.value.args[0]

    return of


@pytest.mark.parametrize(
    ("taxonomy", "figure"),
    [
        ("CHASE-SQL", "chase_sql/errors"),
        ("CHASE-SQL selection", "chase_sql/errors"),
        ("CHESS", "chess/errors"),
        ("MAC-SQL", "mac_sql/errors"),
    ],
)
def test_it_opens_the_systems_of_the_taxonomys_figure(taxonomy, figure, systems):
    asked = ("label_errors", {"taxonomy": taxonomy}), (figure, {})
    opened, drawn = (systems(name, **given).values() for name, given in asked)
    assert sorted(map(repr, opened)) == sorted(map(repr, drawn))
