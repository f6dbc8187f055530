"""A case is shown with the same structure, whatever texts it holds."""

from dataclasses import replace
from html.parser import HTMLParser

import pytest

from workbench.html.tree import html
from workbench.label.widget.view import case_node
from workbench.types import Column, Execution, Question, Schema, Table, ValueMatch

HOSTILE = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "' onmouseover='alert(1)",
    "</td></tr></table><h1>out</h1>",
    "</style><style>*{display:none}",
    "<!-- ",
    "]]>",
    "&lt;b&gt; &amp; &#x3c;",
    "$\\href{javascript:alert(1)}{x}$ and \\(x\\)",
    "[x](javascript:alert(1)) **bold** `code`",
    "{{ 7 * 7 }} {% raw %} ${7*7}",
    "=HYPERLINK(1)",
    "\x00\x1b[31m\u202egnp.exe",
    "<svg/onload=alert(1)>",
    "<iframe srcdoc='<script>1</script>'>",
]


def case_page(case, **options):
    """The text of the page that the widget draws for a case."""
    return html(case_node(case, **options))


class Structure(HTMLParser):
    """Tags, and the names of their attributes, in order."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.found = []
        self.texts = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, [name for name, _ in attrs]))

    def handle_endtag(self, tag):
        self.found.append(tag)

    def handle_comment(self, _):
        self.found.append("comment")

    def handle_data(self, data):
        self.texts.append(data)


def filled(make_case, text):
    """A case in which everything that comes from elsewhere is this text."""
    schema = Schema("harbour", (Table(text, (Column(text, text, text, text, (text,)),)),))
    result = Execution("ok", (text, text), ((text, text), (None, 1)), 2, "f")
    return replace(
        make_case(text, text, text=text, hint=text),
        question=Question(text, text, text, text),
        difficulty=text,
        generator=text,
        gold_execution=result,
        execution=Execution("error", error=text),
        database=schema,
        schema=schema,
        values=(ValueMatch(text, text, text, text, 0.5, 0.5),),
    )


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_leaves_the_page_as_a_plain_word_does(make_case, text):
    plain = Structure(case_page(filled(make_case, "plain")))
    shown = Structure(case_page(filled(make_case, text)))
    assert shown.found == plain.found


def test_hostile_text_in_queries_that_can_be_read_stays_text(make_case):
    def shown(text):
        quoted = text.replace("'", "''")
        name = text.replace('"', '""')
        return Structure(
            case_page(
                make_case(
                    f"SELECT vname AS \"{name}\" FROM vessel WHERE vname = '{quoted}'",
                    f"SELECT imo FROM vessel WHERE vname <> '{quoted}' ORDER BY 1",
                ),
            )
        ).found

    for text in HOSTILE:
        if "\x00" not in text:
            assert shown(text) == shown("plain")


def test_text_comes_out_as_it_went_in(make_case):
    text = HOSTILE[0]
    assert text in Structure(case_page(filled(make_case, text))).texts


def test_a_case_shows_question_hint_queries_results_values_and_schema(make_case):
    shown = case_page(make_case(hint="see 7", agreeing=2, candidates=3))
    for text in (
        "Which vessels?",
        "see 7",
        "SELECT vname FROM vessel",
        "SELECT imo FROM vessel",
        "2 of 3 candidates give this result",
        "vessel.vname = Ulva Sun",
        "Schema in use: 2 tables, 6 of 6 columns",
        "used by prediction",
    ):
        assert text in shown


def test_columns_that_gold_uses_and_the_generator_did_not_see_are_named(make_case, harbour):
    pruned = harbour.only([("vessel", "vname")])
    shown = case_page(make_case(gold="SELECT vtype FROM vessel", schema=pruned))
    assert "Gold uses columns that are not in the schema in use: vessel.vtype." in shown
