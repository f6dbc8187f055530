"""Faults of each kind planted in the bundled benchmark are found, and its own gold queries are left alone."""

import csv
import json
from dataclasses import replace

import pytest

from workbench.benchmarks.bundled import load_bundled
from workbench.benchmarks.revisions import Revision
from workbench.db.execute import Executor
from workbench.evaluate.gold.audit.audit import KINDS, audit
from workbench.evaluate.gold.audit.report import ANY, AuditReport
from workbench.store import Store
from workbench.types import Gold, Limits, Question

JOINED = "FROM vessel AS T1 JOIN port_call AS T2 ON T1.imo = T2.imo"
PLANTED = {
    "fails": ["SELECT no_such_column FROM vessel", "SELECT vname FROM", "DELETE FROM vessel"],
    "empty": [
        "SELECT vname FROM vessel WHERE vtype = 'gc'",
        "SELECT MAX(loa), MIN(loa) FROM vessel WHERE vtype = 'none'",
        "SELECT COUNT(*) FROM vessel WHERE vtype = 'gc'",
    ],
    "ties at LIMIT": [
        "SELECT full_name FROM pilot ORDER BY class DESC LIMIT 1",
        "SELECT full_name FROM pilot ORDER BY class DESC LIMIT 1 OFFSET 1",
        "SELECT full_name FROM pilot ORDER BY class DESC LIMIT 1, 1",
        "SELECT full_name, class AS c FROM pilot ORDER BY c DESC LIMIT 2",
        "SELECT full_name, class FROM pilot ORDER BY 2 DESC LIMIT 2",
        "SELECT * FROM pilot ORDER BY class DESC LIMIT 1",
        "SELECT flag FROM vessel GROUP BY flag, vtype ORDER BY COUNT(*) LIMIT 1",
        "SELECT COUNT(*) FROM vessel WHERE flag = (SELECT flag FROM vessel ORDER BY scrub DESC LIMIT 1)",
        "WITH p AS (SELECT * FROM pilot) SELECT full_name FROM p ORDER BY class DESC LIMIT 1",
    ],
    "NULLs first": [
        "SELECT berth_no FROM berth ORDER BY crane LIMIT 1",
        "SELECT berth_no, max_dr AS d FROM berth ORDER BY d",
        "SELECT COUNT(*) FROM berth WHERE quay = (SELECT quay FROM berth ORDER BY crane, len_m LIMIT 1)",
        "SELECT T1.berth_no FROM berth AS T1 ORDER BY T1.crane + 1 LIMIT 2",
    ],
    "bare column": [
        "SELECT quay, berth_no FROM berth GROUP BY quay",
        "SELECT vname, COUNT(*) FROM vessel",
        "SELECT T2.st, T1.vname, COUNT(*) FROM vessel AS T1 JOIN pilot AS T2 GROUP BY T2.st",
        "SELECT quay AS q, UPPER(berth_no), AVG(len_m) FROM berth GROUP BY q",
        "SELECT quay AS q, berth_no FROM berth GROUP BY 1 HAVING q > 'A'",
        "SELECT quay FROM berth WHERE berth_no IN (SELECT berth_no FROM berth GROUP BY quay)",
        "SELECT berth_no, MIN(len_m), MAX(len_m) FROM berth GROUP BY quay",
    ],
    "join fans out": [
        f"SELECT SUM(T1.gt) {JOINED}",
        f"SELECT AVG(T1.loa) {JOINED} WHERE T2.st = 'DEP'",
        f"SELECT COUNT(T1.imo) {JOINED} WHERE T2.st = 'CAN'",
        f"SELECT T2.st, COUNT(T1.imo) {JOINED} GROUP BY T2.st",
        f"SELECT T1.imo, SUM(T1.gt) {JOINED} GROUP BY T1.imo",
    ],
    "text and numbers": [
        "SELECT COUNT(*) FROM port_call WHERE STRFTIME('%Y', ata) = 2022",
        "SELECT COUNT(*) FROM inspection WHERE SUBSTR(idate, 7, 4) >= 2022",
        "SELECT COUNT(*) FROM port_call WHERE STRFTIME('%Y', ata) IN (2021, 2022)",
        "SELECT COUNT(*) FROM owner WHERE since > 300",
        "SELECT COUNT(*) FROM owner WHERE since BETWEEN 300 AND 2000",
        "SELECT COUNT(*) FROM vessel WHERE built < 'GC'",
        "SELECT COUNT(*) FROM vessel WHERE gt + dwt > '9000'",
        "SELECT oname FROM owner WHERE 300 < since OR ctry = 'NO'",
    ],
    "integer division": [
        "SELECT SUM(gt) / COUNT(*) FROM vessel",
        "SELECT SUM(CASE WHEN scrub = 1 THEN 1 ELSE 0 END) * 100 / COUNT(*) FROM vessel",
        "SELECT vname FROM vessel WHERE dwt / gt > 1",
        "SELECT flag FROM vessel GROUP BY flag HAVING SUM(gt) / COUNT(*) > 5000",
        "SELECT CAST(SUM(scrub) / COUNT(*) AS REAL) FROM vessel",
        "SELECT vname, gt / built AS g FROM vessel ORDER BY g DESC, imo LIMIT 1",
    ],
}
HINTED = [  # a hint, and a gold query that contradicts it
    ("general cargo refers to vtype = 'GC'", "SELECT COUNT(*) FROM vessel WHERE vtype = 'CT'"),
    ("general cargo refers to vtype = 'GC'", "SELECT COUNT(*) FROM vessel"),
    (
        'general cargo refers to `vtype` = "GC"',
        "SELECT COUNT(*) FROM vessel AS v WHERE v.loa > 100",
    ),
    ("long refers to len_m > 65", "SELECT berth_no FROM berth WHERE len_m >= 65"),
    ("long refers to len_m > 65", "SELECT berth_no FROM berth WHERE len_m > 75"),
    ("share = DIVIDE(SUM(scrub), COUNT(imo))", "SELECT SUM(scrub) FROM vessel"),
    ("share = SUM(scrub) / COUNT(imo)", "SELECT SUM(scrub) FROM vessel"),
    ("share = SUM(scrub) / COUNT(imo) * 100", "SELECT SUM(scrub) * 1.0 / COUNT(imo) FROM vessel"),
    ("spare = SUBTRACT(max_dr, draught)", "SELECT MAX(max_dr) FROM berth"),
    ("mean refers to AVG(loa)", "SELECT SUM(loa) FROM vessel"),
    ("in 2023 refers to eta LIKE '2023%'", "SELECT COUNT(*) FROM port_call WHERE eta > '2022'"),
    ("size refers to loa BETWEEN 120 AND 145", "SELECT COUNT(*) FROM vessel WHERE loa > 130"),
    ("unpaid refers to paid_on IS NULL", "SELECT COUNT(*) FROM port_call WHERE paid_on > ''"),
    ("longest refers to MAX(loa)", "SELECT vname FROM vessel ORDER BY loa, imo LIMIT 1"),
    ("ships refers to COUNT(DISTINCT imo)", "SELECT COUNT(imo) FROM port_call"),
]
COUNTED = f"SELECT COUNT(*) {JOINED} WHERE T2.st = 'CAN'"
SOUND = [  # each close to a planted fault
    "SELECT full_name FROM pilot ORDER BY class DESC, pilot_id LIMIT 1",
    "SELECT class FROM pilot ORDER BY class DESC LIMIT 1",
    "SELECT full_name FROM pilot ORDER BY class DESC LIMIT 1000",
    "SELECT berth_no FROM berth ORDER BY crane NULLS LAST, berth_no LIMIT 1",
    "SELECT berth_no FROM berth WHERE crane IS NOT NULL ORDER BY crane",
    "SELECT berth_no FROM berth ORDER BY crane DESC, berth_no",
    "SELECT berth_no, MAX(len_m) FROM berth GROUP BY quay",
    "SELECT imo, vname, COUNT(*) FROM vessel GROUP BY imo",
    "SELECT vname, COUNT(*) OVER (PARTITION BY flag) FROM vessel",
    f"SELECT COUNT(DISTINCT T1.imo) {JOINED} WHERE T2.st = 'CAN'",
    f"SELECT COUNT(T2.call_id) {JOINED} WHERE T2.st = 'CAN'",
    f"SELECT T1.vname, COUNT(T1.imo) {JOINED} GROUP BY T1.imo",
    f"SELECT MAX(T1.gt) {JOINED}",
    COUNTED,
    "SELECT COUNT(*) FROM port_call WHERE STRFTIME('%Y', ata) = '2022'",
    "SELECT COUNT(*) FROM pilot WHERE lic_from > 20151231",
    "SELECT COUNT(*) FROM vessel WHERE built > '2008'",
    "SELECT CAST(SUM(gt) AS REAL) / COUNT(*) FROM vessel",
    "SELECT built / 10 * 10 FROM vessel",
    "SELECT CAST(built / 10 AS INTEGER) FROM vessel",
    "SELECT SUM(loa) / COUNT(*) FROM vessel",
]
SOUNDLY_HINTED = [
    ("general cargo refers to vtype = 'GC'", "SELECT COUNT(*) FROM vessel WHERE 'GC' = vtype"),
    (
        "male refers to st = 'A'; female refers to st = 'R'",
        "SELECT COUNT(*) FROM pilot WHERE st = 'A'",
    ),
    ("share = DIVIDE(SUM(scrub), COUNT(imo))", "SELECT AVG(scrub) FROM vessel"),
    ("general refers to vtype = 'absent'", "SELECT COUNT(*) FROM vessel WHERE vtype = 'GC'"),
    (
        "long refers to len_m > 65",
        "SELECT berth_no FROM berth WHERE NOT len_m <= 65 AND len_m > 65",
    ),
]


