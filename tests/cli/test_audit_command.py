"""`workbench audit`: findings as tables, JSON and CSV, on a benchmark's name or on a file."""

import csv
import json
from functools import partial

import pytest


@pytest.fixture
def audit(run):
    """`workbench audit ...` in this process."""
    return partial(run, "audit")


@pytest.fixture
def bird(tmp_path, tiny):
    """A tiny BIRD with one gold query that is tied at its LIMIT."""
    items = tiny.bird_items()
    items[0]["SQL"] = "SELECT name FROM animal ORDER BY legs DESC LIMIT 2"
    return tiny.write_bird(tmp_path / "bird", items=items)


def test_findings_are_shown_with_their_rows_and_a_table_at_the_end(audit, bird):
    code, out, _ = audit("bird-dev", "--root", bird)
    assert code == 0
    assert "ties at LIMIT: question 0 on zoo: rows are tied at LIMIT 2" in out
    assert "result1, key1: cat, 4; dog, 4" in out
    assert out.rstrip().splitlines()[-1].split() == ["any", "kind", "2", "2"]


def test_a_file_is_audited_beside_its_corrections(audit, bird, tmp_path, tiny):
    corrected = tmp_path / "corrected.json"
    corrected.write_text(json.dumps(tiny.bird_items()))
    given = [bird / "dev.json", "--root", bird, "--gold", f"new={corrected}"]
    _, out, _ = audit(*given, "--json", "--csv", tmp_path / "findings.csv")
    counts = {row["kind"]: row for row in json.loads(out)["counts"]}
    assert counts["ties at LIMIT"]["new: corrected"] == "1 of 1"
    assert (counts["any kind"]["new: precision"], counts["any kind"]["new: recall"]) == (50, 100)
    with (tmp_path / "findings.csv").open(newline="", encoding="utf-8") as file:
        assert [row["kind"] for row in csv.DictReader(file)] == ["empty", "ties at LIMIT"]


def test_an_unknown_name_is_refused_in_one_line(audit):
    code, out, err = audit("bird-def")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "no benchmark 'bird-def'" in err
