"""Labels on disk, taxonomies, agreement, and the golds and errors that follow from labels."""

import math
import sqlite3
from contextlib import closing
from dataclasses import replace
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest

import workbench as wb
from tests.label.conftest import case
from workbench.benchmarks.golds import with_golds
from workbench.errors import BadInputError
from workbench.label.cases import PUBLISHED, cases, open_taxonomy
from workbench.label.labels import by_rule, errors, write_golds
from workbench.label.store import (
    ADJUDICATOR,
    BOTH_RIGHT,
    CORRECTED,
    GOLD,
    Label,
    LabelStore,
    agreement,
    final,
)
from workbench.types import StoredResult

HOSTILE = "=1+1\t'\"\r\n<b>\x00\u202e, \ud800"


ANNOTATORS = ("annotator 0", "annotator 1")  # those of `all_of`


def said(annotator, *names, key="q", note=""):
    return Label(
        annotator, "mine", names, note, "harbour", key, f"question {key}", "SELECT 1"
    )


def all_of(*columns):
    """The labels of annotators, one text each, with a letter for each case; '-' is missing."""
    return [
        said(f"annotator {n}", letter, key=str(at))
        for n, column in enumerate(columns)
        for at, letter in enumerate(column)
        if letter != "-"
    ]


def counted(table):
    """Two annotators, from the table of how often they gave which."""
    pairs = [
        (r, c)
        for r, row in enumerate(table)
        for c, n in enumerate(row)
        for _ in range(n)
    ]
    return all_of("".join(str(r) for r, _ in pairs), "".join(str(c) for _, c in pairs))


def test_a_label_is_on_disk_at_once_and_found_after_a_rerun(store):
    one = case("SELECT vname FROM vessel")
    store.add([Label.of(one, "ann", "CHESS", ["Vague Question"], HOSTILE)])
    again = case("select  vname\nfrom VESSEL;", number="99")  # another id and layout
    (found,) = LabelStore(store.path).labels("CHESS")
    assert (found.key, found.categories) == (again.key, ("Vague Question",))
    assert found.note == HOSTILE.encode("utf-8", "replace").decode()
    assert case("SELECT imo FROM vessel").key != one.key != case(text="Other?").key


def test_the_last_label_counts_and_undo_brings_back_the_one_before(store):
    for names in (("A",), ("B",), ("A", "C")):
        store.add([said("ann", *names)])
    store.add([said("ben", "B")])
    assert [one.categories for one in store.labels() if one.annotator == "ann"] == [
        ("A", "C")
    ]
    assert store.undo("ann", "mine").categories == ("A", "C")
    assert [one.categories for one in store.labels()] == [("B",), ("B",)]
    assert store.undo("ann", "other taxonomy") is None
    store.undo("ann", "mine")
    store.undo("ann", "mine")
    assert (store.undo("ann", "mine"), len(store.labels())) == (None, 1)
    counts = "SELECT (SELECT count(*) FROM labels), count(*) FROM retractions"
    # Rows are only ever added.
    with closing(sqlite3.connect(store.path)) as database, database:
        assert [*database.execute(counts)] == [(4, 3)]


def test_labels_go_to_a_csv_and_come_back_once(store, tmp_path):
    store.add([said("ann", "A", "B", note=HOSTILE), said("=cmd()", "B")])
    path = tmp_path / "labels.csv"
    assert store.write_csv(path) == 2
    assert all(line[:1] not in "=+-@" for line in path.read_text().splitlines())
    other = LabelStore(tmp_path / "other.sqlite")
    assert (other.read_csv(path), other.read_csv(path)) == (2, 0)
    assert other.labels() == store.labels()


@pytest.mark.parametrize(
    "text", ["", "a,b\n1,2", "HEADER\n1,2", "HEADER\na,t,[1],,,,,,now,x"]
)
def test_a_csv_of_another_form_is_refused(store, tmp_path, text):
    store.write_csv(header := tmp_path / "header.csv")
    path = tmp_path / "labels.csv"
    path.write_text(text.replace("HEADER", header.read_text().strip()))
    with pytest.raises(BadInputError):
        store.read_csv(path)
    assert store.labels() == ()


