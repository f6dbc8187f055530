"""Each cause is guessed from what speaks for it; equal parts of two queries stand side by side."""

import pytest

from tests.label.conftest import case, result
from workbench.benchmarks.benchmark import Flaw, open_benchmark
from workbench.label.cases import difference, open_taxonomy, suggest, suggested
from workbench.label.labels import known_flaws
from workbench.label.results import compare_results
from workbench.sql.facts import aligned
from workbench.types import Execution

JOINED = "FROM inspection AS T1 JOIN vessel AS T2 ON T1.imo = T2.imo"
FIRST = [  # the cause, gold, the prediction, and the hint
    ("hint ignored", "SELECT imo FROM vessel WHERE vtype = 'GC'", "SELECT imo FROM vessel WHERE vname = 'x'", "cargo refers to vtype = 'GC'"),
    ("hint ignored", "SELECT SUM(n_def) FROM inspection", "SELECT SUM(imo) FROM inspection", "deficiencies refers to n_def"),
    ("missing table or join", f"SELECT T2.vname {JOINED}", "SELECT vname FROM vessel", ""),
    ("missing table or join", f"SELECT T2.vname {JOINED}", f"SELECT T2.vname {JOINED.replace('T1.imo =', 'T1.n_def =')}", ""),
    ("other column", "SELECT imo FROM vessel", "SELECT vname FROM vessel", ""),
    ("other literal", "SELECT imo FROM vessel WHERE vtype = 'GC'", "SELECT imo FROM vessel WHERE vtype = 'FV'", ""),
    ("other literal", "SELECT imo FROM vessel WHERE vtype LIKE 'G%'", "SELECT imo FROM vessel", ""),
    ("aggregation", "SELECT imo FROM vessel GROUP BY imo", "SELECT imo FROM vessel", ""),
    ("function", "SELECT imo FROM vessel ORDER BY LENGTH(vname)", "SELECT imo FROM vessel ORDER BY vname", ""),
    ("DISTINCT or NULL handling", "SELECT DISTINCT vname FROM vessel", "SELECT vname FROM vessel", ""),
    ("order and limit", "SELECT imo FROM vessel ORDER BY imo DESC", "SELECT imo FROM vessel ORDER BY imo", ""),
]  # fmt: skip


@pytest.mark.parametrize(("cause", "gold", "predicted", "hint"), FIRST)
def test_a_cause_comes_first_where_only_it_fits(cause, gold, predicted, hint):
    assert next(suggest(case(predicted, gold, hint=hint)))[0] == cause


def test_results_speak_for_a_cause_and_differ_in_words():
    broken = case(gold_ran=result(error="no such column: x"))
    assert "no such column: x" in dict(suggest(broken))["wrong gold"]
    unknown = case(
        "SELECT tonnes FROM vessel", ran=result(error="no such column: tonnes")
    )
    assert next(suggest(unknown))[0] == "other column"
    assert [*suggest(case("no query", "neither"))] == []
    unread = case("no query", "SELECT CAST(imo AS REAL) FROM vessel")
    assert dict(suggest(unread)) == {
        "function": "functions: gold has CAST, the prediction nothing"
    }
    assert difference(case(gold_ran=result((12,)), ran=result((3,)))).startswith(
        "3 in place of 12; "
    )
    assert difference(case()).startswith(
        "1 row in place of 2; SELECT: gold has vessel.imo, "
    )


def test_a_suggestion_is_a_label_of_the_taxonomy_and_a_known_flaw_counts_first():
    names = [
        suggested(case(), open_taxonomy(n))[0]
        for n in ("CHASE-SQL", "CHESS", "MAC-SQL")
    ]
    assert names == [
        "Schema Linking",
        "Incorrectly Predicted SQL / Column",
        "Schema Linking Error",
    ]
    vague = Flaw("7", "vague question", "which name?")
    assert suggested(case(), open_taxonomy("CHESS"), vague)[0] == "Vague Question"
    assert suggested(case(), open_taxonomy("CHASE-SQL"), vague)[0] == "Schema Linking"
    assert len(known_flaws(open_benchmark("bundled-dev"))) == 8


ALIGNED = [  # two queries, and the parts that only one of them has
    (f"SELECT T2.vname {JOINED}", "SELECT v.vname FROM vessel v INNER JOIN inspection i ON v.imo = i.imo", []),
    ("SELECT imo FROM vessel WHERE imo IN (SELECT imo FROM inspection)", "SELECT a.imo FROM vessel a WHERE a.imo IN (SELECT b.imo FROM inspection b)", []),
    ("WITH x AS (SELECT imo FROM vessel) SELECT imo FROM x UNION SELECT 3", "WITH x AS (SELECT v.imo FROM vessel v) SELECT imo FROM x UNION SELECT 3", []),
    ("SELECT vname, imo FROM vessel GROUP BY imo HAVING COUNT(imo) > 4", "SELECT vname FROM vessel WHERE imo > 1 GROUP BY imo HAVING COUNT(*) > 4",
     [("imo", None), (None, "WHERE imo > 1"), ("HAVING COUNT(imo) > 4", "HAVING COUNT(*) > 4")]),
]  # fmt: skip


@pytest.mark.parametrize(("one", "other", "apart"), ALIGNED)
def test_equal_parts_of_two_queries_stand_in_equal_rows(one, other, apart):
    rows = aligned(one, other, case().schema)
    assert [(a and a.text, b and b.text) for a, b, same in rows if not same] == apart
    assert any(same for *_, same in rows)


def ran(*rows):
    return Execution("ok", tuple("abc"[: len(rows[0])]), rows, len(rows), f"{rows}")


GOLD_ROWS = [(1, "x", 2.125), (2, "y", 0.6666)]
SAME = [  # results that say the same, in which order, number or duplicates differ
    [("x", 1, 2.125), ("y", 2, 0.6666)],
    [(1, "x"), (2, "y")],
    [*GOLD_ROWS, GOLD_ROWS[0]],
]
OTHER = [
    [(1, "x", 2.125)],
    [(1, "x", 2.125), (2, "y", 0.76)],
    [(1, "y", 2.125), (2, "x", 0.6666)],
    [(2.125,), (0.5,)],
    [(1, "x", 2.13), (2, "y", 0.67)],  # rounding is another answer
]


@pytest.mark.parametrize("rows", SAME)
def test_the_same_answer_in_another_form_is_semantically_correct(rows):
    wrong = case(gold_ran=ran(*GOLD_ROWS), ran=ran(*rows))
    name, why = suggested(wrong, open_taxonomy("MAC-SQL"))
    assert name == "Semantic Correct"
    assert why == "other form: both results are the same in another form"
    assert suggested(wrong, open_taxonomy("CHESS"))[0] != name


@pytest.mark.parametrize("rows", OTHER)
def test_another_answer_is_not_semantically_correct(rows):
    wrong = case(gold_ran=ran(*GOLD_ROWS), ran=ran(*rows))
    assert suggested(wrong, open_taxonomy("MAC-SQL"))[0] != "Semantic Correct"


def test_all_rows_are_compared_however_few_are_sent():
    rows = [(n,) for n in range(2_000)]
    results = compare_results(ran(*rows), ran(*reversed(rows[1:])))
    assert results.only[1]["rows"] == [False] * 30
    assert results.sentence == "1,999 rows in place of 2,000"


def test_a_reason_is_said_once():
    text = difference(case("SELECT vname FROM vessel", "SELECT imo FROM vessel"))
    assert text.count("vessel.imo") == 1