@pytest.fixture(scope="module")
def executor(tmp_path_factory):
    with (
        Store(tmp_path_factory.mktemp("audit") / "lab.sqlite") as store,
        Executor(store) as executor,
    ):
        yield executor


@pytest.fixture(scope="module")
def bundled():
    return load_bundled("dev")


def with_golds(bundled, golds):
    """The bundled databases with these gold queries: (id, question, hint, SQL)."""
    return replace(
        bundled,
        questions=tuple(Question(key, "harbour", text, hint) for key, text, hint, _ in golds),
        golds={key: Gold(key, sql) for key, _, _, sql in golds},
    )


@pytest.fixture(scope="module")
def found(bundled, executor):
    """The kinds of the findings on each query of this module, by hint and query."""
    golds = [("", sql) for queries in PLANTED.values() for sql in queries]
    golds += [("", sql) for sql in SOUND] + HINTED + SOUNDLY_HINTED
    asked = [(str(n), f"Question {n}?", hint, sql) for n, (hint, sql) in enumerate(golds)]
    findings = audit(with_golds(bundled, asked), executor, Limits())
    kinds = {gold: set() for gold in golds}
    for one in findings:
        kinds[golds[int(one.question_id)]].add(one.kind)
    return kinds


@pytest.mark.parametrize(
    ("kind", "sql"), [(kind, sql) for kind, queries in PLANTED.items() for sql in queries]
)
def test_a_planted_fault_is_found(found, kind, sql):
    assert kind in found["", sql]