@pytest.mark.parametrize("name", ["", "..", "a/b", "a\nb", "x" * 101])
def test_a_name_of_labels_stays_in_its_folder(name):
    with pytest.raises(BadInputError):
        LabelStore.named(name)


def test_a_revised_benchmark_has_labels_of_its_own(store):
    """`with_golds` gives a benchmark such a name."""
    path = LabelStore.named("bird-dev (mine)").path
    assert path.parent == store.path.parent
    assert path != store.path


def test_the_papers_taxonomies_are_there_and_each_cause_leads_to_one_label():
    known = [open_taxonomy(name) for name in sorted(PUBLISHED)]
    sizes = [[len(category.parts) for category in one.categories] for one in known]
    # CHASE-SQL twice, CHESS, MAC-SQL.
    assert sizes == [[0] * 6, [0] * 4, [9, 1, 6], [0] * 8]
    chase = open_taxonomy("CHASE-SQL")
    assert (chase.cases, chase.share) == ("no correct candidate", Fraction(1, 3))
    assert [one.name for one in chase.categories if one.apart] == ["Wrong Golden Query"]
    for one in known:
        given = [
            cause for part in one.choices().values() for cause in part.suggested_by
        ]
        assert len(given) == len({*given})


def test_a_taxonomy_of_ones_own_can_be_a_list_of_names(tmp_path):
    path = tmp_path / "mine.yaml"
    path.write_text(
        "name: mine\nseveral: true\ncategories: [a, {name: b, parts: [nearly]}]"
    )
    found = open_taxonomy(str(path))
    assert [*found.choices()] == ["a", "b", "b / nearly"]
    found.check(("a", "b / nearly"))
    one = found.model_copy(update={"several": False})
    for kinds, names in (
        (found, ()),
        (found, ("nearly",)),
        (found, ("a", "x")),
        (one, ("a", "b")),
    ):
        with pytest.raises(BadInputError):
            kinds.check(names)


REFUSED = {  # what the file has, and the field that the error names
    "name: [": "not YAML",
    "- a": "the file",
    "name: mine": "categories",
    "name: mine\ncategories: [a, ' a ']": "categories",
    "name: mine\ncategories: [a / b]": "categories",
    "name: mine\ncategories: [{name: a, color: red}]": r"categories\.0\.color",
    "name: mine\ncategories: [{name: a, suggested_by: [luck]}]": r"categories\.0\.suggested_by\.0",
    "name: mine\ncategories: [a]\ncases: some": "cases",
    "name: mine\ncategories: [a]\nshare: 1/0": "share",
    "name: mine\ncategories: [a]\nseveral: 1": "several",
    "name: Chess\ncategories: [a]": "a paper's taxonomy",
}


@pytest.mark.parametrize(("text", "field"), REFUSED.items())
def test_an_error_names_the_field(tmp_path, text, field):
    path = tmp_path / "mine.yaml"
    path.write_text(text)
    with pytest.raises(BadInputError, match=f"{path}: .*{field}"):
        open_taxonomy(str(path))


@pytest.mark.parametrize(
    ("labels", "value"),
    [
        # Cohen (1960), table 1.
        (counted([[88, 10, 2], [14, 40, 6], [18, 10, 12]]), 0.492),
        (counted([[20, 5], [10, 15]]), 0.4),
        (all_of("aabb", "aabb"), 1),
        (all_of("aabb", "abab"), 0),
        (all_of("aaaa", "aaaa"), math.nan),  # chance alone always agrees
        (all_of("aa--", "--bb"), math.nan),
    ],
)
def test_published_coefficients(labels, value):
    found = agreement(labels, *ANNOTATORS)
    assert found.kappa == pytest.approx(value, abs=5e-4, nan_ok=True)


