"""Figures of one look, whose text survives its data and whose files repeat."""

from io import BytesIO
from xml.etree import ElementTree as ET

import matplotlib as mpl
import pandas as pd
import pytest
from IPython.core.formatters import DisplayFormatter
from PIL import Image

from workbench.report import style
from workbench.report.names import leaders, ordered, shown

HOSTILE = [
    "$x_1$ and $$",
    "100 % & <b>#{}^~\\",
    "two\nlines\tand a tab",
    "-- a comment -->",
    "",
    "   ",
]
HOSTILE += [
    "nul\x00 bell\x07 escape\x1b",
    "\ud800 alone",
    "\u6f22\u5b57 \u05d0\u05d1 \N{RIGHT-TO-LEFT OVERRIDE}",
]
HOSTILE += [
    "\N{FAMILY}\N{ZERO WIDTH JOINER}\N{VARIATION SELECTOR-16}",
    "long " * 300,
    "x" * 5000,
]


@style.settings
def drawn(label, stamp="a stamp"):
    figure, axes = style.blank(1.0)
    axes.set_title(style.text(label, 30))
    axes.bar([0], [1], color=style.looks(["a"])["a"].colour)
    return style.finish(figure, pd.DataFrame(), stamp, label)


@pytest.mark.parametrize("label", HOSTILE, ids=range(len(HOSTILE)))
def test_a_hostile_label_and_stamp_are_drawn_and_make_a_sound_svg(label, faults):
    figure = drawn(label, label)
    assert faults(figure) == []
    ET.fromstring(style.rendered(figure, "svg"))  # noqa: S314  our own file


def test_a_dollar_is_a_dollar_and_what_the_font_lacks_is_named():
    title = drawn("$a_b$").axes[0]._left_title
    assert title._preprocess_math(title.get_text()) == ("$a_b$", False)
    assert style.text("a \N{FOX FACE} \u6f22") == "a [U+1F98A] [U+6F22]"
    assert style.text("\u0416\u03a9 \u2265") == "\u0416\u03a9 \u2265"


def test_files_have_the_same_bytes_each_time_and_vectors_go_into_a_folder_of_the_home(
    tmp_path, monkeypatch
):
    monkeypatch.setenv("WORKBENCH_HOME", str(tmp_path / "home"))
    before, found = dict(mpl.rcParams), []
    # Whatever a notebook has set.
    for theme in ({}, {"font.size": 20, "svg.fonttype": "path"}):
        with mpl.rc_context(theme):
            style.save(drawn("same"), tmp_path / "figure")
        files = sorted(path for path in tmp_path.rglob("*") if path.is_file())
        found.append({path.name: path.read_bytes() for path in files})
    assert dict(mpl.rcParams) == before
    assert found[0] == found[1]
    assert set(found[0]) == {"figure.svg", "figure.pdf", "figure.png"}
    assert [path.name for path in tmp_path.iterdir() if path.is_file()] == [
        "figure.png"
    ]
    assert Image.open(BytesIO(found[0]["figure.png"])).mode == "P"  # a palette


def test_text_stays_text_in_svg_and_pdf():
    svg, pdf = (style.rendered(drawn("a label"), kind) for kind in ("svg", "pdf"))
    assert b">a label</text>" in svg
    assert b"Verdana" in svg, "a font of the same width, where ours is missing"
    assert b"/FontFile2" in pdf, "TrueType, embedded"
    assert b"/Type3" not in pdf


def test_a_notebook_shows_the_bytes_of_the_file():
    figure = drawn("shown")
    bundle, sizes = DisplayFormatter().format(figure)
    assert bundle["image/png"] == style.rendered(figure, "png")
    assert sizes["image/png"]["width"] == round(110 * style.ONE)
    size = Image.open(BytesIO(style.rendered(figure, "png"))).size
    assert size[0] == round(200 * style.ONE)


def test_a_name_has_one_look_however_it_is_spelled_and_a_variant_its_colour():
    others = ["CHASE-SQL, majority", "w/o query plan", "my own", "other"]
    found = style.looks(["synthetic_examples", *others, "chase_sql"])
    alone = style.looks(["synthetic examples", "CHASE-SQL", "query plan"])
    assert found["synthetic_examples"] == alone["synthetic examples"]
    assert found["chase_sql"] == alone["CHASE-SQL"]
    assert found["CHASE-SQL, majority"].colour[:3] == alone["CHASE-SQL"].colour[:3]
    assert found["w/o query plan"].colour[:3] == alone["query plan"].colour[:3]
    assert len(set(map(repr, found.values()))) == len(found)
    assert found["my own"].colour != found["other"].colour


def test_the_generators_of_a_figure_differ_in_colour_and_in_marker_and_no_two_of_64_are_alike():
    names = [
        "divide_and_conquer",
        "query_plan",
        "synthetic_examples",
        "direct",
        "decomposer",
    ]
    looks = style.looks(names).values()
    for sign in ("colour", "marker"):
        assert len({getattr(look, sign) for look in looks}) == len(names)
    many = style.looks([str(n) for n in range(64)]).values()
    assert len({(look.colour, look.marker) for look in many}) == 64


def test_names_are_shown_as_readers_know_them_and_difficulties_stand_easiest_first():
    assert shown("synthetic_examples") == "synthetic examples"
    assert shown("my_system") == "my_system"
    assert ordered(["extra", "easy", "hard", "easy"]) == ["easy", "hard", "extra"]
    assert ordered(["zoo", "shop", "zoo"]) == ["zoo", "shop"]


def test_names_that_share_the_largest_number_are_all_its_leaders():
    numbers = pd.Series({"query_plan": 3, "a": 1, "divide_and_conquer": 3})
    assert leaders(numbers) == "query plan and divide and conquer"
    assert leaders(-numbers) == "a"
