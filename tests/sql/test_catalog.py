"""BIRD's catalogs, dirty as they are, are read into the schema, and what does not fit is said and never guessed."""

import codecs
import csv
from pathlib import Path

import pytest

from workbench.sql.schema import describe
from workbench.sql.texts import create_table_text
from workbench.types import Column, Schema, Table

MEALS = "Free Meal Count (K-12)"
SCHEMA = Schema(
    "school",
    (
        Table("frpm", (Column("CDSCode", "TEXT"), Column(MEALS, "REAL"))),
        Table("Schools", (Column("County", "TEXT"),)),
    ),
    ("already: skipped",),
)
HEADER = "original_column_name,column_name,column_description,data_format,value_description\n"
COUNTY = f"{HEADER}County,,name of the county,text,"


def described(
    folder: Path, text: str | bytes, name: str = "Schools.csv"
) -> tuple[Column, list[str]]:
    """The column County, and the lines about what does not fit."""
    (folder / name).write_bytes(text if isinstance(text, bytes) else text.encode())
    schema = describe(SCHEMA, folder)
    assert schema.skipped[0] == "already: skipped"
    return schema.tables[1].columns[0], list(schema.skipped[1:])


def test_a_folder_of_birds_form_describes_its_tables(tmp_path):
    rows = 'CDSCode,CDS code,,integer,\n"Free Meal Count (K-12)",Free Meals,"count of meals, free",'
    (tmp_path / "frpm.csv").write_text(f'{HEADER}{rows}real,"0: none\n\n1: some"\n')
    assert described(tmp_path, COUNTY) == (
        Column("County", "TEXT", "name of the county"),
        [],
    )
    text = "Free Meals: count of meals, free"
    assert describe(SCHEMA, tmp_path).tables[0].columns == (
        Column("CDSCode", "TEXT", "CDS code", expanded="CDS code"),
        Column(MEALS, "REAL", text, "0: none; 1: some", expanded="Free Meals"),
    )


@pytest.mark.parametrize(
    ("expanded", "text", "description"),
    [
        ("county", "", ""),
        ("County name", "", "County name"),
        ("county_name", "The county name of it", "The county name of it"),
        ("short", "where it is", "short: where it is"),
        ("County\x07 name", " a\x00 b\x1b[31m ", "County name: a b [31m"),
    ],
)
def test_a_description_joins_the_expanded_name_and_the_text(
    tmp_path, expanded, text, description
):
    column, _ = described(tmp_path, f"{HEADER}County,{expanded},{text},text,")
    assert column.description == description


@pytest.mark.parametrize(
    "encode",
    [
        lambda text: text.encode("utf-8-sig"),
        lambda text: text.encode("cp1252"),
        lambda text: text.encode("utf-16"),
        lambda text: codecs.BOM_UTF16_BE + text.encode("utf-16-be"),
        lambda text: text.replace("\n", "\r\n").encode(),
        lambda text: text.replace("\n", "\r").encode(),
        lambda text: text.replace("o", "o\0").encode(),
    ],
)
def test_a_file_is_read_in_any_encoding(tmp_path, encode):
    column, notes = described(
        tmp_path, encode(f"{HEADER}County,,the “café” region,text,")
    )
    assert (column.description, notes) == ("the “café” region", [])


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("Schools.csv", " Column_Description ,\tORIGINAL_COLUMN_NAME\nit,County"),
        ("schools.CSV", "original column name,column description\nCounty,it"),
        ("Schools.csv", "original_column_name,x,column_description,,\nCounty,y,it,,"),
        (" SCHOOLS .csv", f"\n ,\n{HEADER}\n,,,,\n county  ,,it"),
    ],
)
def test_names_and_header_may_be_untidy(tmp_path, name, text):
    column, notes = described(tmp_path, text, name)
    assert (column.description, notes) == ("it", [])


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("gone.csv", COUNTY),
        ("Schools.csv", HEADER),
        ("Schools.csv", "name\nCounty"),
        ("frpm.csv", ""),
    ],
)
def test_a_file_that_describes_no_column_adds_one_line(tmp_path, name, text):
    column, notes = described(tmp_path, text, name)
    assert (column.description, len(notes)) == ("", 1)
    assert notes[0].startswith(f"{name}: ")


def test_a_long_cell_leaves_the_rows_after_it_and_pythons_limit(tmp_path):
    limit = csv.field_size_limit()
    text = f'{HEADER}Gone,,"{"x" * 200_000}",text,\nCounty,,name of the county,text,'
    assert described(tmp_path, text)[0].description == "name of the county"
    assert csv.field_size_limit() == limit


@pytest.mark.parametrize("other", ["schools.csv", "SCHOOLS.csv"])
def test_of_two_files_the_one_that_is_spelt_as_the_table_counts(tmp_path, other):
    (tmp_path / other).write_text(COUNTY.replace("name of", "another name of"))
    if (tmp_path / "Schools.csv").exists():
        pytest.skip("the file system does not tell the two names apart")
    assert described(tmp_path, COUNTY)[0].description == "name of the county"


def test_a_cell_without_an_end_leaves_the_rows_before_it(tmp_path):
    text = f'{COUNTY}\nCounty,"{"x" * 200_000}'
    assert described(tmp_path, text)[0].description == "name of the county"


def test_a_row_that_does_not_fit_leaves_the_others(tmp_path):
    assert (
        described(tmp_path, f"{COUNTY}\nGone\n")[0].description == "name of the county"
    )


def test_a_description_cannot_break_out_of_its_comment(tmp_path):
    described(tmp_path, f'{HEADER}County,,"it\n); DROP TABLE t; -- ""x""",text,')
    end = 'County TEXT -- it; ); DROP TABLE t; -- "x"\n);'
    assert create_table_text(describe(SCHEMA, tmp_path)).endswith(end)