def test_agreement_has_an_interval_around_it_and_others_do_not_count():
    labels = all_of("aabbc" * 8, "aabbb" * 8)
    found = agreement(labels, *ANNOTATORS)
    assert found.low < found.kappa < found.high <= 1
    others = [said(ADJUDICATOR, "a", key="0"), said("ben", "c", key="1")]
    assert agreement([*labels, *others], *ANNOTATORS) == found
    perfect = agreement(all_of("ab" * 10, "ab" * 10), *ANNOTATORS)
    assert 0.4 < perfect.low < 0.9 < perfect.kappa == perfect.high == 1
    below_chance = agreement(counted([[7, 1], [1, 0]]), *ANNOTATORS)
    assert below_chance.low == -1 < below_chance.kappa < 0
    some = agreement(counted([[20, 5], [10, 15]]), *ANNOTATORS)
    assert str(some) == "35 of 50 agree, κ 0.40 [0.12, 0.62]"


def test_the_interval_holds_the_true_kappa():
    """Each of two annotators is right in 80% of the cases, and else names any of five labels."""
    right = 0.8
    joint = np.full((5, 5), (1 - right**2) / 25) + right**2 * np.eye(5) / 5
    draws = np.random.default_rng(0).multinomial(20, joint.ravel(), size=200)
    tables = draws.reshape(-1, 5, 5).tolist()
    found = [agreement(counted(table), *ANNOTATORS) for table in tables]
    assert sum(each.low <= right**2 <= each.high for each in found) > 0.9 * len(found)


def test_an_interval_needs_five_cases():
    few = agreement(all_of("aabb", "aaab"), *ANNOTATORS)
    assert math.isnan(few.low)
    assert str(few) == "3 of 4 agree, too few for κ"
    assert not math.isnan(agreement(all_of("aabba", "aaaba"), *ANNOTATORS).low)
    assert str(agreement([], *ANNOTATORS)) == "0 of 0 agree"


def test_the_same_set_of_labels_agrees_and_the_adjudicator_settles_the_rest():
    ann, ben = said("ann", "a", "b"), said("ben", "b")
    assert final([ann, ben]) == {ann.key: None}
    assert final([ann, said("ben", "b", "a"), said("cat", "b")]) == {ann.key: None}
    assert final([ann, again := said("ben", "b", "a")]) == {ann.key: again}
    judge = said(ADJUDICATOR, "c")
    assert final([judge, ann, ben]) == {ann.key: judge}


def test_cases_are_those_that_the_taxonomy_sorts(opened):
    def ids(name):
        return [one.question.id for one in cases(*opened, open_taxonomy(name))]

    assert ids("CHESS") == ["1", "2", "3", "4"]
    assert ids("CHASE-SQL selection") == ["1"]
    assert ids("CHASE-SQL") in (["2"], ["3"], ["4"])  # a third, drawn by the id


def test_people_say_what_figures_draw_and_else_the_rules(opened, store):
    study, run = opened
    first, second, *_ = cases(study, run, open_taxonomy("MAC-SQL"))
    for one, who, *names in ((first, "ann", "Other", "Gold Error"), (second, "ann", "Other"), (second, "ben", "Gold Error")):  # fmt: skip
        store.add([Label.of(one, who, "MAC-SQL", names)])
    found = errors(study, {"it": run}, "MAC-SQL")
    rows = found[["question_id", "error", "automatic"]].values.tolist()
    assert rows[:3] == [
        ["1", "Other", False],
        ["1", "Gold Error", False],
        ["2", "disputed", False],
    ]
    assert rows[3] == ["3", "Schema Linking Error", True]
    assert by_rule(found[:4]) == "1 of 4 labels are automatic"
    assert not found["apart"].any()
    (one,) = cases(study, run, open_taxonomy("CHASE-SQL"))
    store.add([Label.of(one, "ann", "CHASE-SQL", ["Wrong Golden Query"])])
    assert errors(study, {"it": run}, "CHASE-SQL")["apart"].all()


