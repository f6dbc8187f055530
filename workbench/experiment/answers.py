"""Every prediction behind an experiment's numbers, in one CSV file."""

import csv
from collections.abc import Sequence
from pathlib import Path

import orjson

from workbench.store import Store
from workbench.study.trace import candidates

NAME = "answers.csv"
FIELDS = ("run", "system", "question_id", "db_id", "status", "sql")


def write_answers(folder: Path, runs: Sequence[str], store: Store) -> Path:
    """Write each run's chosen query for each question to `answers.csv` beside the figures."""
    path = folder / NAME
    with path.open("w", encoding="utf-8", newline="") as file:
        lines = csv.writer(file, lineterminator="\n")
        lines.writerow(FIELDS)
        for run in sorted(set(runs)):
            names = store.read("SELECT name FROM runs WHERE id = ?", (run,))
            for answer in candidates(run, store) if names else ():
                if answer.chosen:
                    about = (run, names[0][0], answer.question_id, answer.db_id, answer.status)
                    lines.writerow((*about, " ".join(answer.sql.split("\n"))))
    return path


def runs_behind(folder: Path) -> list[str]:
    """The ids of the runs behind an experiment's figures and tables."""
    records = (orjson.loads(path.read_bytes()) for path in folder.glob("*.json"))
    return [run for record in records for run in record["runs"]]
