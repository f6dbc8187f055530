"""The papers' numbers: all there, well formed, and adding up where the papers say that they do."""

import json
from pathlib import Path

import pytest

from workbench.errors import BadInputError
from workbench.label.cases import open_taxonomy
from workbench.report.published import all_published, published, read_paper

ALL = all_published()
# As checked against the PDFs.
SNAPSHOT = Path(__file__).with_name("published_numbers.jsonl")


def test_the_numbers_are_those_that_were_checked_against_the_papers():
    checked = [json.loads(line) for line in SNAPSHOT.read_text().splitlines()]
    for published_, expected in zip(ALL, checked, strict=True):
        columns, rows = expected.pop("columns"), expected.pop("rows")
        frame = published_.frame()
        assert list(frame.columns) == ["label", "printed", *columns]
        ours = [
            [published_.ours.get(name, name), *cells]
            for name, *cells in published_.rows
        ]
        assert json.dumps(ours) == json.dumps(rows)  # 35 is a count, 35.0 a measure
        assert {name: getattr(published_, name) for name in expected} == expected


@pytest.mark.parametrize(
    ("paper", "source", "change"),
    [
        ("CHASE-SQL", "table 1", "gain"),
        ("CHASE-SQL", "table 7", "change"),
        ("CHASE-SQL", "table 8", "gain"),
        ("CHESS", "table 4", "change"),
    ],
)
def test_printed_changes_are_differences_to_the_first_row(paper, source, change):
    frame = published(paper, source).frame()
    differences = (frame["EX"] - frame["EX"][0])[1:]
    # Table 1 of CHASE-SQL is one off.
    assert (differences - frame[change][1:]).abs().max() < 0.011


@pytest.mark.parametrize(
    ("paper", "source", "taxonomy"),
    [
        ("CHASE-SQL", "figure 8", "CHASE-SQL selection"),
        ("CHASE-SQL", "figure 13", "CHASE-SQL"),
        ("MAC-SQL", "figure 6", "MAC-SQL"),
    ],
)
def test_causes_of_errors_are_called_as_their_categories_are(paper, source, taxonomy):
    categories = {one.name.casefold() for one in open_taxonomy(taxonomy).categories}
    assert {
        label.casefold() for label in published(paper, source).frame()["label"]
    } <= categories


@pytest.mark.parametrize(
    ("paper", "source"), [("DIN-SQL", "table 1"), ("MAC-SQL", "table 9")]
)
def test_an_unknown_paper_or_table_is_an_error_that_lists_the_known_ones(paper, source):
    with pytest.raises(BadInputError, match=r"CHESS.*MAC-SQL|table 3.*figure 6"):
        published(paper, source)


TABLE = """
paper: ours
tables:
  - {source: table 1, title: t, benchmark: b, metric: EX, n: 3, model: m, columns: [EX], rows: [[a, 1.5]]}
"""


@pytest.mark.parametrize(
    ("written", "instead", "named"),
    [
        ("[[a, 1.5]]", "[[a, 1.5, 2]]", "row 'a'"),
        ("[[a, 1.5]]", "[[a, 1], [a, 2]]", "two rows"),
        ("[[a, 1.5]]", "[[a, 1]], ours: {b: c}", "'b'"),
        ("n: 3", "n: many", "n .*many"),
        ("model: m", "modle: m", "model .*modle"),
        ("- {source", "- 3\n  - {source", "mapping"),
        ("tables:", "table:", "tables"),
    ],
)
def test_a_mistake_in_a_file_is_one_line_that_names_it(
    tmp_path, written, instead, named
):
    path = tmp_path / "ours.yaml"
    path.write_text(TABLE)
    (table,) = read_paper(path)
    assert table.frame().to_dict("records") == [
        {"label": "a", "printed": "a", "EX": 1.5}
    ]
    path.write_text(TABLE.replace(written, instead))
    with pytest.raises(BadInputError, match=named) as caught:
        read_paper(path)
    assert "\n" not in str(caught.value)