def test_corrected_golds_are_a_revision_of_the_benchmark(opened, store):
    study, run = opened
    first, second, third, fourth = cases(study, run, open_taxonomy("CHESS"))
    right = "SELECT name FROM animal ORDER BY name DESC"

    def judge(one, annotator, category, note=""):
        store.add([Label.of(one, annotator, GOLD, [category], note)])

    judge(first, "ann", CORRECTED, right)
    judge(first, "ben", CORRECTED, right.lower() + " ;")  # the same query
    judge(second, "ann", CORRECTED, "SELECT 1")
    judge(second, "ben", CORRECTED, "SELECT 2")  # disputed
    judge(third, "ann", CORRECTED, "SELECT 1")
    store.undo("ann", GOLD)
    judge(fourth, "ben", CORRECTED, "SELECT 8")
    judge(fourth, ADJUDICATOR, CORRECTED, "SELECT 9")
    judge(fourth, "ann", BOTH_RIGHT)
    assert "2 gold queries changed" in write_golds(study)
    revised = with_golds(study.benchmark, store.path.with_suffix(".golds.json"))
    own = study.benchmark.golds
    found = {key: gold.sql for key, gold in revised.golds.items() if gold != own[key]}
    assert found == {"1": right, "4": "SELECT 9"}


def test_a_prediction_that_is_right_too_becomes_a_further_answer(opened, store):
    study, run = opened
    first, *_ = cases(study, run, open_taxonomy("CHESS"))
    store.add([Label.of(first, "ann", GOLD, [BOTH_RIGHT])])
    assert "1 gold queries changed" in write_golds(study)
    revised = with_golds(study.benchmark, store.path.with_suffix(".golds.json"))
    assert revised.golds["1"].queries == (first.gold, first.predicted)
    assert revised.golds["2"] == study.benchmark.golds["2"]


@pytest.mark.parametrize("sql", ["", "SELECT 1"])
def test_stored_results_stay_alone_until_gold_is_corrected(opened, store, sql):
    study, run = opened
    first, second, *_ = cases(study, run, open_taxonomy("CHESS"))
    golds = dict(study.benchmark.golds)
    for key in ("1", "2"):
        results = (StoredResult("a\n5\n"),)
        golds[key] = replace(golds[key], sql=sql, results=results)
    study = SimpleNamespace(benchmark=replace(study.benchmark, golds=golds))
    for one in (first, second):
        store.add([Label.of(one, "ann", GOLD, [BOTH_RIGHT])])
    store.add([Label.of(second, "ben", GOLD, [CORRECTED], "SELECT 7")])
    said = write_golds(study)
    assert "1 gold queries changed" in said
    assert said.endswith("right beside stored results, which stay alone: 1")
    revised = with_golds(study.benchmark, store.path.with_suffix(".golds.json"))
    assert revised.golds["1"] == golds["1"]
    assert revised.golds["2"].queries == ("SELECT 7", second.predicted)


def test_a_taxonomys_systems_are_the_experiments(tmp_path, tiny, monkeypatch):
    """CHESS's zero-shot call asks the model that answers for most of CHESS."""
    monkeypatch.setenv("WORKBENCH_HOME", str(tmp_path))
    models = {"rest": "m/rest", "generation": "m/fine"}
    root = tiny.write_bird(tmp_path / "bird")
    with wb.open_study("bird-dev", root=root, model="m/x", models=models) as study:
        chess = wb.labels.systems(study, "CHESS")
        assert list(chess) == ["CHESS (IR, SS, CG)", "zero-shot, chain of thought"]
        assert chess["zero-shot, chain of thought"] == wb.zero_shot("m/rest")
        assert chess["CHESS (IR, SS, CG)"] == study.chess_ir_ss_cg()
        assert wb.labels.systems(study, "MAC-SQL") == {"MAC-SQL": study.mac_sql()}
