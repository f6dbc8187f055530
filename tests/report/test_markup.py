"""Text becomes text: nothing in it is markup, a formula, or out of sight."""

from workbench.report.markup import alert, esc, table, view


def test_markup_is_escaped_in_text_and_attributes():
    assert esc("<b a='x'>&\"") == "&lt;b a=&#x27;x&#x27;&gt;&amp;&quot;"


def test_what_cannot_be_seen_or_sent_is_written_out():
    assert esc("a\x00b\u202ec\ud800") == "a\\u0000b\\u202ec\\ud800"
    assert esc("two\r\nlines\tand a tab") == "two\nlines\tand a tab"


def test_a_view_keeps_mathjax_away_and_shows_itself():
    shown = view("Price $5", kind="wb-x")
    assert shown.startswith('<section class="wb mathjax_ignore tex2jax_ignore wb-x"')
    assert shown._repr_html_() == shown


def test_a_marked_row_is_of_its_mark():
    told = table(("a",), [(1,), (2,)], marks=["plus", ""])
    assert '<tr class="plus"><td>1</td></tr><tr><td>2</td></tr>' in told


def test_an_alert_is_read_out():
    assert 'role="alert">it broke &lt;</p>' in alert("it broke <")
