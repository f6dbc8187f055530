"""The gallery shows everything that was saved, and escapes what data says."""

import orjson
import pandas as pd
import pytest

from workbench.experiment.gallery import write_gallery
from workbench.experiment.pieces import pieces
from workbench.report.figures.candidates import unique_solves
from workbench.report.stamp import Stamp
from workbench.report.tables import ResultTable
from workbench.study.saved import Saved

STAMP = str(Stamp("embedded/parser", "bundled-dev", 3))
TRIALS = pd.DataFrame(
    {
        "question_id": ["1", "1", "2", "2"],
        "db_id": ["zoo"] * 4,
        "difficulty": ["simple"] * 4,
        "generator": ["a", "b", "a", "b"],
        "correct": [True, False, True, True],
        "run": ["abc"] * 4,
    }
)


@pytest.fixture
def folder(tmp_path):
    saved = Saved(tmp_path / "figures" / "mine")
    odd = ResultTable("A <b>title</b> | $x$", (), pd.DataFrame({"system": ["<i>"], "EX": [1.0]}))
    saved.save("chase_table_10", odd, None, STAMP)
    saved.save("chase_table_2", odd, None, STAMP)
    saved.claim("a < b", holds=True, of="1_2", judged=False)
    saved.save("mac_figure_6", unique_solves(TRIALS, stamp=STAMP), None, STAMP)
    return saved.folder


def test_pieces_come_paper_by_paper_in_the_order_of_their_numbers(folder):
    assert [p.name for p in pieces(folder)] == ["chase_table_2", "chase_table_10", "mac_figure_6"]


def test_the_page_of_the_repository_shows_everything(folder):
    (folder.parent / "mine-3").symlink_to(folder)
    text = write_gallery(folder.parent).read_text()
    assert "## mine" in text
    assert "mine-3" not in text, "a trial of three questions"
    (folder.parents[1] / "experiments").mkdir()
    (folder.parents[1] / "experiments" / "mine-3.yaml").write_text("")
    assert "## mine-3" in write_gallery(folder.parent).read_text(), "an experiment of that name"
    assert "](mine/mac_figure_6.png)" in text
    assert "([data](mine/chase_table_2.csv))" in text
    assert text.count("no language model") == 1, "once, at the top"
    assert "- **not judged: a parser answered**: a \\< b 1\\_2" in text
    assert "holds" not in text
    assert "<b>" not in text


def test_a_page_opens_with_table_1_and_figure_2_and_ends_a_paper_with_its_appendix(tmp_path):
    folder = tmp_path / "mine"
    folder.mkdir()
    names = ("chase_a5_recall", "chase_regret", "chase_table_2", "chase_figure_2d", "chase_table_1")
    record = {
        "kind": "table",
        "title": "",
        "stamp": "openai/x on bird-dev",
        "table": "",
        "claims": [],
    }
    (folder / "index.json").write_bytes(orjson.dumps(dict.fromkeys(names, record)))
    ordered = [p.name for p in pieces(folder)]
    assert ordered[:3] == ["chase_table_1", "chase_figure_2d", "chase_table_2"]
    assert "parser" not in write_gallery(tmp_path).read_text()


def test_a_title_shows_invisible_characters_as_its_table_does(tmp_path):
    folder = tmp_path / "mine"
    folder.mkdir()
    record = {"kind": "table", "title": "\x1b[31m\u202e~", "stamp": "\0", "table": "", "claims": []}
    (folder / "index.json").write_bytes(orjson.dumps({"chase_table_1": record}))
    text = write_gallery(tmp_path).read_text()
    assert "\\u001b\\[31m\\u202e\\~" in text
    assert text.replace("\n", "").isprintable()


def test_the_gallery_is_the_same_each_time(folder):
    assert write_gallery(folder.parent).read_text() == write_gallery(folder.parent).read_text()
