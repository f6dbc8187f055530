"""CHESS's table 8 claims that tuning is worth something only where a tuned model answered."""

import json
from pathlib import Path
from types import SimpleNamespace

import pandas as pd
import pytest

import workbench as wb
from workbench.report.stamp import Stamp

NOTEBOOK = Path(__file__).parents[2] / "notebooks/chess/ablations.ipynb"
ROLES = {"filtering": "m/cheap", "rest": "m/strong", "tuned": "m/tuned", "open": "m/open"}
ANSWERED = {
    "cheap, tuned, strong": 60.0,
    "cheap, strong, strong": 50.0,
    "cheap, cheap, cheap": 40.0,
    "open, open, open": 45.0,
    "open, tuned, open": 44.0,
}


def claimed(models, answered=ANSWERED):
    """The claims that the cells on table 8 make where the experiment names these models, and the table."""
    made = SimpleNamespace(claims=[], tables=[])

    def run(system, name):
        row = {"system": name, "n": 147, "EX": answered[name], "run": "r"}
        return SimpleNamespace(system=system, row=lambda _: row)

    study = SimpleNamespace(
        experiment=SimpleNamespace(models=models),
        stamp=Stamp("m/x", "bird-dev", 147),
        run=run,
        save=lambda *about: made.tables.append(about[1]),
        claim=lambda *about: made.claims.append(about[1:]),
    )
    ours = pd.DataFrame([{"system": "All tools", "n": 147, "EX": 64.6, "run": "r"}])
    names = {"pd": pd, "wb": wb, "study": study, "ours": ours}
    cells = ["".join(cell["source"]) for cell in json.loads(NOTEBOOK.read_text())["cells"]]
    (first,) = (n for n, text in enumerate(cells) if '"cheap, tuned, strong": (' in text)
    for text in cells[first:]:
        exec(text, names)  # noqa: S102  our own notebook
    return made


@pytest.mark.parametrize(
    "roles", [(), ("open",), ("filtering", "rest", "open"), ("filtering", "tuned")]
)
def test_nothing_is_claimed_without_a_tuned_model_and_its_untuned_row(roles):
    assert claimed({role: ROLES[role] for role in roles}).claims == []


def test_the_claim_compares_each_tuned_row_with_the_row_without_tuning():
    assert claimed(ROLES).claims == [(False, "cheap, tuned, strong +10.0, open, tuned, open -1.0")]
    better = ANSWERED | {"open, tuned, open": 46.0}
    ((holds, _),) = claimed(ROLES, better).claims
    assert holds


def test_our_rows_stand_beside_the_papers():
    (table,) = claimed(ROLES).tables
    frame = table.frame.set_index("system")
    assert frame.loc["open, tuned, open", ["EX", "CHESS: EX"]].tolist() == [44.0, 59.86]
    assert frame.loc["open, tuned, open", "model"] == "m/open, m/tuned, m/open"
    assert frame[["EX", "CHESS: EX"]].notna().all(axis=None)
