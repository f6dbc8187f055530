"""How the result of a prediction differs from that of gold, decided over all rows of both."""

from itertools import islice, product
from typing import NamedTuple

from workbench.types import Execution, Value
from workbench.widgets import differing, many, picked

FAILS = "the prediction does not run"
_MOST_PLACES = 100  # ways to match columns of equal values that are tried


class Results(NamedTuple):
    """A sentence about two results, what only one of them has, and whether they say the same."""

    sentence: str
    # Columns and first rows of gold alone, and of the prediction alone.
    only: list[dict[str, list[bool]]]
    same: bool  # whether both say the same, in another form


def compare_results(gold: Execution, ran: Execution) -> Results:
    sentence = _sentence(gold, ran)
    return Results(sentence, differing(gold, ran), says_the_same(gold, ran))


def _sentence(gold: Execution, ran: Execution) -> str:
    if not ran.is_complete:
        return f"{FAILS}, {ran.error or ran.status}"
    if not gold.is_complete:
        return ""
    width, gold_width = len(ran.columns), len(gold.columns)
    one_cell = (1, 1)
    if (width, ran.row_count) == (gold_width, gold.row_count) == one_cell:
        return f"{_cell(ran.rows[0][0])} in place of {_cell(gold.rows[0][0])}"
    sizes = []
    if width != gold_width:
        sizes.append(f"{many(width, 'column')} in place of {gold_width:,}")
    if ran.row_count != gold.row_count:
        sizes.append(f"{many(ran.row_count, 'row')} in place of {gold.row_count:,}")
    if sizes:
        return "; ".join(sizes)
    gold_rows = set(gold.rows)
    shared = gold_rows & set(ran.rows)
    return f"{len(shared)} of {len(gold_rows)} rows are shared"


def _cell(cell: Value) -> str:
    return "NULL" if cell is None else str(cell)[:60]


def says_the_same(gold: Execution, ran: Execution) -> bool:
    """Whether two results are the same but for the order or number of columns, and duplicates.

    Columns with the same set of values can be matched in several ways, of which some are tried.
    """
    if not gold.rows or not ran.rows:
        return False
    narrow, wide = sorted((gold, ran), key=lambda execution: len(execution.columns))
    columns = [set(column) for column in zip(*wide.rows, strict=True)]
    options = []
    for column in zip(*narrow.rows, strict=True):
        values = set(column)
        options.append([at for at, others in enumerate(columns) if others == values])
    rows = set(narrow.rows)
    for places in islice(product(*options), _MOST_PLACES):
        are_distinct = len(set(places)) == len(places)
        if are_distinct and {picked(row, places) for row in wide.rows} == rows:
            return True
    return False
