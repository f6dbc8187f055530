"""Each cause is suggested by what speaks for it, in words; labels made from that say so."""

import pytest

from workbench.benchmarks.bundled import Flaw, load_bundled
from workbench.label.suggest import (
    AUTOMATIC,
    automatic_labels,
    known_flaws,
    suggest,
    suggested,
)
from workbench.label.taxonomy import CAUSES, open_taxonomy

JOINED = "FROM inspection AS T1 JOIN vessel AS T2 ON T1.imo = T2.imo"


@pytest.mark.parametrize(
    ("cause", "gold", "predicted", "hint", "reason"),
    [
        (
            "hint ignored",
            "SELECT imo FROM vessel WHERE vtype = 'GC'",
            "SELECT imo FROM vessel WHERE vname = 'general cargo'",
            "general cargo refers to vtype = 'GC'",
            "the hint says 'GC'",
        ),
        (
            "hint ignored",
            "SELECT SUM(n_def) FROM inspection",
            "SELECT SUM(imo) FROM inspection",
            "deficiencies refers to n_def",
            "the hint names n_def, which gold takes from inspection",
        ),
        (
            "missing table or join",
            f"SELECT T2.vname {JOINED}",
            "SELECT vname FROM vessel",
            "",
            "gold reads inspection",
        ),
        (
            "missing table or join",
            f"SELECT T2.vname {JOINED}",
            "SELECT T2.vname FROM inspection AS T1 JOIN vessel AS T2 ON T1.n_def = T2.imo",
            "",
            "gold joins by inspection.imo = vessel.imo",
        ),
        (
            "other column",
            "SELECT imo FROM vessel",
            "SELECT vname FROM vessel",
            "",
            "gold returns vessel.imo where the prediction returns vessel.vname",
        ),
        (
            "other literal",
            "SELECT imo FROM vessel WHERE vtype = 'GC'",
            "SELECT imo FROM vessel WHERE vtype = 'FV'",
            "",
            "gold has vessel.vtype = 'GC', the prediction vessel.vtype = 'FV'",
        ),
        (
            "aggregation",
            "SELECT imo FROM vessel GROUP BY imo",
            "SELECT imo FROM vessel",
            "",
            "gold uses GROUP BY, the prediction does not",
        ),
        (
            "function",
            "SELECT imo FROM vessel ORDER BY LENGTH(vname)",
            "SELECT imo FROM vessel ORDER BY vname",
            "",
            "gold uses LENGTH, the prediction does not",
        ),
        (
            "other literal",
            "SELECT imo FROM vessel WHERE vtype LIKE 'G%'",
            "SELECT imo FROM vessel",
            "",
            "gold requires vessel.vtype LIKE 'G%', the prediction nothing",
        ),
        (
            "DISTINCT or NULL handling",
            "SELECT DISTINCT vname FROM vessel",
            "SELECT vname FROM vessel",
            "",
            "gold has DISTINCT, the prediction nothing",
        ),
        (
            "order and limit",
            "SELECT imo FROM vessel ORDER BY imo DESC",
            "SELECT imo FROM vessel ORDER BY imo",
            "",
            "in ORDER BY gold has vessel.imo DESC, the prediction vessel.imo",
        ),
    ],
)
def test_a_cause_comes_first_where_only_it_fits(make_case, cause, gold, predicted, hint, reason):
    first = suggest(make_case(predicted, gold, hint=hint))[0]
    assert first.cause == cause
    assert reason in first.reason


def test_rows_that_a_join_doubles_are_suspected_to_be_counted_twice(make_case):
    case = make_case(
        f"SELECT COUNT(*) {JOINED}",
        "SELECT COUNT(*) FROM vessel",
        gold_rows=((8,),),
        rows=((11,),),
    )
    assert ("duplicates", "the prediction finds 11, gold 8: rows may be counted twice") in [
        (one.cause, one.reason) for one in suggest(case)
    ]


