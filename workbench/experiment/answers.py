"""Every prediction behind an experiment's numbers, in one CSV file.

A run has the name that figures and tables give it, whichever notebook ended first. Runs that share a name get their
number of questions added, or else their id.
"""

import csv
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from workbench.spreadsheet import plain
from workbench.store import Store
from workbench.study.saved import read_index
from workbench.study.trace import candidates

COLUMNS = ("run", "system", "question_id", "db_id", "status", "sql")


def write_answers(folder: Path, runs: Mapping[str, str], store: Store) -> Path:
    """Write each run's chosen query for each question to `answers.csv` in the folder of the experiment's notebooks."""
    path = folder / "answers.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(COLUMNS)
        stored = store.read_keys("SELECT id, name FROM runs WHERE id IN", sorted(runs))
        names = {run: runs[run] or name for run, name in sorted(stored)}
        chosen = {run: [one for one in candidates(run, store) if one.chosen] for run in names}
        sizes = {run: f"{len(answers)} questions" for run, answers in chosen.items()}
        names = _with_unique_names(_with_unique_names(names, sizes), {run: run for run in names})
        for run, answers in chosen.items():
            for answer in answers:
                cells = (run, names[run], answer.question_id, answer.db_id, answer.status)
                rows.writerow(map(plain, (*cells, " ".join(answer.sql.split("\n")))))
    return path


def runs_behind(folder: Path) -> dict[str, str]:
    """The ids of the runs behind an experiment's figures and tables, each with all the names that they give it."""
    names: dict[str, set[str]] = {}
    for record in read_index(folder).values():
        for run, name in record["runs"].items():
            names.setdefault(run, set()).add(name)
    return {run: "; ".join(sorted(run_names - {""})) for run, run_names in names.items()}


def _with_unique_names(names: Mapping[str, str], details: Mapping[str, str]) -> dict[str, str]:
    """The names by run; runs that share a name get their detail added."""
    shared = {name for name, count in Counter(names.values()).items() if count > 1}
    return {
        run: f"{name}, {details[run]}" if name in shared else name for run, name in names.items()
    }
