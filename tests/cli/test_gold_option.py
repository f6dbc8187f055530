"""`--gold NAME=FILE`: predictions judged under other golds, from the command line."""

import json
from functools import partial

import pytest


@pytest.fixture
def evaluate(run, tmp_path, tiny):
    """`workbench evaluate` on a tiny BIRD with gold as predictions: exit code, output, errors."""
    root = tiny.write_bird(tmp_path / "bird")
    predictions = tmp_path / "right.json"
    predictions.write_text(json.dumps({str(n): sql for n, sql in enumerate(tiny.gold)}))
    return partial(run, "evaluate", "bird", "--root", root, "--predictions", predictions)


def test_the_tables_show_ex_under_each_gold(evaluate, tmp_path):
    revised = tmp_path / "revised.json"
    revised.write_text(json.dumps([{"question_id": 0, "SQL": "SELECT 99"}, {"question_id": 1}]))
    code, out, _ = evaluate("--gold", f"new={revised}", "--json")
    (row,) = json.loads(out)["golds"]
    assert code == 0
    assert (row["gold"], row["n"], row["ex"], row["difference"]) == ("new", 2, 50, -50)
    assert (row["won"], row["lost"]) == ([], ["0"])


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--gold", "new"], "'new' is not NAME=FILE"),
        (["--gold", "new=a.json", "--gold", "new=b.json"], "the name 'new' is given twice"),
        (["--gold", "new=nowhere.json"], "nowhere.json: No such file or directory"),
    ],
)
def test_a_revision_that_cannot_be_read_is_refused_in_one_line(evaluate, options, words):
    code, out, err = evaluate(*options)
    assert (code, out) == (2, "")
    assert words in err
    assert err.count("\n") == 1
