"""An experiment says how long a query may run, and its systems' queries run within that."""

import pytest

import workbench as wb
from workbench.study.settings import CHECKOUT, load_experiment
from workbench.types import Limits

ENDLESS = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT count(*) FROM n"


def experiment(folder, text):
    path = folder / "mine.yaml"
    path.write_text(f"benchmark: bundled-dev\n{text}\n")
    return str(path)


def test_a_query_is_stopped_when_the_experiments_time_is_over(tmp_path):
    with wb.open_study(experiment(tmp_path, "sql_seconds: 0.2"), limit=1) as study:
        (question,) = study.benchmark.questions
        result = study.lab.run(question, ENDLESS)
    assert result.status == "timeout"
    assert "0.2" in result.error


def test_every_step_runs_its_queries_within_the_experiments_limits(tmp_path, monkeypatch):
    with wb.open_study(experiment(tmp_path, "sql_seconds: 7"), limit=1) as study:
        used = []
        execute_many = study.lab.executor.execute_many

        def watched(jobs, limits=None, *more):
            used.append(limits)
            return execute_many(jobs, limits, *more)

        monkeypatch.setattr(study.lab.executor, "execute_many", watched)
        study.run(wb.chess_ir_cg_ut(candidates=2, tests=1))
    assert Limits(seconds=7) in used
    assert {limits.seconds for limits in used} <= {7, 10}  # 10: the grounding of features


def test_runs_under_other_limits_are_other_runs(tmp_path):
    ids = set()
    for seconds in (30, 60):
        with wb.open_study(experiment(tmp_path, f"sql_seconds: {seconds}"), limit=1) as study:
            ids.add(study.run(wb.direct()).id)
    assert len(ids) == 2


@pytest.mark.parametrize(
    ("name", "seconds"), [("chase_bird_gemini", 30), ("chess_bird", 60), ("mac_bird", 120)]
)
def test_the_papers_experiments_have_the_papers_limits(name, seconds, monkeypatch):
    monkeypatch.setenv("BIRD", "bird")
    settings = load_experiment(str(CHECKOUT / "experiments" / f"{name}.yaml"))
    assert settings.sql_seconds == seconds