@pytest.mark.parametrize(("hint", "sql"), HINTED)
def test_a_gold_query_against_its_hint_is_found(found, hint, sql):
    assert found[hint, sql] == {"hint contradicted"}


@pytest.mark.parametrize("gold", [*(("", sql) for sql in SOUND), *SOUNDLY_HINTED])
def test_a_sound_query_that_resembles_a_fault_is_left_alone(found, gold):
    assert found[gold] == set()


def test_the_bundled_gold_queries_are_left_alone(bundled, executor):
    assert audit(bundled, executor, Limits()) == ()


@pytest.mark.parametrize(
    "question",
    [
        "How many vessels had a call cancelled?",
        "What is the number of different vessels with a cancelled call?",
    ],
)
def test_counting_rows_is_doubted_where_the_question_counts_a_table(bundled, executor, question):
    asked = [("a", question, "", COUNTED)]
    (finding,) = audit(with_golds(bundled, asked), executor, Limits())
    assert (finding.kind, finding.columns) == ("join fans out", ("number", "times"))
    assert all(times > 1 for _, times in finding.rows)


def test_equal_questions_with_different_results_are_found_with_the_rows(bundled, executor):
    asked = [
        ("a", "How many vessels fly the flag of Malta?", "", "SELECT COUNT(*) FROM vessel"),
        ("b", "how many vessels fly the flag of Malta", "", "SELECT COUNT(*) + 1 FROM vessel"),
        ("c", "How many vessels fly the flag of Malta?", "", "SELECT COUNT(imo) FROM vessel"),
        ("d", "How many vessels fly the flag of Malta?", "now", "SELECT 1"),
    ]
    (finding,) = audit(with_golds(bundled, asked), executor, Limits())
    assert (finding.kind, finding.question_id) == ("equal questions differ", "b")
    assert len(finding.rows) == 2