def test_gold_that_orders_days_of_months_is_likely_wrong(make_case):
    for gold in (
        f"SELECT T1.idate {JOINED} ORDER BY T1.idate DESC LIMIT 1",
        "SELECT MAX(idate) FROM inspection",
    ):
        first = suggest(make_case("SELECT 1", gold))[0]
        assert first.cause == "gold likely wrong"
        assert "inspection.idate, a text that begins with the day: 08/05/2021" in first.reason


def test_gold_that_takes_dates_apart_is_not(make_case):
    gold = "SELECT idate FROM inspection ORDER BY SUBSTR(idate, 7, 4) DESC"
    assert "gold likely wrong" not in [one.cause for one in suggest(make_case("SELECT 1", gold))]


def test_gold_that_does_not_run_or_finds_nothing_is_likely_wrong(make_case, make_result):
    broken = make_case(gold_execution=make_result(status="error", error="no such column: x"))
    assert suggest(broken)[0].reason == "gold does not run: no such column: x"
    assert suggest(make_case(gold_rows=((None,),)))[0].cause == "gold likely wrong"
    assert suggest(make_case(gold_rows=(), rows=()))[0].cause != "gold likely wrong"


def test_gold_that_does_not_take_the_hints_value_is_likely_wrong(make_case):
    case = make_case(
        "SELECT imo FROM vessel WHERE vtype = 'GC'",
        "SELECT imo FROM vessel WHERE vtype = 'FV'",
        hint="cargo refers to vtype = 'GC'",
    )
    assert suggest(case)[0].reason == (
        "the hint gives 'GC', which the prediction uses and gold does not"
    )


def test_the_cause_in_sqlites_error_is_suggested_first(make_case, make_result):
    case = make_case(
        "SELECT tonnes FROM vessel WHERE LENGTH(vname) > 1",
        execution=make_result(status="error", error="no such column: tonnes"),
    )
    assert suggest(case)[0].reason == "the prediction does not run: no such column: tonnes"
    assert suggest(case)[0].cause == "other column"


def test_queries_that_cannot_be_read_suggest_nothing(make_case):
    assert suggest(make_case("no query", "neither")) == ()


def test_every_cause_that_is_suggested_is_one_of_ours(make_case):
    case = make_case(f"SELECT COUNT(DISTINCT T1.imo) {JOINED} LIMIT 1")
    assert {one.cause for one in suggest(case)} <= set(CAUSES)


def test_a_suggestion_becomes_the_category_that_the_taxonomy_has_for_it(make_case):
    case = make_case()
    assert [
        suggested(case, open_taxonomy(name))[0] for name in ("CHASE-SQL", "CHESS", "MAC-SQL")
    ] == [
        ("Schema Linking", ""),
        ("Incorrectly Predicted SQL", "Column"),
        ("Schema Linking Error", ""),
    ]


def test_automatic_labels_say_that_they_are_and_why(make_case):
    (label,) = automatic_labels([make_case()], open_taxonomy("CHESS"))
    assert (label.annotator, label.automatic) == (AUTOMATIC, True)
    assert (label.category, label.subcategory) == ("Incorrectly Predicted SQL", "Column")
    assert label.note.startswith("other column: gold returns vessel.imo")


def test_a_known_flaw_of_a_question_counts_before_the_rules(make_case):
    flaws = [Flaw("7", "wrong gold", "ordered as text"), Flaw("8", "vague question", "which name?")]
    labels = automatic_labels([make_case(), make_case(number="8")], open_taxonomy("CHESS"), flaws)
    assert [(one.category, one.note) for one in labels] == [
        ("Incorrect Golden SQL", "gold likely wrong: ordered as text"),
        ("Vague Question", "vague question: which name?"),
    ]


def test_only_bundled_benchmarks_have_known_flaws(bird):
    assert len(known_flaws(load_bundled("dev"))) == 8
    assert known_flaws(bird) == ()


def test_rules_label_a_question_whose_flaw_is_not_in_the_taxonomy(make_case):
    flaws = [Flaw("7", "vague question", "which name?")]
    assert (
        automatic_labels([make_case()], open_taxonomy("CHASE-SQL"), flaws)[0].category
        == "Schema Linking"
    )
