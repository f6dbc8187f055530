"""`wb.measures`: what notebooks draw of runs: VES, duels, pools, turns, wrong golds."""

import math
import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd

from workbench.benchmarks.benchmark import Flaw, known_flaws, open_benchmark
from workbench.benchmarks.golds import with_golds
from workbench.benchmarks.predictions import candidates, read_predictions
from workbench.evaluate.ex import efficiency, ex_verdicts
from workbench.llm.calls import is_parser
from workbench.report.stamp import Stamp, question_ids
from workbench.report.stamp import runs as runs_of
from workbench.report.tables import share
from workbench.study.run import Run, Table, accuracy, cells
from workbench.study.study import Study
from workbench.types import Candidate, Schema

Candidates = dict[str, tuple[Candidate, ...]]


def ves(
    study: Study, runs: Mapping[str, Run], rounds: int = 10, repeats: int = 5
) -> Table:
    """VES of each run with its interval, in percent; BIRD times 100 rounds.

    With the embedded parser it counts SQLite's opcodes, which are the same on every machine, and is
    named so.
    """
    counts_opcodes = is_parser(study.model)
    name = "VES, opcodes" if counts_opcodes else "VES"
    rows = []
    for system, run in runs.items():
        scores = efficiency(
            study.benchmark,
            run.questions,
            study.lab.executor,
            by="opcodes" if counts_opcodes else "time",
            runs=rounds,
            repeats=repeats,
        )
        # A score has no upper bound, and the interval of a plain mean would have no width where
        # all scores are 1, as gold's are. So it is that of shares of the highest score.
        highest = max(1.0, scores["ves"].max())
        shares = accuracy(scores.assign(correct=scores["ves"] / highest))
        bounds = [highest * shares[bound] for bound in ("EX", "low", "high")]
        rows.append({"system": system} | cells(name, *bounds))
    return study.table(pd.DataFrame(rows))


def prompt_tokens(study: Study, run: Run) -> float:
    """The mean number of tokens of the prompts that asked for a candidate."""
    keys: set[str] = set()
    for selection in run.selections:
        for trial in selection.trials:
            keys.update(trial.history[0].candidate.call_keys)
    query = "SELECT avg(input_tokens) FROM calls WHERE key IN"
    return study.lab.client.cache.read_keys(query, sorted(keys))[0][0] or 0.0


def duels(run: Run) -> pd.DataFrame:
    """Return a judge's comparisons of a right with a wrong query (CHASE-SQL, table 5), one a row.

    `first` says which of both was shown first, and `correct` whether the judge preferred the right
    one.
    """
    # By question, in the order of its trials, whose indices a comparison has.
    right = run.trials.groupby("question_id")["correct"].agg(list)
    rows = []
    questions = run.questions[["run", "question_id", "db_id"]].to_dict("records")
    for question, selection in zip(questions, run.selections, strict=True):
        verdicts = right.get(selection.question_id, [])
        for duel in selection.comparisons:
            first, second = verdicts[duel.first], verdicts[duel.second]
            if first == second:
                continue
            better = duel.first if first else duel.second
            shown = "right" if first else "wrong"
            rows.append(question | {"first": shown, "correct": duel.winner == better})
    return pd.DataFrame(
        rows, columns=["run", "question_id", "db_id", "first", "correct"]
    )


def judged(duels: pd.DataFrame, label: str) -> dict[str, Any]:
    """Return a row: the percentage of duels that a judge decides correctly, with its interval."""
    right = dict.fromkeys(["EX", "low", "high"], math.nan)
    if len(duels):
        right = share(duels["correct"], duels["db_id"])
    return {
        "system": label,
        "duels": len(duels),
        "accuracy": right["EX"],
        "low": right["low"],
        "high": right["high"],
        "run": runs_of(duels),
        "question_ids": question_ids(duels),
        "counted": "all",
    }


def pooled(study: Study) -> tuple[Study, Candidates]:
    """Return the candidates in the experiment's `predictions`, or else the answers of our systems.

    The model of the returned study, which stamps name, is a sentence about these.
    """
    pool: Candidates = {}
    if files := study.experiment.predictions:
        benchmark = open_benchmark(study.experiment.benchmark, study.experiment.root)
        read = read_predictions(benchmark, *files)
        pool = candidates(read)
        model = f"predictions of {read['generator'].nunique()} systems"
    else:
        systems = [
            study.chase_sql(),
            study.chess_ir_cg_ut(),
            study.chess_ir_ss_cg(),
            study.mac_sql(),
            study.zero_shot(),
            study.zero_shot(think=False),
            study.direct(),
        ]
        runs = [study.run(system) for system in systems]
        for run in runs:
            for selection in run.selections:
                if selection.trial:
                    answer = replace(
                        selection.trial.candidate, generator=run.name, sample=0
                    )
                    others = pool.get(selection.question_id, ())
                    pool[selection.question_id] = (*others, answer)
        ids = pd.DataFrame({"run": [run.id for run in runs]})
        models = study.stamp.of(ids).models
        model = f"{models}, the answers of {len(runs)} systems"
    experiment = replace(study.experiment, model=model)
    return replace(study, session=replace(study.session, experiment=experiment)), pool


