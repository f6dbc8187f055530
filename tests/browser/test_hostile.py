"""Whatever stands in questions, databases, replies and labels, the page is built as for the word "plain"."""

from pathlib import Path

import pytest

pytestmark = pytest.mark.browser

HOSTILE = (
    "<script>alert(1); fetch('http://example.org/a')</script>",
    "<img src=http://example.org/b onerror=alert(2)>",
    '"><svg/onload=alert(3)>',
    "' autofocus onfocus='alert(4)",
    "</textarea></option></select></pre></td></table></details></section><h1>out</h1>",
    "<iframe srcdoc='<script>parent.alert(5)</script>'></iframe>",
    "<style>@import 'http://example.org/c'; * { display: none }</style><!--",
    "<base href=http://example.org/><link rel=stylesheet href=http://example.org/d>",
    "&lt;img src=x onerror=alert(6)&gt; &#60;b&#62; &amp;",
    "$x^2$ $$\\href{javascript:alert(7)}{y}$$ \\(z\\) \\begin{align}w\\end{align}",
    "[click](javascript:alert(8)) ![](http://example.org/e) **bold** # `code`",
    "{{ 7 * 7 }}{% raw %}${alert(9)}<%= 1 %>",
    "a\x00\x1b[31m\u202eb\u2028c\ufeff",
)
SHAPES = """() => {
    const shape = element => [
        element.tagName,
        [...element.attributes].map(a => a.name == "class" ? `class=${a.value}` : a.name).sort(),
        [...element.children].map(shape),
    ];
    return [...document.querySelectorAll(".jp-mod-active .jp-OutputArea-output")]
        .map(element => JSON.stringify(shape(element)));
}"""


def shapes(desk, cell, count):
    """How the outputs of a cell are built, once all are there and nothing has changed for a second."""
    desk.stand_on(cell)
    seen = None
    for _ in range(60):
        desk.page.wait_for_timeout(1000)
        before, seen = seen, desk.page.evaluate(SHAPES)
        if len(seen) == count and before == seen:
            return seen
    raise AssertionError(f"{len(seen)} of {count} outputs of {cell}, or they go on changing")


def test_the_page_is_built_as_for_a_plain_word(desk):
    texts = ["plain", *HOSTILE]
    formula = "from IPython.display import Markdown\nMarkdown('$x^2$')"
    desk.open(
        desk.write(
            "hostile.ipynb",
            Path(__file__).with_name("hostile.py").read_text(),
            "texts = [\n" + "".join(f"    {text!r},\n" for text in texts) + "]",
            "show_widgets(texts)",
            "show_records(texts)",
            formula,
        )
    )
    assert desk.run_all() == []
    desk.stand_on("Markdown(")
    desk.page.locator(".jp-mod-active mjx-container").wait_for()  # what typesets has come

    widgets = shapes(desk, "show_widgets(texts)", len(texts))
    for text, shape in zip(texts, widgets, strict=True):
        assert shape == widgets[0], text
    assert len(widgets[0]) > 10_000
    desk.picture("hostile_widgets")
    assert desk.sideways() == []

    records = shapes(desk, "show_records(texts)", 3 * len(texts))
    for number, shape in enumerate(records):
        assert shape == records[number % 3], texts[number // 3]
    desk.picture("hostile_records")
    assert desk.sideways() == []
