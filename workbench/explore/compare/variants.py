"""Variants of one system on the same questions, side by side: other prompts, other models.

The first variant is the base: every other one is compared with it, question by question. Questions on which variants
disagree come first, and each question opens its queries, replies and results.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

import pandas as pd

from workbench.explore.prompt.running import answer_parts, side_by_side
from workbench.html.parts import Html, details, line, pre, table, view, views
from workbench.html.tree import Node
from workbench.report.figures.accuracy import differences
from workbench.report.tables import ResultTable, alone
from workbench.study.measures import notes_on
from workbench.study.run import Run
from workbench.study.study import Study

LISTED = 50  # questions on a page without a kernel


@dataclass(frozen=True, slots=True, eq=False)
class Variants:
    """The study and the run of each variant, by its name; the first is the base."""

    studies: Mapping[str, Study] = field(repr=False)
    runs: Mapping[str, Run]

    @property
    def study(self) -> Study:
        """The study of the base."""
        return next(iter(self.studies.values()))

    def table(self) -> ResultTable:
        """A row for each variant: EX, the difference from the base with its interval and p, calls and dollars."""
        asked = pd.concat([run.questions.assign(system=name) for name, run in self.runs.items()])
        rows = pd.DataFrame([run.row(name) for name, run in self.runs.items()])
        if len(self.runs) > 1:
            found = differences(asked)[
                ["system", "difference", "low", "high", "p_value", "won", "lost"]
            ]
            names = {"low": "difference low", "high": "difference high", "p_value": "p"}
            rows = rows.merge(found.rename(columns=names), on="system", how="left")
            rows = rows.astype({"won": "Int64", "lost": "Int64"})  # the base has neither
        base = next(iter(self.runs))
        note = f"Differences are those from {base} on the same questions, in points of EX."
        notes = [note, notes_on(self.runs.values())]
        return alone(rows, self.study.stamp, "Variants side by side", " ".join(filter(None, notes)))

    def matrix(self) -> pd.DataFrame:
        """A row for each question and a verdict for each variant; questions on which they disagree come first."""
        texts = {question.id: question.text for question in self.study.benchmark.questions}
        verdicts = pd.DataFrame(
            {n: run.questions.set_index("question_id")["correct"] for n, run in self.runs.items()}
        ).astype(bool)
        flips = verdicts.any(axis=1) & ~verdicts.all(axis=1)
        order = flips.sort_values(ascending=False, kind="stable").index
        about = pd.DataFrame(
            {"question": verdicts.index.map(texts), "flips": flips}, verdicts.index
        )
        return about.join(verdicts).loc[order].reset_index()

    def rows(self) -> list[tuple[str, ...]]:
        """The `matrix` in words: id, a sign where the variants disagree, question, and each variant's verdict."""
        answers = {name: distinct(run) for name, run in self.runs.items()}
        rows = []
        for one in self.matrix().to_dict("records"):
            key, sign = one["question_id"], "≠" if one["flips"] else ""
            verdicts = (verdict(answers[name][key], correct=one[name]) for name in self.runs)
            rows.append((key, sign, one["question"], *verdicts))
        return rows

    def disagreement(self) -> str:
        """A sentence that says on how many questions the variants disagree."""
        found = self.matrix()["flips"]
        return f"The variants disagree on {found.sum():,} of {len(found):,} questions, which come first."

    def questions(self) -> ResultTable:
        """The `matrix` as a table."""
        found = self.matrix()
        found[[*self.runs]] = found[[*self.runs]].replace({True: "right", False: "wrong"})
        return alone(found, self.study.stamp, "Questions by variants")

    def close(self) -> None:
        """Close the study, which all variants share."""
        self.study.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _repr_mimebundle_(self, **options: Any) -> Any:
        from workbench.explore.compare.variants_view import VariantsView  # noqa: PLC0415  commands need no widgets

        shown = VariantsView(self.study.benchmark.name)
        shown.show(self)
        return shown._repr_mimebundle_(**options)

    def _repr_html_(self) -> str:
        """The table and the first questions without their replies, for a page without a kernel."""
        rows = self.rows()
        more = f"The first {LISTED} of {len(rows):,} are listed; " if len(rows) > LISTED else ""
        listed = view(
            "Questions by variants",
            line(self.disagreement()),
            line(f"{more or 'Replies are left out: '}run the cell again to open any question."),
            table(("id", "differ", "question", *self.runs), rows[:LISTED]),
        )
        return views(Html(self.table().to_html()), listed)

    def question_html(self, key: str, *, plans: bool = False) -> Html:
        """A question with each variant's answers, how often it gave them, its reply, and its result beside gold's.

        With `plans`, also each answer's query plan beside gold's.
        """
        beside_gold = answer_parts if plans else side_by_side
        (question,) = (one for one in self.study.benchmark.questions if one.id == key)
        parts: list[Node] = []
        for name, run in self.runs.items():
            lab, sql = self.study.lab, run.selection(key).sql
            shown = beside_gold(lab, self.study.benchmark, question, sql)
            right = bool(run.questions.set_index("question_id")["correct"][key])
            answers = distinct(run, key)[key]
            title = f"{name}: {verdict(answers, correct=right)}"
            parts.append(details(title, *_opened(run, key, answers), *shown, shown=True))
        return view(f"{key}: {question.text}", *parts, kind="wb-flip")


@dataclass(frozen=True, slots=True)
class Answer:
    """One of the different answers to a question: how many candidates gave it, and whether it is right and chosen."""

    count: int
    correct: bool
    chosen: bool
    sql: str


def distinct(run: Run, question: str = "") -> dict[str, list[Answer]]:
    """The different answers to each question, or to the given question alone, the most frequent first.

    Candidates with equal results give one answer; candidates without a result give one answer for each query.
    """
    names = ["question_id", "group", "sql", "correct", "chosen"]
    found: dict[str, dict[Any, Answer]] = {key: {} for key in run.questions["question_id"]}
    trials = run.trials[run.trials["question_id"] == question] if question else run.trials
    for key, group, sql, correct, chosen in trials[names].itertuples(index=False):
        alike = group if group >= 0 else sql
        before = found[key].get(alike, Answer(0, bool(correct), chosen=False, sql=sql))
        taken = before.chosen or bool(chosen)
        found[key][alike] = replace(before, count=before.count + 1, chosen=taken)
    return {
        key: sorted(answers.values(), key=lambda answer: -answer.count)
        for key, answers in found.items()
    }


def verdict(answers: Sequence[Answer], *, correct: bool) -> str:
    """A verdict in words, with the number of different answers where there are several candidates."""
    word = "✓ right" if correct else "✗ wrong"
    asked = sum(answer.count for answer in answers)
    return f"{word} · {len(answers)} different of {asked}" if asked > 1 else word


def _opened(run: Run, question: str, answers: Sequence[Answer]) -> list[Node]:
    """The different answers to a question, and the reply behind the chosen one."""
    asked = sum(answer.count for answer in answers)
    rows = [
        (
            f"{answer.count} of {asked}",
            "✓ right" if answer.correct else "✗ wrong",
            "★ chosen" if answer.chosen else "",
            answer.sql or "no query",
        )
        for answer in answers
    ]
    trial = run.selection(question).trial
    reply = trial.candidate.reasoning if trial else ""
    return [
        table(("times", "verdict", "", "SQL"), rows) if rows else line("No query."),
        *([details("The reply behind it", pre(reply))] if reply else []),
    ]