def best_first(trials: pd.DataFrame) -> pd.DataFrame:
    """The candidates, those of the most accurate generator first; of equal ones, by name."""
    shares = trials.groupby(["generator", "question_id"])["correct"].mean()
    by_name = shares.groupby("generator").mean()
    places = by_name.rank(ascending=False, method="first")
    return trials.sort_values(
        "generator", key=lambda names: names.map(places), kind="stable"
    )


def stamp_of_best(study: Study, trials: pd.DataFrame, number: int) -> Stamp:
    """Return the stamp of a figure that shows only so many of a pool's systems, the best ones."""
    if trials["generator"].nunique() <= number:
        return study.stamp
    return replace(study.stamp, asked=(f"{study.model}, best {number}",))


def lost(run: Run, study: Study) -> pd.DataFrame:
    """Return a row for each question with a right candidate that was not chosen."""
    texts = {question.id: question.text for question in study.benchmark.questions}
    questions = run.questions.rename(columns={"sql": "chosen"})  # the chosen SQL
    questions["question"] = questions["question_id"].map(texts)
    is_lost = questions["oracle"] & ~questions["correct"]
    names = ["question_id", "db_id", "difficulty", "question", "chosen", "run"]

    rows = questions.loc[is_lost, names]
    right = run.trials[run.trials["correct"]].groupby("question_id")
    by_question = pd.DataFrame(
        {
            "right": right["sql"].first(),
            "right by": right["generator"].unique().map(", ".join),
        }
    )
    return rows.join(by_question, on="question_id").assign(counted="all")


def merged(study: Study) -> tuple[Schema, ...]:
    """Return the schemas of all databases of the benchmark, and of the one to `train` on.

    CHESS's synthetic industrial-scale schema (section 4.1.1) draws from BIRD's dev and train.
    """
    paths = {}
    for name in filter(None, (study.experiment.benchmark, study.experiment.train)):
        folder = open_benchmark(name, study.experiment.root).databases
        for path in sorted(folder.glob("*/*.sqlite")):
            paths[path.stem] = path
    lab = replace(study.lab, database=paths.__getitem__)
    return tuple(lab.schema(db_id) for db_id in paths)


def notes_on(runs: Mapping[str, Run]) -> str:
    """Return sentences below a table of runs: unknown prices, and gold queries that fail."""
    notes = []
    unpriced = sum(run.questions["unpriced"].sum() for run in runs.values())
    if unpriced:
        notes.append(f"Calls of unknown price: {unpriced:,}.")
    questions = next(iter(runs.values())).questions
    failed = questions["question_id"][questions["gold_failed"]]
    if len(failed):
        ids = ", ".join(failed[:5])
        more = " and others" if len(failed) > 5 else ""
        notes.append(
            f"The gold queries of {len(failed)} of {len(questions)} questions fail, so that no"
            f" answer to them is right: {ids}{more}."
        )
    return " ".join(notes)


def turns(study: Study, run: Run) -> Table:
    """Return EX by the turns that an agent used, and how many ended without a query."""
    used: list[int] = []
    for selection in run.selections:
        first = [trial.history[0].candidate for trial in selection.trials]
        used += [candidate.queries + 1 for candidate in first]
    rows = []
    for number, part in run.trials.assign(turns=used).groupby("turns"):
        row = accuracy(part, str(number)) | {
            "without an answer": int((part["sql"] == "").sum())
        }
        rows.append(row | {"question_ids": question_ids(part)})
    return study.table(pd.DataFrame(rows).rename(columns={"system": "turns"}))


def flaws(study: Study) -> list[Flaw]:
    """Return the questions that are known to be flawed, wrong golds among them.

    Those are the flaws of a bundled benchmark, and the golds that the revision in the file
    `WORKBENCH_GOLDS` corrects: those whose result is wrong by the revised gold.
    """
    flaws = [*known_flaws(study.benchmark)]
    if file := os.environ.get("WORKBENCH_GOLDS"):
        revised = with_golds(study.benchmark, file)
        old_golds = [(id_, study.benchmark.golds[id_].sql) for id_ in revised.golds]
        still_right = ex_verdicts(revised, old_golds, study.lab.executor)
        note = f"{Path(file).name} corrects it"
        for (id_, gold), is_right in zip(
            revised.golds.items(), still_right, strict=True
        ):
            if not is_right:
                flaws.append(Flaw(id_, "wrong gold", note, gold.sql))
    return flaws


def flaws_from(study: Study) -> str:
    """Return where wrong golds are from, as the caption of a figure says it."""
    if file := os.environ.get("WORKBENCH_GOLDS"):
        return f"wrong golds are those that {Path(file).name} corrects"
    if known_flaws(study.benchmark):
        return "wrong golds are the benchmark's known flaws"
    return "wrong golds were not looked for"
