"""Figures of one look, whose text survives its data and whose files repeat."""

import unicodedata
from base64 import b64decode
from collections import Counter
from xml.etree import ElementTree as ET

import matplotlib as mpl
import pandas as pd
import pytest
from IPython.core.formatters import DisplayFormatter

from workbench.errors import BadInputError
from workbench.report.drawing import lettering, palette, style

HOSTILE = (
    "$x_1$ and $$",
    "100 % & <b>#{}^~\\",
    "two\nlines\tand a tab",
    "\N{FOX FACE} \N{FAMILY}\N{ZERO WIDTH JOINER}\N{VARIATION SELECTOR-16}",
    "\u6f22\u5b57 \u05d0\u05d1 \N{RIGHT-TO-LEFT OVERRIDE}",
    "nul\x00 bell\x07 escape\x1b",
    "\ud800 alone",
    "-- a comment -->",
    "",
    "   ",
    "long " * 300,
    "x" * 5000,
)


def drawn(label):
    with style.canvas(style.ONE, 1.0, pd.DataFrame(), "a stamp") as figure:
        axes = figure.subplots()
        axes.set_title(lettering.text(label, 150))
        axes.bar([0], [1])
    return figure


@pytest.mark.parametrize("label", HOSTILE, ids=range(len(HOSTILE)))
def test_a_hostile_label_is_drawn_without_warning_and_makes_a_sound_svg(tmp_path, label):
    style.save(drawn(label), tmp_path / "figure")
    ET.parse(tmp_path / "figure.svg")  # noqa: S314  our own file


def test_a_dollar_is_a_dollar_and_no_formula(faults):
    figure = drawn("$a_b$")
    title = figure.axes[0].title
    assert title._preprocess_math(title.get_text()) == ("$a_b$", False)
    assert not faults(figure)


def test_what_the_font_lacks_is_named():
    assert lettering.text("a \N{FOX FACE}") == "a [fox face]"
    assert lettering.text("\u6f22") == "[U+6F22]"


def test_letters_of_other_scripts_that_the_font_has_stay():
    word = unicodedata.normalize("NFD", "na\u00efve \u0416\u03a9 \u2265")
    assert lettering.text(word) == word


def test_a_long_name_is_cut_in_the_middle_to_its_width():
    name = "frpm_percentage_of_eligible_free_students_aged_5_to_17"
    short = lettering.text(name, 100)
    assert lettering.width(short) <= 100
    head, tail = short.split("\N{HORIZONTAL ELLIPSIS}")
    assert name.startswith(head)
    assert name.endswith(tail)


def test_lines_break_between_words_and_keep_their_width():
    broken = lettering.lines("one word after the other " * 5 + "y" * 200, 120).splitlines()
    assert len(broken) > 3
    assert max(map(lettering.width, broken)) <= 120


def test_a_saved_figure_has_the_same_bytes_each_time_and_whatever_the_settings(tmp_path):
    style.save(drawn("same"), tmp_path / "one")
    with mpl.rc_context({"font.size": 20, "text.usetex": False, "svg.fonttype": "path"}):
        style.save(drawn("same"), tmp_path / "two")
    for kind in style.KINDS:
        assert (tmp_path / f"one.{kind}").read_bytes() == (tmp_path / f"two.{kind}").read_bytes()


def test_saving_twice_writes_equal_files(tmp_path):
    figure = drawn("again")
    style.save(figure, tmp_path / "one.v2")
    figure.files.clear()  # so that it is rendered again
    style.save(figure, tmp_path / "two.v2")
    for kind in style.KINDS:
        one, two = (tmp_path / f"{name}.v2.{kind}" for name in ("one", "two"))
        assert one.read_bytes() == two.read_bytes()


def test_text_stays_text_in_svg_and_pdf(tmp_path):
    style.save(drawn("a label"), tmp_path / "figure")
    svg = (tmp_path / "figure.svg").read_text()
    assert ">a label</text>" in svg
    assert "Verdana" in svg, "a font of the same width, where ours is missing"
    pdf = (tmp_path / "figure.pdf").read_bytes()
    assert b"/FontFile2" in pdf, "TrueType, embedded"
    assert b"/Type3" not in pdf


