"""The committed results are what this code gives: some answers are made again and compared letter by letter.

`make reproduce` makes all of them again; what differs, `git diff figures` shows.
"""

import json
from pathlib import Path

import pandas as pd
import pytest

from workbench.evaluate.judge import judge
from workbench.pool import pool_of
from workbench.study import accuracy, open_study
from workbench.systems.baselines import direct
from workbench.systems.chase_sql import chase_sql
from workbench.systems.chess import chess_ir_cg_ut, chess_ir_ss_cg
from workbench.systems.mac_sql import mac_sql
from workbench.types import Candidate, Trial

FIGURES = Path(__file__).parents[2] / "figures" / "embedded"
ANSWERS = pd.read_csv(FIGURES / "answers.csv", dtype=str, keep_default_na=False)
SYSTEMS = [direct(), mac_sql(), chess_ir_ss_cg(), chess_ir_cg_ut(), chase_sql()]


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WORKBENCH_HOME", str(tmp_path_factory.mktemp("home")))
        with open_study("embedded", figures=tmp_path_factory.mktemp("figures")) as opened:
            yield opened


def whole(study, system):
    """What was committed of the system's run on all questions."""
    return ANSWERS[ANSWERS["run"] == study._run_id(system)]


@pytest.mark.parametrize("system", SYSTEMS, ids=lambda system: system.name)
def test_answers_are_the_committed_ones(study, system):
    committed = whole(study, system).set_index("question_id")["sql"]
    assert len(committed) >= 0.9 * len(study.benchmark.questions)
    few = study.fewer(5).run(system)
    chosen = few.trials[few.trials["chosen"]]
    assert [" ".join(sql.split("\n")) for sql in chosen["sql"]] == [
        committed[question] for question in chosen["question_id"]
    ]


def test_the_committed_answers_have_the_committed_accuracy(study):
    table = pd.read_csv(FIGURES / "mac_table_1.csv")
    for system in (direct(), mac_sql()):
        run = study._run_id(system)
        mine = ANSWERS[ANSWERS["run"] == run]
        pool = pool_of(
            (row.question_id, Trial(Candidate(row.sql, "it"))) for row in mine.itertuples()
        )
        judged = judge(study.benchmark, pool, study.lab.executor)
        found = accuracy(judged, column="ex_bird")
        (row,) = table[table["run"] == run].to_dict("records")
        assert f"{found['EX']:.6g}" == f"{row['EX']:.6g}"
        assert f"{found['low']:.6g}" == f"{row['low']:.6g}"


def test_every_committed_number_says_what_it_is_of():
    for path in FIGURES.glob("*.json"):
        told = json.loads(path.read_text())
        assert "embedded/parser" in told["stamp"], path.name
