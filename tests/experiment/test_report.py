"""The report shows a summary before the papers, and every counted number leads to what was counted."""

import base64
import gzip
import json
import re

import pandas as pd
import pytest

from workbench.experiment.report import write_report
from workbench.report.figures.outcomes import outcome_pie
from workbench.report.papers import published
from workbench.report.tables import alone, beside
from workbench.store import Store
from workbench.study import open_study
from workbench.study.settings import Experiment
from workbench.systems.mac_sql import mac_sql

MANIFEST = {
    "experiment": "mine", "written": "2026-01-02T03:04:05Z", "commit": "abc", "code": "code:1",
    "versions": {"python": "3"}, "benchmark": "bundled-dev", "questions": "questions:1",
    "model": "embedded/parser", "models": {}, "limit": 5, "dollars": 1.5, "failed": [],
    "notebooks": [
        {"notebook": "a/b", "seconds": 90.0, "calls": 7, "hits": 2, "dollars": 1.5},
    ],
}  # fmt: skip


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """A study of five questions with a table beside a paper's, one alone, and a figure."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WORKBENCH_HOME", str(tmp_path_factory.mktemp("home")))
        experiment = Experiment("mine", folder=tmp_path_factory.mktemp("folder"))
        with open_study(experiment, limit=5) as study:
            run = study.run(mac_sql())
            rows = pd.DataFrame([run.row()])
            paper = published("CHASE-SQL", "table 2")
            study.save("chase_table_2", beside(rows, paper, study.stamp, columns={"EX": "EX dev"}))
            study.claim("One < two", holds=True, detail="1 and 2")
            study.save("chase_regret", alone(rows, study.stamp, "Left over"))
            study.save("chase_figure_6", outcome_pie(run.questions, stamp=study.stamp))
            yield study, run


@pytest.fixture(scope="module")
def report(saved):
    study, _ = saved
    path, bundle = write_report(study.saved.folder, study.lab.client.store, MANIFEST)
    return path.read_text(), bundle, path.parent / "report"


@pytest.fixture
def unpacked(report):
    def read(name):
        text = (report[2] / f"{name}.js").read_text()
        packed = re.fullmatch(r'arrived\("[^"]+", "([^"]+)"\)\n', text)[1]
        return json.loads(gzip.decompress(base64.b64decode(packed)))

    return read


def test_the_report_opens_without_a_network(report):
    text = report[0]
    assert "data:image/png;base64," in text
    assert "http" not in text
    assert "<script" not in text


def test_the_summary_says_who_answered_when_and_at_what_cost(report):
    text = report[0]
    for told in (
        "on bundled-dev, 5 questions; written 2026-01-02 03:04:05 UTC",
        "calls of retrieval and pruning are cached without their question",
        "1.5 minutes",
        "7 calls, 2 answered",
        "$1.50",
        "1 claims",
    ):
        assert told in text, told
    assert text.count("no language model. These tables") == 1


def test_the_summary_comes_first_main_tables_before_appendices_and_provenance_last(report):
    ids = ("summary", "contents", "chase_table_2", "chase_figure_6", "appendices", "chase_regret")
    places = [report[0].index(f'id="{name}"') for name in (*ids, "provenance")]
    assert places == sorted(places)


def test_our_numbers_are_links_and_the_papers_are_not(report):
    table = report[0].partition('id="chase_table_2"')[2].partition("</article>")[0]
    assert '<a href="report/index.html#chase_table_2.0">' in table
    assert "<span>73.01</span>" in table, "a number of the paper"
    assert "#chase_table_2.1" not in table, "a row that only the paper has"


def test_a_row_leads_to_its_questions_and_their_calls(saved, report, unpacked):
    _, run = saved
    stored = unpacked("rows")
    ((name, place),) = stored["tables"]["chase_table_2"]["rows"][0]["sets"]
    assert name == run.id
    counted = stored["sets"][place]
    answers = unpacked(f"run-{run.id}")["answers"]
    assert [answers[at][0] for at, _ in counted] == run.questions["question_id"].tolist()
    for at, candidates in counted:
        question, _, _, queries, right, lines, _ = answers[at]
        row = run.questions.set_index("question_id").loc[question]
        chosen = lines[candidates[0]]
        assert queries[chosen[2]] == row["sql"]
        assert right[chosen[2]] == row["correct"]
        assert unpacked("calls-0")[chosen[5][0]][0].startswith("call:")


def test_a_part_of_the_pie_leads_to_its_own_questions_alone(saved, unpacked):
    _, run = saved
    stored = unpacked("rows")
    answers = unpacked(f"run-{run.id}")["answers"]
    counted = [
        answers[at][0]
        for row in stored["tables"]["chase_figure_6"]["rows"]
        for _, place in row["sets"]
        for at, _ in stored["sets"][place]
    ]
    assert sorted(counted) == sorted(run.questions["question_id"])


def test_a_prompt_of_the_bundle_is_the_one_that_was_sent(saved, unpacked):
    study, _ = saved
    key, _, _, _, messages, reply, *_ = unpacked("calls-0")[0]
    role, pieces = messages[-1]
    texts = unpacked("texts-0")
    sent = "".join(piece if isinstance(piece, str) else texts[piece] for piece in pieces)
    read = study.lab.client.store.read
    assert [(reply,)] == read("SELECT text FROM calls WHERE key = ?", (key,))
    ((content,),) = read(
        "SELECT content FROM messages WHERE key = ? AND role = ? ORDER BY number DESC LIMIT 1",
        (key, role),
    )
    assert sent == content


def test_the_size_of_the_bundle_is_stated(report):
    text, bundle, folder = report
    assert bundle.size == sum(path.stat().st_size for path in folder.iterdir())
    assert f"{bundle.size / 1e6:,.1f} MB in the folder report" in text


def test_a_report_is_the_same_each_time(saved, report):
    study, _ = saved
    before = {path.name: path.read_bytes() for path in report[2].iterdir()}
    path, _ = write_report(study.saved.folder, study.lab.client.store, MANIFEST)
    assert path.read_text() == report[0]
    assert {path.name: path.read_bytes() for path in report[2].iterdir()} == before


def test_without_its_runs_in_the_cache_a_report_has_no_links(saved, tmp_path):
    study, _ = saved
    with Store(tmp_path / "empty.sqlite") as store:
        path, bundle = write_report(study.saved.folder, store, {})
    assert not bundle.linked
    assert "are not in the cache" in path.read_text()
