"""Records show themselves in a cell: what they hold, in words and escaped."""

from dataclasses import replace
from html.parser import HTMLParser

import pytest

from workbench.report.display import DISPLAYS
from workbench.types import (
    Candidate,
    Column,
    Comparison,
    Context,
    DescriptionMatch,
    Example,
    Execution,
    ForeignKey,
    Question,
    Schema,
    Selection,
    Table,
    Trial,
    ValueMatch,
)

HOSTILE = (
    "<script>x</script>",
    '"><img onerror=x>',
    "</pre></td></table><h1>",
    "$x$ {0} %s \u202e",
)


def records(text="zoo"):
    """One record of each kind, whose every text is `text`."""
    rows = Execution("ok", (text,), ((1,), (None,), (text,)), 3, "first")
    failed = Execution("error", error=text)
    schema = Schema(
        text,
        (
            Table(text, (Column(text, text, text, text, examples=(text, 2)),), (text,)),
            Table(
                "cage",
                (Column("of", "INT"),),
                (),
                (ForeignKey(("of",), text, (text,)),),
            ),
        ),
        (text,),
    )
    before = Trial(Candidate(text, text, 0, text), failed, None)
    trials = (
        Trial(
            Candidate(text, text, 0, text), replace(rows, fingerprint="second"), None
        ),
        Trial(Candidate(text, text, 1, text), rows, before),
        Trial(Candidate(text, "direct", 0, text), rows, None),
        Trial(Candidate(text, "direct", 1, text), failed, None),
    )
    compared = (Comparison(0, 2, 2), Comparison(2, 0, None))
    context = Context(
        Question(text, text, text, text),
        schema,
        (ValueMatch(text, text, text, text, 0.8, 0.5),),
        (DescriptionMatch(text, text, text, 0.5),),
        (Example(text, text),),
    )
    pool = Selection(text, trials, 2, text, (1, 3, 3, 0), compared)
    return [rows, schema, trials[1], context, pool]


class Tags(HTMLParser):
    def __init__(self):
        super().__init__()
        self.seen = []

    def handle_starttag(self, tag, attrs):
        self.seen.append((tag, attrs))

    def handle_comment(self, data):
        self.seen.append(data)


def tags(page):
    parser = Tags()
    parser.feed(page)
    return parser.seen


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_leaves_the_tags_of_every_record_as_they_are(text):
    for plain, hostile in zip(records(), records(text), strict=True):
        show = DISPLAYS[type(plain)]
        assert tags(show(hostile)) == tags(show(plain))
        assert "\u202e" not in show(hostile)


def test_records_show_what_they_hold():
    rows, schema, trial, context, selection = (DISPLAYS[type(r)](r) for r in records())
    assert "<td>NULL</td>" in rows
    assert "<td>&#39;zoo&#39;</td>" in rows
    assert "PRIMARY KEY" in schema
    assert "REFERENCES zoo (zoo)" in schema
    assert "Not read: zoo" in schema
    assert (
        trial.index("As proposed") < trial.index("After fix 1") < trial.index("reply")
    )
    failed = DISPLAYS[Execution](Execution("error", error="no such table: zoo"))
    assert "no such table: zoo" in failed
    assert "zoo.zoo: &#39;zoo&#39;" in context
    assert "SQL: zoo" in context
    assert "Question zoo, chosen by zoo" in selection
    rows = selection.partition("<tbody>")[2].split("</tr>")
    cells = [row.removeprefix("<tr><td>").split("</td><td>") for row in rows if row]
    assert [row[:5] for row in cells[:4]] == [
        ["1", "", "1", "zoo", "1"],
        ["2", "★", "1", "direct", "0"],
        ["0", "", "2", "zoo", "0"],
        ["3", "", "none", "direct", "1"],
    ]


def test_a_wide_or_long_result_says_what_is_left_out():
    wide = Execution(
        "ok", tuple("abcdefghijklmnop"), ((0,) * 16,) * 50, 50, "x", truncated=True
    )
    page = DISPLAYS[Execution](wide)
    assert (
        "rows: 50, 20 shown; 8 more columns are not shown; cut short at the limit"
        in page
    )
    assert page.count("<tr>") == 21
