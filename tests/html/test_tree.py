"""Text in a tree stays text: nothing in it is markup, a formula, or invisible."""

import dataclasses
import re
import sys
import unicodedata
from pathlib import Path

import pytest

import workbench
from workbench.html.tree import Element, Raw, element, escape, html, plain_data, visible


def test_markup_is_escaped_in_text_and_attributes():
    assert escape("<b a='x'>&\"") == "&lt;b a=&#x27;x&#x27;&gt;&amp;&quot;"
    tree = element("td", "<b>", element("code", "x"), None, title='"', class_="a", data_x=None)
    assert html(tree) == '<td title="&quot;" class="a">&lt;b&gt;<code>x</code></td>'


def test_invisible_characters_are_written_out():
    assert escape("a\x00b\u202ec\ud800") == "a\\u0000b\\u202ec\\ud800"
    assert escape("two\r\nlines\tand a tab") == "two\nlines\tand a tab"


def test_no_character_of_format_or_control_is_left_except_those_that_a_font_draws():
    drawn = {*"\t\n", *map(chr, [*range(0x600, 0x606), 0x6DD, 0x70F, 0x890, 0x891, 0x8E2])}
    drawn |= set(map(chr, [0x110BD, 0x110CD, *range(0x13430, 0x1345B), *range(0x1BCA0, 0x1BCA4)]))
    every = [chr(code) for code in range(sys.maxunicode + 1)]
    hidden = {c for c in every if unicodedata.category(c) in {"Cc", "Cf", "Cs", "Zl", "Zp"}}
    assert {c for c in hidden if visible(c) == c} <= drawn


def test_a_node_cannot_be_changed():
    with pytest.raises(dataclasses.FrozenInstanceError):
        element("p", "x").tag = "h1"


def test_children_of_an_element_are_strings_and_elements():
    written = type("Html", (str,), {})("<b>")
    for child in (3, ["x"], written):
        with pytest.raises(TypeError, match="holds strings and elements"):
            Element("p", (), (child,))


@pytest.mark.parametrize("tag", ["script", "iframe", "img", "p onclick=x", ""])
def test_a_tag_that_could_run_or_load_anything_is_refused(tag):
    with pytest.raises(ValueError, match="is not allowed"):
        element(tag)


@pytest.mark.parametrize("name", ["onclick", "style", "src", "srcdoc", 'x"><b', "data-A"])
def test_an_attribute_that_could_run_or_load_anything_is_refused(name):
    with pytest.raises(ValueError, match="is not allowed"):
        Element("p", ((name, "x"),))


def test_data_for_a_widget_is_the_same_tree_with_text_left_as_text():
    tree = element("p", "<b>\u202e", element("code", "x"), data_value="a\nb")
    assert plain_data(tree) == ["p", {"data-value": "a\nb"}, "<b>\\u202e", ["code", {}, "x"]]
    with pytest.raises(TypeError, match="raw markup"):
        plain_data(element("p", Raw("<b>")))


def test_raw_markup_is_used_for_the_style_sheet_alone():
    package = Path(workbench.__file__).parent
    uses = {
        f"{path.relative_to(package)}: {call}"
        for path in package.rglob("*.py")
        for call in re.findall(r"\bRaw\(.*", path.read_text())
    }
    assert sorted(use.partition("(")[0] for use in uses) == [
        "html/parts.py: Raw",
    ]


@pytest.mark.parametrize(
    "href", ["javascript:alert(1)", "https://example.org", "//example.org/x", "data:text/html,x"]
)
def test_a_link_to_a_script_or_another_server_is_refused(href):
    with pytest.raises(ValueError, match="leads out of the page"):
        element("a", "x", href=href)


def test_a_link_leads_to_a_part_of_the_page_or_a_file_beside_it():
    link = element("a", "x", href="pages/index.html#chase_table_1.0")
    assert html(link) == '<a href="pages/index.html#chase_table_1.0">x</a>'