def test_drawing_changes_no_setting_of_the_notebook():
    before = dict(mpl.rcParams)
    drawn("tidy")
    assert dict(mpl.rcParams) == before


def test_a_figure_shows_itself_in_a_notebook():
    figure = drawn("shown")
    bundle, sizes = DisplayFormatter().format(figure)
    assert b64decode(bundle["image/png"]).startswith(b"\x89PNG")
    assert sizes["image/png"]["width"] == round(110 * style.ONE)


def test_a_notebook_shows_the_bytes_of_the_file(tmp_path):
    figure = drawn("shown")
    style.save(figure, tmp_path / "figure")
    bundle, _ = DisplayFormatter().format(figure)
    assert b64decode(bundle["image/png"]) == (tmp_path / "figure.png").read_bytes()


def test_a_figure_is_rendered_again_only_once_it_has_changed(tmp_path, monkeypatch):
    figure, render, rendered = drawn("shown"), style._render, []
    monkeypatch.setattr(style, "_render", lambda *of: rendered.append(of[1]) or render(*of))
    style.save(figure, tmp_path / "figure")
    DisplayFormatter().format(figure)
    assert rendered == ["svg", "pdf", "png"]
    figure.axes[0].set_title("another")
    bundle, _ = DisplayFormatter().format(figure)
    assert rendered == ["svg", "pdf", "png", "png"]
    assert b64decode(bundle["image/png"]) != (tmp_path / "figure.png").read_bytes()


def test_a_long_stamp_is_wrapped_to_fit_the_figure(faults, shown_text):
    with style.canvas(
        style.ONE, 1.0, pd.DataFrame(), "bundled-dev, N = 278, EX (BIRD) " * 8
    ) as figure:
        figure.subplots()
    assert not faults(figure)
    assert shown_text(figure).count("N = 278") == 8


def test_a_name_has_one_look_however_it_is_spelled():
    assert palette.look("synthetic_examples") == palette.look("synthetic examples")
    assert palette.look("chase_sql") == palette.look("CHASE-SQL")
    assert palette.looks(["query_plan", "w/o revise"])["query_plan"] == palette.look("query_plan")


def test_the_generators_of_a_figure_differ_in_colour_and_in_every_other_sign():
    names = ["divide_and_conquer", "query_plan", "synthetic_examples", "direct", "chess_candidate"]
    found = palette.looks(names).values()
    for sign in ("colour", "marker", "hatch", "line"):
        assert len({str(getattr(look, sign)) for look in found}) == len(names)


def test_each_unknown_name_has_the_same_look_in_any_order():
    names = [f"w/o tool {n}" for n in range(30)]
    found = palette.looks(names)
    assert len(set(map(repr, found.values()))) == 30
    assert palette.looks(names[::-1]) == found
    assert len({look.colour for look in palette.looks(names[:7]).values()}) == 7
    assert max(Counter(look.colour for look in found.values()).values()) == 5


def test_more_names_than_looks_are_still_drawn():
    assert len(palette.looks([str(n) for n in range(200)])) == 200


def test_names_are_shown_as_readers_know_them():
    assert palette.shown("synthetic_examples") == "synthetic examples"
    assert palette.shown("chase_sql") == "CHASE-SQL"
    assert palette.shown("my_system") == "my_system"


def test_an_empty_or_wrong_table_is_one_clear_error():
    with pytest.raises(BadInputError, match="no rows"):
        style.need(pd.DataFrame(columns=["a"]), "a")
    with pytest.raises(BadInputError, match="no column b"):
        style.need(pd.DataFrame({"a": [1]}), "a", "b")


def test_the_runs_behind_a_table_are_named_once():
    assert style.runs(pd.DataFrame({"run": ["a b", "a", "c"]})) == "a b c"
    assert style.runs(pd.DataFrame({"x": [1]})) == ""


def test_difficulties_stand_easiest_first_and_other_names_as_they_come():
    levels = ["extra", "easy", "hard", "medium", "easy"]
    assert palette.ordered(levels) == ["easy", "medium", "hard", "extra"]
    assert palette.ordered(["zoo", "shop", "zoo"]) == ["zoo", "shop"]
