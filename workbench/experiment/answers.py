"""Every answer behind an experiment's numbers: the predictions that papers so seldom publish."""

import csv
from collections.abc import Sequence
from pathlib import Path

import orjson

from workbench.store import Store
from workbench.study.trace import candidates

NAME = "answers.csv"
FIELDS = ("run", "system", "question_id", "db_id", "status", "sql")


def write_answers(folder: Path, runs: Sequence[str], store: Store) -> Path:
    """What was chosen for each question by each of the runs, in `answers.csv` beside their figures."""
    path = folder / NAME
    with path.open("w", encoding="utf-8", newline="") as file:
        lines = csv.writer(file, lineterminator="\n")
        lines.writerow(FIELDS)
        for run in sorted(set(runs)):
            found = store.read("SELECT name FROM runs WHERE id = ?", (run,))
            for one in candidates(run, store) if found else ():
                if one.chosen:
                    sql = " ".join(one.sql.split("\n"))
                    lines.writerow((run, found[0][0], one.question_id, one.db_id, one.status, sql))
    return path


def runs_behind(folder: Path) -> list[str]:
    """The runs that an experiment's figures and tables are of."""
    told = (orjson.loads(path.read_bytes()) for path in folder.glob("*.json"))
    return [run for piece in told for run in piece["runs"]]
