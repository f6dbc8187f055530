"""Whatever stands in questions, databases, replies and labels, the page is built as for the word "plain"."""

from pathlib import Path

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


def same_shape(desk, cell, texts, each=1):
    """Every text's outputs of a cell, `each` of them, are built as those of the first text."""
    desk.stand_on(cell)
    before, seen, odd = None, [], texts
    for _ in range(300):
        desk.page.wait_for_timeout(1000)
        before, seen = seen, desk.page.evaluate("desk.shapes()")
        odd = [texts[n // each] for n, shape in enumerate(seen) if shape != seen[n % each]]
        if len(seen) == each * len(texts) and before == seen and not odd:
            break
    assert (len(seen), odd) == (each * len(texts), [])


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

    same_shape(desk, "show_widgets(texts)", texts)
    desk.picture("hostile_widgets")
    assert desk.sideways() == []
    same_shape(desk, "show_records(texts)", texts, each=3)
    desk.picture("hostile_records")
