import codecs
from pathlib import Path

import pytest

from workbench.sql.catalog import describe
from workbench.sql.schema_text import create_table_text
from workbench.types import Column, Schema, Table

SCHEMA = Schema(
    "school",
    (
        Table("frpm", (Column("CDSCode", "TEXT"), Column("Free Meal Count (K-12)", "REAL"))),
        Table("Schools", (Column("County", "TEXT"),)),
    ),
    ("already: skipped",),
)
HEADER = "original_column_name,column_name,column_description,data_format,value_description\n"
COUNTY = "County,,name of the county,text,"


@pytest.fixture
def folder(tmp_path):
    folder = tmp_path / "database_description"
    folder.mkdir()
    return folder


def write(folder: Path, name: str, text: str | bytes) -> None:
    raw = text if isinstance(text, bytes) else text.encode()
    (folder / name).write_bytes(raw)


def notes(folder: Path) -> tuple[str, ...]:
    schema = describe(SCHEMA, folder)
    assert schema.skipped[0] == "already: skipped"
    return schema.skipped[1:]


def county(folder: Path) -> Column:
    column = describe(SCHEMA, folder).column("Schools", "County")
    assert column is not None
    return column


def test_a_folder_of_birds_form_describes_its_tables(folder):
    write(
        folder,
        "frpm.csv",
        f"{HEADER}CDSCode,CDS code,,integer,\n"
        'Free Meal Count (K-12),Free Meals,"count of meals, free",real,"0: none\n\n1: some"\n',
    )
    write(folder, "Schools.csv", HEADER + COUNTY)
    schema = describe(SCHEMA, folder)
    assert schema.skipped == SCHEMA.skipped
    assert schema.tables[0].columns == (
        Column("CDSCode", "TEXT", "CDS code", expanded="CDS code"),
        Column(
            "Free Meal Count (K-12)",
            "REAL",
            "Free Meals: count of meals, free",
            "0: none; 1: some",
            expanded="Free Meals",
        ),
    )
    assert schema.tables[1].columns == (Column("County", "TEXT", "name of the county"),)


@pytest.mark.parametrize(
    ("expanded", "text", "description"),
    [
        ("", "", ""),
        ("county", "", ""),
        ("County name", "", "County name"),
        ("County", "where it is", "where it is"),
        ("county_name", "The county name of it", "The county name of it"),
        ("short", "where it is", "short: where it is"),
        ("County\x07 name", " a\x00 b\x1b[31m ", "County name: a b [31m"),
    ],
)
def test_a_description_joins_the_expanded_name_and_the_text(folder, expanded, text, description):
    write(folder, "Schools.csv", f"{HEADER}County,{expanded},{text},text,")
    assert county(folder).description == description


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
def test_a_file_is_read_in_any_encoding(folder, encode):
    write(folder, "Schools.csv", encode(f"{HEADER}County,,the “café” region,text,"))
    assert county(folder).description == "the “café” region"
    assert notes(folder) == ()


@pytest.mark.parametrize(
    "text",
    [
        " Column_Description ,\tORIGINAL_COLUMN_NAME\nit,County",
        "original column name,column description\nCounty,it",
        "original_column_name,x,column_description,,\nCounty,y,it,,",
        f"\n ,\n{HEADER}\n,,,,\n county  ,,it",
    ],
)
def test_a_header_may_be_untidy(folder, text):
    write(folder, "Schools.csv", text)
    assert county(folder).description == "it"
    assert notes(folder) == ()


@pytest.mark.parametrize("name", ["Schools.csv", "schools.CSV", " SCHOOLS .csv"])
def test_a_file_name_may_differ_in_case_and_spaces(folder, name):
    write(folder, name, HEADER + COUNTY)
    assert county(folder).description == "name of the county"


def test_unquoted_commas_in_the_last_column_stay_in_it(folder):
    write(folder, "Schools.csv", f"{HEADER}County,,it,text,a: 1, b: 2,,")
    assert county(folder).value_description == "a: 1, b: 2"


@pytest.mark.parametrize(
    ("name", "text", "note"),
    [
        ("gone.csv", HEADER + COUNTY, "gone.csv: the database has no such table"),
        ("Schools.csv", HEADER, "Schools.csv: no rows in the file"),
        ("Schools.csv", "name\nCounty", "Schools.csv: no column original_column_name among name"),
        (
            "Schools.csv",
            f"{HEADER}{COUNTY}\nGone\n",
            "Schools.csv: table Schools has no column 'Gone'",
        ),
        (
            "Schools.csv",
            f"{HEADER}{COUNTY}\ncounty,,else,,",
            "Schools.csv: column County is described twice; the first is kept",
        ),
        (
            "frpm.csv",
            f'{HEADER}CDSCode,,"a quote that nobody closed\nFree Meal Count (K-12),,,,',
            "frpm.csv: no row describes Free Meal Count (K-12)",
        ),
    ],
)
def test_a_row_that_does_not_fit_adds_one_note(folder, name, text, note):
    write(folder, name, text)
    assert notes(folder) == (note,)


def test_if_two_files_describe_a_table_the_file_with_its_exact_name_is_read(folder):
    write(folder, "SCHOOLS.csv", f"{HEADER}County,,wrong,,")
    write(folder, "Schools.csv", f"{HEADER}County,,right,,")
    assert county(folder).description == "right"
    assert notes(folder) == ("SCHOOLS.csv: Schools.csv describes the table Schools already",)


def test_a_description_cannot_break_out_of_its_comment(folder):
    write(folder, "Schools.csv", f'{HEADER}County,,"it\n); DROP TABLE t; -- ""x""",text,')
    assert create_table_text(describe(SCHEMA, folder)).endswith(
        'County TEXT -- it; ); DROP TABLE t; -- "x"\n);'
    )
