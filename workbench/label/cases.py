"""The cases to label: wrong answers of a run, with the gold query and both results."""

import hashlib
import math
import random
from dataclasses import dataclass, replace
from functools import cached_property

from workbench.label.taxonomy import Taxonomy
from workbench.sql.reading import normal_form, normalise_text
from workbench.study.run import Run
from workbench.study.study import Study
from workbench.types import Execution, Question, Schema

_KEPT_ROWS = 1_000  # of each result, so that three hundred cases fit in memory


@dataclass(frozen=True)
class Case:
    """A wrong prediction with its gold query."""

    question: Question
    difficulty: str
    gold: str  # SQL
    predicted: str  # SQL
    generator: str
    gold_execution: Execution
    execution: Execution
    schema: Schema
    agreeing: int = 1  # candidates of the question with the same result as the prediction
    candidates: int = 1

    @cached_property
    def key(self) -> str:
        return case_key(self.question.db_id, self.question.text, self.predicted)


def case_key(db_id: str, question: str, sql: str) -> str:
    """The key of a case in the label store: the same after a rerun, under another id, and for another layout of the query."""
    text = "\n".join((db_id, question, normal_form(sql)))
    return hashlib.sha256(text.encode(errors="replace")).hexdigest()[:20]


def cases(study: Study, run: Run, taxonomy: Taxonomy) -> tuple[Case, ...]:
    """The run's wrong answers that the taxonomy sorts, or its share of them, in the benchmark's order.

    The share is drawn by the questions' ids, so a rerun that changes a few answers keeps most of the sample.
    """
    trials = run.trials
    if trials.empty:
        return ()
    wrong = trials[trials["chosen"] & ~trials["correct"]]
    if taxonomy.cases != "wrong":
        had_one = wrong["question_id"].map(run.questions.set_index("question_id")["oracle"])
        wrong = wrong[had_one.astype(bool) == (taxonomy.cases == "selection failed")]
    ids = sorted(wrong["question_id"], key=lambda key: random.Random(f"0 {key} question").random())  # noqa: S311  a sample, no secret
    drawn = ids[: math.ceil(len(ids) * taxonomy.share)]
    questions = {question.id: question for question in study.benchmark.questions}
    groups = trials.groupby("question_id")["group"]
    agreeing, candidates = groups.value_counts(), groups.size()
    found = []
    for row in wrong[wrong["question_id"].isin(drawn)].to_dict("records"):
        question, group = questions[row["question_id"]], row["group"]
        gold = study.benchmark.golds[question.id].sql
        # The verdicts ran the queries in this form, so their results are cached.
        queries = [normalise_text(sql) for sql in (gold, row["sql"])]
        ran = study.lab.run_many(question, queries)
        first, second = (replace(one, rows=one.rows[:_KEPT_ROWS]) for one in ran)
        about = (question, row["difficulty"], gold, row["sql"], row["generator"], first, second)
        agree = int(agreeing[question.id, group]) if group >= 0 else 1
        schema, many = study.lab.schema(question.db_id), int(candidates[question.id])
        found.append(Case(*about, schema, agree, many))
    return tuple(found)
