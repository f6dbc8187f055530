"""Measures of runs that notebooks draw: VES and EM, a judge's duels, pools of candidates, and schemas to draw from."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import pandas as pd

from workbench.benchmarks.load import open_benchmark
from workbench.benchmarks.predictions import candidates, read_predictions
from workbench.evaluate.efficiency import efficiency
from workbench.evaluate.judge import judge
from workbench.evaluate.stats import mean_interval
from workbench.report.stamp import question_ids
from workbench.report.stamp import runs as runs_of
from workbench.study.run import Run, Table, accuracy, cells
from workbench.study.study import Study
from workbench.systems.select import result_of
from workbench.types import Candidate, Schema, lower_name

Candidates = dict[str, tuple[Candidate, ...]]


def ves(study: Study, runs: Mapping[str, Run], rounds: int = 10, repeats: int = 5) -> Table:
    """VES of each run with its interval, in percent; BIRD times 100 rounds.

    With the embedded parser it counts SQLite's opcodes, which are the same on every machine, and is named so.
    """
    counted = study.model.startswith("embedded/")
    how: Any = {"by": "opcodes" if counted else "time", "runs": rounds, "repeats": repeats}
    rows = []
    for name, run in runs.items():
        found = efficiency(study.benchmark, run.questions, study.lab.executor, **how)
        # An interval is of values from 0 to 1, and a score has no upper bound: scale by the highest one.
        top = max(1.0, found["ves"].max())
        row = cells("VES, opcodes" if counted else "VES", accuracy(found.assign(ves=found["ves"] / top), "", "ves"))  # fmt: skip
        rows.append({"system": name} | {key: top * bound for key, bound in row.items()})
    return study.table(pd.DataFrame(rows))


def exact_match(study: Study, runs: Mapping[str, Run]) -> Table:
    """Spider's exact match of each run, with its interval, in percent."""
    verdicts = {n: judge(study.benchmark, run.answers, study.lab.executor) for n, run in runs.items()}  # fmt: skip
    rows = [{"system": name} | cells("EM", accuracy(each, "", "em")) for name, each in verdicts.items()]  # fmt: skip
    return study.table(pd.DataFrame(rows, columns=["system", "EM", "EM low", "EM high"]))


def prompt_tokens(study: Study, run: Run) -> float:
    """The mean number of tokens of the prompts that asked for a candidate."""
    trials = [trial for one in run.selections for trial in one.trials]
    keys = {key for trial in trials for key in trial.history[0].candidate.call_keys}
    query = "SELECT key, input_tokens FROM calls WHERE key IN"
    found = [tokens for _, tokens in study.lab.client.cache.read_keys(query, sorted(keys))]
    return sum(found) / len(found) if found else 0.0


def duels(run: Run) -> pd.DataFrame:
    """The comparisons of a right with a wrong query that a run's judge made (CHASE-SQL, table 5), one row each.

    `first` says which of both was shown first, and `correct` whether the judge preferred the right one. `by_votes` is
    true if the right query is in the larger group of equal results, or in the first of two of one size.
    """
    right = run.trials.groupby("question_id")["correct"].agg(list)
    about: Any = run.questions.set_index("question_id")[["run", "db_id"]].to_dict("index")
    rows: list[dict[str, Any]] = []
    for selection in run.selections:
        key, trials = selection.question_id, selection.trials
        sizes = Counter(map(result_of, trials))
        for met in selection.comparisons:
            if right[key][met.first] == right[key][met.second]:
                continue
            first = right[key][met.first]
            better, worse = (met.first, met.second) if first else (met.second, met.first)
            good, bad = trials[better], trials[worse]
            lead = sizes[result_of(good)] - sizes[result_of(bad)]
            row = about[key] | {"question_id": key, "first": "right" if first else "wrong"}
            row |= {"right": good.candidate.sql, "wrong": bad.candidate.sql}
            rows.append(row | {"correct": met.winner == better, "by_votes": lead > -first})
    columns = "run question_id db_id first right wrong correct by_votes"
    return pd.DataFrame(rows, columns=columns.split())


def judged(duels: pd.DataFrame, label: str, column: str = "correct") -> dict[str, Any]:
    """A row of a table: the percentage of duels that a judge decides correctly.

    `steady` is the percentage of pairs in which the judge prefers the same query in both orders, and `first` the
    percentage of duels in which it prefers the first query.
    """
    right, row = duels[column].astype(float), {"system": label, "duels": len(duels)}
    shares = dict.fromkeys(("accuracy", "low", "high"), math.nan)
    if len(duels):
        found = mean_interval(right.tolist(), duels["db_id"].tolist())
        shares = {"accuracy": found.mean, "low": found.low, "high": found.high}
    by_pair = right.groupby([duels[name] for name in ("question_id", "right", "wrong")])
    shares["steady"] = (by_pair.min() == by_pair.max()).mean()
    shares["first"] = (right.eq(1) == duels["first"].eq("right")).mean()
    row |= {name: 100 * share for name, share in shares.items()}
    return row | {"run": runs_of(duels), "question_ids": question_ids(duels), "counted": "all"}


