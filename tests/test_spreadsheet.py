"""What a spreadsheet would run as a formula is told apart from what it shows, and nothing is lost."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.canonical import plain

SIGNS = [
    *"=+-@",
    *(unicodedata.lookup(f"FULLWIDTH {name}") for name in ("EQUALS SIGN", "PLUS SIGN")),
]
BLANKS = [
    "",
    " ",
    "   ",
    "\t",
    "\r",
    "\n",
    "\r\n ",
    "\u00a0",
    "\u3000",
    "\u200b",
    "\ufeff",
    "\x00",
    "\x1f",
]


@pytest.mark.parametrize("sign", [*SIGNS, unicodedata.lookup("SMALL EQUALS SIGN")])
@pytest.mark.parametrize("blanks", BLANKS)
def test_a_formula_has_an_apostrophe_before_it_whatever_blanks_it_begins_with(sign, blanks):
    assert plain(f"{blanks}{sign}1+1") == f"'{blanks}{sign}1+1"


@pytest.mark.parametrize(
    "cell", ["", " ", "SELECT -1", "a=b", "w/o Refiner", "(+1)", "1 - 2", '"=']
)
def test_text_that_holds_no_key_is_not_masked(cell):
    assert plain(cell) == cell


@given(st.text())
def test_without_one_leading_apostrophe_the_text_is_what_it_was(cell):
    assert plain(cell).removeprefix("'") == cell


def test_half_a_character_is_written_as_an_escape():
    assert plain("a\ud800b").encode() == b"a\\ud800b"


def test_numbers_stay_numbers():
    assert [plain(cell) for cell in (-1, " =1", None, 2.5)] == [-1, "' =1", None, 2.5]
