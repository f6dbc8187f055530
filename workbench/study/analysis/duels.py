"""How often a judge prefers a right query to a wrong one (CHASE-SQL, table 5).

As in pairwise selection, one query represents all queries with the same result, and a judge compares each pair in both
orders. A judge that always prefers the first query is right in half of the comparisons; a judge that names no query is
right in none.
"""

from collections import Counter
from collections.abc import Iterator
from typing import Any

import pandas as pd

from workbench import replies
from workbench.evaluate.stats import mean_interval
from workbench.report.stamp import question_ids
from workbench.study.progress import counts, report
from workbench.study.runs import Run
from workbench.study.study import Study
from workbench.systems.chase_sql import Pairwise, pool
from workbench.systems.select import drawn, representatives, result_of
from workbench.systems.system import prepare
from workbench.types import Context, Question


def duels(study: Study, run: Run, judge: Pairwise) -> pd.DataFrame:
    """A row for each pair and order: both queries, which one was `first`, and whether the judge was `correct`.

    `by_votes` is true if the right query is in the larger group, or in the first of two groups of one size.
    """
    lab = study.lab
    correct_by_question = {
        str(question): verdicts.tolist()
        for question, verdicts in run.trials.groupby("question_id", sort=False)["correct"]
    }

    def duels_of(question: Question) -> Iterator[dict[str, Any]]:
        trials = run.selection(question.id).trials
        is_right = correct_by_question[question.id]
        context = Context(question, lab.schema(question.db_id))
        indices = pool(trials, study.suspect or judge.suspect)
        sizes = Counter(result_of(trials[index]) for index in indices)
        shown = representatives(trials, drawn(context, trials, indices)).values()
        pairs = [(a, b) for a in shown for b in shown if is_right[a] and not is_right[b]]
        if not pairs:
            return
        context = prepare(run.system, question, lab)
        orders = [pair for a, b in pairs for pair in ((a, b), (b, a))]
        requests = [judge.request(lab, context, trials[a], trials[b]) for a, b in orders]
        winners = [answer.value for answer in lab.ask_many(requests, replies.letter)]
        by_pair = zip(pairs, winners[::2], winners[1::2], strict=True)
        for (good, bad), right_first, wrong_first in by_pair:
            votes = [sizes[result_of(trials[index])] for index in (good, bad)]
            decided = {"right": right_first == "A", "wrong": wrong_first == "B"}
            for first, correct in decided.items():
                yield {
                    "run": run.id,
                    "question_id": question.id,
                    "db_id": question.db_id,
                    "first": first,
                    "right": trials[good].candidate.sql,
                    "wrong": trials[bad].candidate.sql,
                    "correct": correct,
                    "by_votes": votes[0] > votes[1] - (first == "right"),
                }

    failed_before = sum(lab.client.ledger.failed.values())
    questions = study.benchmark.questions
    rows = lab.each(lambda one: list(duels_of(one)), questions, threads=4)
    made = counts(lab.client.ledger.total())
    made["failed"] = sum(lab.client.ledger.failed.values()) - failed_before
    report(id="duels", run="duels", done=len(rows), total=len(rows), **made)
    columns = "run question_id db_id first right wrong correct by_votes"
    return pd.DataFrame([row for some in rows for row in some], columns=columns.split())


def judged(duels: pd.DataFrame, label: str, column: str = "correct") -> dict[str, Any]:
    """A row of a table: the percentage of duels that a judge decides correctly.

    `steady` is the percentage of pairs in which the judge prefers the same query in both orders, and `first` the
    percentage of duels in which it prefers the first query.
    """
    if duels.empty:
        measured = ("accuracy", "low", "high", "steady", "first")
        return {"system": label, "duels": 0} | dict.fromkeys(measured, float("nan")) | {"run": ""}
    interval = mean_interval(duels[column].astype(float).tolist(), duels["db_id"].tolist())
    took_first = duels[column].astype(bool) == (duels["first"] == "right")
    by_pair = duels.groupby(["question_id", "right", "wrong"])[column]
    return {
        "system": label,
        "duels": len(duels),
        "accuracy": 100 * interval.mean,
        "low": 100 * interval.low,
        "high": 100 * interval.high,
        "steady": 100 * (by_pair.min() == by_pair.max()).mean(),
        "first": 100 * took_first.mean(),
        "run": " ".join(duels["run"].unique()),
        "question_ids": question_ids(duels),
        "counted": "all",
    }