def pooled(study: Study) -> tuple[Study, Candidates]:
    """The candidates in the files that the experiment's `predictions` name, or else the answers of our own systems.

    The returned study names the files or systems in place of its model.
    """
    found: Candidates = {}
    if files := study.experiment.predictions:
        benchmark = open_benchmark(study.experiment.benchmark, study.experiment.root)
        read = read_predictions(benchmark, *files)
        found, model = candidates(read), f"predictions of {read['generator'].nunique()} systems"
    else:
        systems = (study.chase_sql(), study.chess_ir_cg_ut(), study.chess_ir_ss_cg())
        plain = (study.zero_shot(), study.zero_shot(think=False), study.direct())
        runs = [study.run(system) for system in (*systems, study.mac_sql(), *plain)]
        for run in runs:
            for one in run.selections:
                if one.trial:
                    own = replace(one.trial.candidate, generator=run.name, sample=0)
                    found[one.question_id] = (*found.get(one.question_id, ()), own)
        models = study.stamp.of(pd.DataFrame({"run": [run.id for run in runs]})).models
        model = f"{models}, the answers of {len(runs)} systems"
    return replace(study, experiment=replace(study.experiment, model=model)), found


def best_first(trials: pd.DataFrame) -> pd.DataFrame:
    """The candidates, those of the most accurate generator first; of equal ones, by name."""
    shares = trials.groupby(["generator", "question_id"])["correct"].mean()
    right = shares.groupby("generator").mean()
    names = right.sort_values(ascending=False, kind="stable").index.tolist()
    return trials.sort_values("generator", key=lambda own: own.map(names.index), kind="stable")


def lost(run: Run, study: Study) -> pd.DataFrame:
    """A row for each question with a right candidate that was not chosen.

    A row has the chosen query, the right candidate with most votes, and the generators of right candidates. `votes`
    and `right votes` count the candidates with the same result as the chosen and as the right query.
    """
    asked, trials = run.questions, run.trials
    sizes = trials[trials["group"] >= 0].groupby(["question_id", "group"])["sql"].transform("size")
    trials = trials.assign(votes=sizes.reindex(trials.index, fill_value=0))
    texts = {question.id: question.text for question in study.benchmark.questions}
    about = ["question_id", "db_id", "difficulty"]
    rows = []
    for row in asked[asked["oracle"] & ~asked["correct"]][about].to_dict("records"):
        own = trials[trials["question_id"] == row["question_id"]]
        right, chosen = own[own["correct"]], own[own["chosen"]]
        best = right.loc[right["votes"].idxmax()]
        row |= {"question": texts[row["question_id"]], "chosen": "".join(chosen["sql"])}
        row |= {"votes": chosen["votes"].sum(), "right": best["sql"], "right votes": best["votes"]}
        row |= {"right by": ", ".join(right["generator"].unique())}
        rows.append(row | {"run": run.id, "counted": "all"})
    names = [*about, "question", "chosen", "votes", "right", "right votes", "right by", "run"]
    return pd.DataFrame(rows, columns=[*names, "counted"])


def merged(study: Study) -> tuple[Schema, ...]:
    """The schemas of all databases of the benchmark, and of the one that the experiment names to `train`.

    CHESS's synthetic industrial-scale schema (section 4.1.1) draws from BIRD's dev and train. Of several tables with the same name and columns, only the first is taken.
    """
    seen: set[tuple[str, ...]] = set()
    schemas: list[Schema] = []
    for name in dict.fromkeys(filter(None, (study.experiment.benchmark, study.experiment.train))):
        benchmark = open_benchmark(name, study.experiment.root)
        lab = replace(study.lab, database=benchmark.database)
        for path in sorted(benchmark.databases.glob("*/*.sqlite")):
            schema = lab.schema(path.parent.name)
            tables = {
                tuple(map(lower_name, (table.name, *(one.name for one in table.columns)))): table
                for table in schema.tables
            }
            fresh = tuple(table for key, table in tables.items() if key not in seen)
            schemas.append(replace(schema, tables=fresh))
            seen.update(tables)
    return tuple(schemas)


def notes_on(runs: Iterable[Run]) -> str:
    """Sentences below a table of runs on the same questions: unknown prices, and gold queries that fail."""
    notes, several = [], list(runs)
    for run in several:
        if calls := int(run.questions["unpriced"].sum()):
            said = f"{calls:,} call{'s' * (calls > 1)} of {run.name}"
            notes.append(f"The price of {said} is unknown, and so are its dollars.")
    asked = several[0].questions
    if ids := asked["question_id"][asked["gold_failed"]].tolist():
        some = ", ".join(ids[:5]) + ", ..." * (len(ids) > 5)
        fault = f"The gold query of {len(ids)} of {len(asked)} questions fails ({some})"
        notes.append(f"{fault}: no answer to them is right.")
    return " ".join(notes)
