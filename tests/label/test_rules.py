"""Each cause is guessed from what speaks for it, in words."""

import pytest

from workbench.benchmarks.load import Flaw, open_benchmark
from workbench.label.labels import known_flaws
from workbench.label.rules import difference, suggest, suggested
from workbench.label.taxonomy import open_taxonomy
from workbench.sql.aligned import aligned

JOINED = "FROM inspection AS T1 JOIN vessel AS T2 ON T1.imo = T2.imo"
FIRST = [  # the cause, gold, the prediction, the hint, and what the reason says
    ("hint ignored", "SELECT imo FROM vessel WHERE vtype = 'GC'", "SELECT imo FROM vessel WHERE vname = 'x'", "cargo refers to vtype = 'GC'", "the hint says 'GC'"),
    ("hint ignored", "SELECT SUM(n_def) FROM inspection", "SELECT SUM(imo) FROM inspection", "deficiencies refers to n_def", "the hint says 'n_def', which gold alone uses"),
    ("missing table or join", f"SELECT T2.vname {JOINED}", "SELECT vname FROM vessel", "", "gold reads inspection"),
    ("missing table or join", f"SELECT T2.vname {JOINED}", f"SELECT T2.vname {JOINED.replace('T1.imo =', 'T1.n_def =')}", "", "gold joins by inspection.imo = vessel.imo"),
    ("other column", "SELECT imo FROM vessel", "SELECT vname FROM vessel", "", "gold returns vessel.imo, the prediction vessel.vname"),
    ("other literal", "SELECT imo FROM vessel WHERE vtype = 'GC'", "SELECT imo FROM vessel WHERE vtype = 'FV'", "", "gold requires vessel.vtype = 'GC', the prediction vessel.vtype = 'FV'"),
    ("other literal", "SELECT imo FROM vessel WHERE vtype LIKE 'G%'", "SELECT imo FROM vessel", "", "gold requires vessel.vtype LIKE 'G%', the prediction nothing"),
    ("aggregation", "SELECT imo FROM vessel GROUP BY imo", "SELECT imo FROM vessel", "", "gold uses GROUP, the prediction nothing"),
    ("function", "SELECT imo FROM vessel ORDER BY LENGTH(vname)", "SELECT imo FROM vessel ORDER BY vname", "", "gold uses LENGTH, the prediction nothing"),
    ("DISTINCT or NULL handling", "SELECT DISTINCT vname FROM vessel", "SELECT vname FROM vessel", "", "gold has DISTINCT, the prediction nothing"),
    ("order and limit", "SELECT imo FROM vessel ORDER BY imo DESC", "SELECT imo FROM vessel ORDER BY imo", "", "gold orders by vessel.imo DESC, the prediction by vessel.imo"),
]  # fmt: skip


@pytest.mark.parametrize(("cause", "gold", "predicted", "hint", "reason"), FIRST)
def test_a_cause_comes_first_where_only_it_fits(make_case, cause, gold, predicted, hint, reason):
    first, why = next(suggest(make_case(predicted, gold, hint=hint)))
    assert first == cause
    assert reason in why


def test_results_speak_for_a_cause(make_case, failed):
    broken = make_case(gold_execution=failed("no such column: x"))
    assert dict(suggest(broken))["wrong gold"] == "gold does not run: no such column: x"
    unknown = make_case("SELECT tonnes FROM vessel", execution=failed("no such column: tonnes"))
    assert next(suggest(unknown))[0] == "other column"
    assert [*suggest(make_case("no query", "neither"))] == []


def test_the_difference_is_said_in_words(make_case, failed):
    assert difference(make_case(gold_rows=((12,),), rows=((3,),))).startswith("3 in place of 12: ")
    assert difference(make_case()).startswith("1 row in place of 2: gold returns vessel.imo, ")
    assert difference(make_case(execution=failed("boom"))).startswith("The prediction does not run, boom")  # fmt: skip
    assert difference(make_case("", "no", gold_rows=((1,),), rows=((2,),))) == "2 in place of 1."


def test_a_suggestion_is_the_label_that_the_taxonomy_has_for_it_and_a_known_flaw_counts_first(make_case):  # fmt: skip
    names = [suggested(make_case(), open_taxonomy(n))[0] for n in ("CHASE-SQL", "CHESS", "MAC-SQL")]
    assert names == ["Schema Linking", "Incorrectly Predicted SQL / Column", "Schema Linking Error"]
    chess = open_taxonomy("CHESS")
    wrong = suggested(make_case(), chess, Flaw("7", "wrong gold", "ordered as text"))
    assert wrong == ("Incorrect Golden SQL", "wrong gold: ordered as text")
    vague = Flaw("7", "vague question", "which name?")
    assert suggested(make_case(), chess, vague)[0] == "Vague Question"
    assert suggested(make_case(), open_taxonomy("CHASE-SQL"), vague)[0] == "Schema Linking"
    assert len(known_flaws(open_benchmark("bundled-dev"))) == 8


SAME = [
    (f"SELECT T2.vname {JOINED}", "SELECT v.vname FROM vessel v INNER JOIN inspection i ON v.imo = i.imo"),
    ("SELECT imo FROM vessel WHERE imo IN (SELECT imo FROM inspection)", "SELECT a.imo FROM vessel a WHERE a.imo IN (SELECT b.imo FROM inspection b)"),
    ("WITH x AS (SELECT imo FROM vessel) SELECT imo FROM x UNION SELECT 3", "WITH x AS (SELECT v.imo FROM vessel v) SELECT imo FROM x UNION SELECT 3"),
]  # fmt: skip


@pytest.mark.parametrize(("one", "other"), SAME)
def test_queries_that_say_the_same_stand_in_equal_rows(make_case, one, other):
    rows = aligned(one, other, make_case().schema)
    assert [same for *_, same in rows] == [True] * len(rows)
    assert rows


def test_what_only_one_query_has_stands_alone_in_its_clause(make_case):
    rows = aligned(
        "SELECT vname, imo FROM vessel GROUP BY imo HAVING COUNT(imo) > 4",
        "SELECT vname FROM vessel WHERE imo > 1 GROUP BY imo HAVING COUNT(*) > 4 ORDER BY imo",
        make_case().schema,
    )
    assert [(a and a.text, b and b.text, same) for a, b, same in rows] == [
        ("SELECT vname,", "SELECT vname", True),
        ("imo", None, False),
        ("FROM vessel", "FROM vessel", True),
        (None, "WHERE imo > 1", False),
        ("GROUP BY imo", "GROUP BY imo", True),
        ("HAVING COUNT(imo) > 4", "HAVING COUNT(*) > 4", False),
        (None, "ORDER BY imo", False),
    ]
