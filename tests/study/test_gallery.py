"""The gallery shows everything that was saved, and escapes what data says."""

import orjson
import pandas as pd
import pytest
from PIL import Image

from workbench.report.published import published
from workbench.report.stamp import Stamp
from workbench.report.tables import alone
from workbench.study.saved import Saved, write_gallery

TABLE = "| system | EX |\n|:--|--:|\n"
PARSER = "embedded/parser (a small statistical parser, no language model) on bundled-dev, N = 3"


def record(**changed):
    row = "| \\<i> | 1.0 |\n"
    return {"kind": "table", "title": "A <b>title</b>", "stamp": "openai/x on bird-dev, N = 3",
            "runs": {}, "table": TABLE + row, "rows": 1, "claims": []} | changed  # fmt: skip


@pytest.fixture
def page(tmp_path):
    """The page of an experiment with these records."""

    def page(name="mine", **records):
        (tmp_path / "figures" / name).mkdir(parents=True, exist_ok=True)
        (tmp_path / "figures" / name / "index.json").write_bytes(orjson.dumps(records))
        return write_gallery(tmp_path / "figures").read_text()

    return page


def test_papers_come_in_order_each_with_its_numbered_pieces_first(page):
    names = (
        "mac_table_1",
        "chase_a5_recall",
        "chase_table_10",
        "chase_figure_2d",
        "chase_table_1",
    )
    text = page(**dict.fromkeys(names, record()))
    headings = [
        line[5:].split(":")[0] for line in text.splitlines() if line.startswith("#### ")
    ]
    assert headings == ["Table 1", "Figure 2d", "Table 10", "A5 recall", "Table 1"]
    assert text.index("### CHASE-SQL") < text.index("### MAC-SQL")


def test_a_claim_is_printed_only_where_a_language_model_answered(page):
    claims = [{"text": "a < b", "verdict": "not judged", "detail": ""}]
    parsed = page(chase_table_1=record(stamp=PARSER, claims=claims))
    assert parsed.count("Machinery check: a parser answered, no language model") == 1
    assert "a \\< b" not in parsed
    judged = page(
        chase_table_1=record(claims=[claims[0] | {"verdict": "holds", "detail": "1_2"}])
    )
    assert "- **holds here**: a \\< b 1\\_2" in judged
    assert "parser" not in judged


def test_the_contents_lead_to_each_piece_and_a_piece_to_its_notebook(page, tmp_path):
    (tmp_path / "figures" / "mine").mkdir(parents=True)
    cell = 'saved = study.save(\\"chase_table_1\\", table)'
    (tmp_path / "figures" / "mine" / "chase_sql-a.ipynb").write_text(cell)
    text = page(chase_table_1=record(), mac_table_3=record())
    assert "- CHASE-SQL: [Table 1](#mine-chase_table_1)\n- MAC-SQL: [Table 3]" in text
    assert text.count('<a id="mine-chase_table_1"></a>') == 1
    assert text.count("[notebook](mine/chase_sql-a.ipynb)") == 1


def test_a_claim_that_is_not_decided_says_so(page):
    claims = [
        {
            "text": "a is better",
            "verdict": "not decided",
            "detail": "+1.0 (-1.0 to +3.0)",
        }
    ]
    assert "- **is not decided here**: a is better" in page(
        chase_table_1=record(claims=claims)
    )


def test_figures_are_pictures_in_their_natural_size_and_long_lists_are_links(
    page, tmp_path
):
    folder = tmp_path / "figures" / "mine"
    folder.mkdir(parents=True)
    Image.new("P", (640, 9)).save(folder / "chess_figure_4.png")
    long = record(table=TABLE + "| x | 1 |\n" * 40, rows=40)
    text = page(chess_figure_4=record(kind="figure", table=""), chess_table_2=long)
    assert '<img src="mine/chess_figure_4.png" width="352" alt="Figure 4">' in text
    assert "([40 rows](mine/chess_table_2.csv))" in text
    assert "| x |" not in text


def test_a_trial_of_a_few_questions_is_left_out_unless_it_is_an_experiment(
    page, tmp_path
):
    assert "mine-3" not in page("mine-3", chase_table_1=record())
    (tmp_path / "experiments").mkdir()
    (tmp_path / "experiments" / "mine-3.yaml").write_text("")
    assert "## mine-3" in page("mine-3", chase_table_1=record())


def test_a_part_of_a_papers_figure_has_the_title_of_the_whole(page, tmp_path):
    folder = tmp_path / "figures" / "mine"
    folder.mkdir(parents=True)
    names = ("chase_figure_2abc", "chase_figure_2d", "chase_figure_3a", "mac_figure_9")
    for name in names:
        Image.new("P", (640, 9)).save(folder / f"{name}.png")
    figure = record(kind="figure", title="", table="", rows=0)
    text = page(**dict.fromkeys(names, figure))
    whole = "The best that picking could reach among 21 candidates"
    assert f"#### Figure 2abc: {whole}" in text
    assert f"#### Figure 2d: {whole}" in text
    assert f"#### Figure 3a: {published('CHASE-SQL', 'figure 3a').title}" in text
    assert "\n#### Figure 9\n" in text  # which the paper does not have


def test_hostile_titles_are_text(page):
    text = page(chase_table_1=record(title="\x1b[31m\u202e~<b>", stamp="\0<script>"))
    assert "\\x1b\\[31m\\u202e\\~\\<b" in text
    assert "<b>" not in text
    assert "<script>" not in text
    assert text.replace("\n", "").isprintable()


def test_what_the_last_run_did_not_draw_is_marked_until_it_is_saved_again(
    page, tmp_path
):
    text = page(chase_table_1=record(), chase_table_2=record(), mac_table_1=record())
    assert "earlier" not in text
    saved = Saved(tmp_path / "figures" / "mine")
    saved.mark_earlier(["chase_table_2", "mac_table_1", "never_saved"])
    marked = write_gallery(tmp_path / "figures").read_text()
    assert "**2 of 3 pieces are of an earlier run**" in marked
    pieces = marked.split("\n#### ")[1:]
    assert ["Not drawn in the last run" in piece for piece in pieces] == [
        False,
        True,
        True,
    ]
    table = alone(
        pd.DataFrame({"system": ["a"], "EX": [1.0]}),
        Stamp(("openai/x",), "mine", 3),
        "T",
    )
    saved.save("chase_table_2", table, None, "openai/x on mine, N = 3")
    again = write_gallery(tmp_path / "figures").read_text()
    assert "**1 of 3 pieces are of an earlier run**" in again
    assert again.count("Not drawn in the last run") == 1
