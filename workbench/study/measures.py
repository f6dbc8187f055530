"""Measures of runs that notebooks draw: VES and EM, a judge's duels, pools of candidates, and schemas to draw from."""

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
from workbench.study.run import BY_GOLD, FAILED_BY_GOLD, Run, Table, accuracy, cells
from workbench.study.study import Study
from workbench.systems.select import result_of
from workbench.types import Candidate, Schema, lower_name

Candidates = dict[str, tuple[Candidate, ...]]


def ves(study: Study, runs: Mapping[str, Run], rounds: int = 10, repeats: int = 5) -> Table:
    """VES of each run with its interval, in percent; BIRD times 100 rounds.

    With the embedded parser it counts SQLite's opcodes, which are the same on every machine, and is named so.
    """
    counted = study.model.startswith("embedded/")
    options: Any = {"by": "opcodes" if counted else "time", "runs": rounds, "repeats": repeats}
    rows = []
    for name, run in runs.items():
        found = efficiency(study.benchmark, run.questions, study.lab.executor, **options)
        # An interval is of values from 0 to 1, and a score has no upper bound: scale by the highest one.
        top = max(1.0, found["ves"].max())
        row = accuracy(found.assign(ves=found["ves"] / top), name, "ves")
        row |= {bound: top * row[bound] for bound in ("EX", "low", "high")}
        rows.append({"system": name} | cells("VES, opcodes" if counted else "VES", row))
    return study.table(pd.DataFrame(rows))


def exact_match(study: Study, runs: Mapping[str, Run]) -> Table:
    """Spider's exact match of each run, with its interval, in percent."""
    rows = []
    for name, run in runs.items():
        verdicts = judge(study.benchmark, run.answers, study.lab.executor)
        rows.append({"system": name} | cells("EM", accuracy(verdicts, column="em")))
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
            better, worse = sorted((met.first, met.second), key=lambda i: not right[key][i])
            good, bad, first = trials[better], trials[worse], met.first == better
            lead = sizes[result_of(good)] - sizes[result_of(bad)]
            row: Any = {"right": good.candidate.sql, "wrong": bad.candidate.sql, "question_id": key}
            row |= {"first": "right" if first else "wrong", "correct": met.winner == better}
            rows.append(about[key] | row | {"by_votes": lead > -first})
    columns = "run question_id db_id first right wrong correct by_votes"
    return pd.DataFrame(rows, columns=columns.split())


def judged(duels: pd.DataFrame, label: str, column: str = "correct") -> dict[str, Any]:
    """A row of a table: the percentage of duels that a judge decides correctly.

    `steady` is the percentage of pairs in which the judge prefers the same query in both orders, and `first` the
    percentage of duels in which it prefers the first query.
    """
    shares = dict.fromkeys(("accuracy", "low", "high", "steady", "first"), float("nan"))
    if not duels.empty:
        by_pair = duels.groupby(["question_id", "right", "wrong"])[column]
        found = mean_interval(duels[column].astype(float).tolist(), duels["db_id"].tolist())
        steady = (by_pair.min() == by_pair.max()).mean()
        first = (duels[column].astype(bool) == (duels["first"] == "right")).mean()
        shares = dict(zip(shares, (found.mean, found.low, found.high, steady, first), strict=True))
    row = {"system": label, "duels": len(duels)} | {name: 100 * x for name, x in shares.items()}
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
    missed = asked[asked["oracle"].astype(bool) & ~asked["correct"].astype(bool)]
    sizes = trials[trials["group"] >= 0].groupby(["question_id", "group"])["sql"].transform("size")
    trials = trials.assign(votes=sizes.reindex(trials.index, fill_value=0))
    texts = {question.id: question.text for question in study.benchmark.questions}
    rows = []
    for key in missed["question_id"]:
        own = trials[trials["question_id"] == key]
        right, chosen = own[own["correct"].astype(bool)], own[own["chosen"]]
        best = right.loc[right["votes"].idxmax()]
        row = {name: best[name] for name in ("question_id", "db_id", "difficulty")}
        row |= {"question": texts[key], "chosen": "".join(chosen["sql"])}
        row |= {"votes": chosen["votes"].sum(), "right": best["sql"], "right votes": best["votes"]}
        row |= {"right by": ", ".join(right["generator"].unique())}
        rows.append(row | {"run": run.id, "counted": "all"})
    names = ["question_id", "db_id", "difficulty", "question", "chosen", "votes", "right"]
    return pd.DataFrame(rows, columns=[*names, "right votes", "right by", "run", "counted"])


def merged(study: Study) -> tuple[Schema, ...]:
    """The schemas of all databases of the benchmark, and of the one that the experiment names to `train`.

    CHESS's synthetic industrial-scale schema (section 4.1.1) draws from BIRD's dev and train. Of several tables with the same name and columns, only the first is taken.
    """
    seen: set[tuple[str, ...]] = set()
    schemas: list[Schema] = []
    names = [study.experiment.benchmark, study.experiment.train]
    for name in dict.fromkeys(filter(None, names)):
        benchmark = open_benchmark(name, study.experiment.root)
        lab = replace(study.lab, database=benchmark.database)
        for path in sorted(benchmark.databases.glob("*/*.sqlite")):
            schema = lab.schema(path.parent.name)
            tables: dict[tuple[str, ...], Any] = {}
            for table in schema.tables:
                own = (table.name, *(column.name for column in table.columns))
                tables[tuple(map(lower_name, own))] = table
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
    fails = [(f"{len(asked)} questions", asked["gold_failed"])]
    for column in asked.columns[asked.columns.str.startswith(BY_GOLD)]:
        name, revised = column.removeprefix(BY_GOLD), asked[column].count()
        fails.append((f"{revised} questions of {name}", asked[FAILED_BY_GOLD + name]))
        if revised < len(asked):
            of = f"{revised} of the {len(asked)} questions"
            notes.append(f"{name} has {of}: its EX and change are of these.")
    for among, failed in fails:
        if ids := asked["question_id"][failed].tolist():
            some = ", ".join(ids[:5]) + ", ..." * (len(ids) > 5)
            fault = f"The gold query of {len(ids)} of {among} fails ({some})"
            notes.append(f"{fault}: no answer to them is right.")
    return " ".join(notes)