def test_a_finding_has_the_rows_that_show_it(bundled, executor):
    asked = [("a", "Which pilot?", "", PLANTED["ties at LIMIT"][0])]
    (finding,) = audit(with_golds(bundled, asked), executor, Limits())
    classes = {rank for _, rank in finding.rows}
    assert len(finding.rows) > 1
    assert len(classes) == 1
    again = executor.execute(bundled.database("harbour"), finding.probe)
    assert again.rows == finding.rows


@pytest.fixture
def report(bundled, executor):
    """Two faults and two sound queries, of which a revision corrects a fault and a sound query."""
    golds = [PLANTED["fails"][0], PLANTED["empty"][0], SOUND[0], SOUND[1]]
    benchmark = with_golds(bundled, [(str(n), f"={n}?", "", sql) for n, sql in enumerate(golds)])
    changes = {"0": ("SQL",), "1": ("question",), "2": ("hint", "SQL"), "3": ()}
    revision = Revision("mended", {}, {}, changes)
    return AuditReport(benchmark, audit(benchmark, executor, Limits()), [revision])


def test_precision_and_recall_are_those_against_the_corrections(report):
    counts = report.counts().set_index("kind")
    assert list(counts.index) == [*KINDS, ANY]
    shown = ["findings", "mended: corrected", "mended: precision", "mended: recall"]
    assert counts.loc["fails", shown].tolist() == [1, "1 of 1", 100, 50]
    assert counts.loc[ANY, shown].tolist() == [2, "1 of 2", 50, 50]


def test_a_share_of_nothing_is_a_dash_and_the_report_says_why(report):
    *_, why = report.as_text().splitlines()
    assert why.startswith("-: no precision where none of the revision's questions was flagged")
    assert "None" not in report.as_text()
    assert report.counts()["mended: precision"].isna().any()


def test_the_report_is_text_json_and_csv_without_formulas(report, tmp_path):
    assert "fails: question 0 on harbour: no such column" in report.as_text()
    assert json.dumps(report.as_json(), allow_nan=False)
    report.write_csv(tmp_path / "findings.csv")
    with (tmp_path / "findings.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [(row["kind"], row["question"]) for row in rows] == [
        ("fails", "'=0?"),
        ("empty", "'=1?"),
    ]
