"""The parts of a view: what marks, alerts and views look like to a reader and to a screen reader."""

from workbench.html.parts import STYLE, alert, details, line, stack, table, view
from workbench.html.tree import element, html


def test_a_view_keeps_mathjax_away_and_shows_itself():
    shown = view("Price $5", kind="wb-x")
    assert shown.startswith('<section class="wb mathjax_ignore tex2jax_ignore wb-x"')
    assert shown._repr_html_() == shown


def test_a_view_carries_the_one_style_sheet_for_light_and_dark():
    assert STYLE in view("x")
    assert "prefers-color-scheme: dark" in STYLE
    assert "--jp-ui-font-color1" in STYLE


def test_a_marked_row_has_its_mark_as_class():
    marked = html(table(("a",), [(1,), (2,)], marks=["plus", ""]))
    assert '<tr class="plus"><td>1</td></tr><tr><td>2</td></tr>' in marked


def test_a_cell_may_be_a_node():
    cells = html(table(("a", "b"), [(element("td", "7", class_="number"), line("x"))]))
    assert '<tr><td class="number">7</td><td><p>x</p></td></tr>' in cells


def test_details_are_folded_unless_they_are_shown():
    assert html(details("more", line("x"))).startswith("<details><summary>more</summary>")
    assert html(details("more", shown=True)).startswith('<details open="">')


def test_a_stack_leaves_out_what_is_none():
    assert html(stack(line("a"), None)) == "<div><p>a</p></div>"


def test_an_alert_is_read_out():
    assert 'role="alert">it broke &lt;</p>' in alert("it broke <")
