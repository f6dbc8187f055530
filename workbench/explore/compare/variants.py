"""Variants of one system on the same questions, side by side: other prompts, other models.

The first variant is the base: every other one is compared with it, question by question. A question on which
variants disagree stands before those on which they agree, and each verdict opens the query and the reply behind it.
"""

import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Self

import pandas as pd
import yaml

from workbench.errors import BadInputError
from workbench.explore.prompt.running import answer_parts
from workbench.explore.prompt.steps import record
from workbench.html.parts import Html, details, heading, line, pre, table, view, views
from workbench.html.tree import Element
from workbench.llm.preview import preview
from workbench.llm.provider import is_ours
from workbench.report.figures.compare import differences
from workbench.report.tables import ResultTable, alone
from workbench.study.opening import open_study
from workbench.study.runs import Run
from workbench.study.study import Study
from workbench.systems.system import System
from workbench.types import Selection

OPEN = 12  # questions whose answers are shown in full; each takes up a screen
Folder = str | Path | None


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
        note = f"Differences are those from {base!r} on the same questions, in points of EX."
        return alone(rows, self.study.stamp, "Variants side by side", note)

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

    def questions(self) -> ResultTable:
        """The `matrix` as a table."""
        found = self.matrix()
        found[[*self.runs]] = found[[*self.runs]].replace({True: "right", False: "wrong"})
        return alone(found, self.study.stamp, "Questions by variants")

    def save(self, folder: str | Path, *notebooks: str) -> list[Path]:
        """Write an experiment for each variant into a folder, to run these notebooks with `workbench reproduce`."""
        written = []
        for name, study in self.studies.items():
            own = study.experiment
            settings = {
                "about": f"{name}, one of {len(self.runs)} variants.",
                "benchmark": own.benchmark,
                "root": str(own.root) if own.root else None,
                "model": own.model,
                "parameters": own.parameters or None,
                "prompts": str(own.prompts.resolve()) if own.prompts else None,
                "limit": len(study.benchmark.questions),
                "notebooks": dict.fromkeys(notebooks),
            }
            given = {key: value for key, value in settings.items() if value is not None}
            path = Path(folder) / f"{re.sub(r'[^A-Za-z0-9]+', '_', name).strip('_')}.yaml"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(yaml.safe_dump(given, sort_keys=False), encoding="utf-8")
            written.append(path)
        return written

    def close(self) -> None:
        """Close the study, which all variants share."""
        self.study.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _repr_html_(self) -> str:
        return views(Html(self.table().to_html()), self._matrix_html(), *self._opened())

    def _matrix_html(self) -> Html:
        found = self.matrix()
        rows = []
        for row in found.to_dict("records"):
            cells = (
                self._cell(run, row["question_id"], row[name]) for name, run in self.runs.items()
            )
            rows.append((row["question_id"], row["question"], *cells))
        count = int(found["flips"].sum())
        return view(
            "Questions by variants",
            line(
                f"The variants disagree on {count:,} of {len(found):,} questions, which come first."
            ),
            table(("id", "question", *self.runs), rows),
            kind="wb-variants",
        )

    def _cell(self, run: Run, question: str, correct: bool) -> Element:
        chosen = run.selection(question).trial
        sql = chosen.candidate.sql if chosen else ""
        reply = chosen.candidate.reasoning if chosen else ""
        shown = [
            pre(sql or "no query"),
            *([heading("The reply before it"), pre(reply)] if reply else []),
        ]
        return details("✓ right" if correct else "✗ wrong", *shown)

    def _opened(self) -> Iterator[Html]:
        """The first questions that flip, each with every variant's query and result beside gold's."""
        found = self.matrix()
        questions = {question.id: question for question in self.study.benchmark.questions}
        for key in found.loc[found["flips"], "question_id"][:OPEN]:
            parts = []
            for name, run in self.runs.items():
                shown = answer_parts(
                    self.study.lab, self.study.benchmark, questions[key], _sql(run.selection(key))
                )
                parts.append(details(name, *shown))
            yield view(f"{key}: {questions[key].text}", *parts, kind="wb-flip")


def _sql(selection: Selection) -> str:
    return selection.trial.candidate.sql if selection.trial else ""


def compare(
    system: Callable[[str], System],
    *,
    prompts: Sequence[Folder] = (None,),
    models: Sequence[str] = (),
    benchmark: str = "bundled-dev",
    limit: int | None = None,
    **settings: Any,
) -> Variants:
    """Run a system with each folder of prompts and each model, and compare them question by question.

    `system` makes the system for a model: `wb.direct`, or `lambda model: wb.chase_sql(model, samples=3)`. None
    among the prompts stands for the packaged ones. `settings` are those of `open_study`, such as `dollars`. What
    is asked anew is printed before it is asked.
    """
    with ExitStack() as stack:
        study = stack.enter_context(open_study(benchmark, limit=limit, **settings))
        named = _named(study, prompts, models)
        if len(named) == 1:
            named = {system(part.model).name: part for part in named.values()}
        for name, part in named.items():
            if len(named) > 1 and not is_ours(part.model):
                print(f"{name}: {_asked_anew(part, system(part.model))}", file=sys.stderr)
        runs = {name: part.run(system(part.model), name) for name, part in named.items()}
        stack.pop_all()  # the caller closes the study
    return Variants(named, runs)


def _named(study: Study, prompts: Sequence[Folder], models: Sequence[str]) -> dict[str, Study]:
    """The study of each variant, by a name that has no more than what tells them apart."""
    folders = list(dict.fromkeys(Path(folder) if folder else None for folder in prompts))
    for folder in folders:
        if folder and not folder.is_dir():
            raise BadInputError(f"{folder}: no such folder of prompts")
    several = list(dict.fromkeys(models or [study.model]))
    short = len({folder.name for folder in folders if folder}) == sum(map(bool, folders))
    named = {}
    for folder in folders:
        words = "packaged prompts" if folder is None else folder.name if short else str(folder)
        for model in several:
            parts = [words] * (len(folders) > 1) + [model] * (len(several) > 1)
            named[", ".join(parts)] = _variant(study, folder, model)
    return named


def _variant(study: Study, prompts: Path | None, model: str) -> Study:
    """The same study with another model, and another folder of prompts unless it is None."""
    prompts = prompts or study.lab.prompts
    experiment = replace(study.experiment, prompts=prompts, model=model)
    return replace(study, experiment=experiment, lab=replace(study.lab, prompts=prompts))


def _asked_anew(study: Study, system: System) -> str:
    """How many questions need new calls, and what the first of these calls cost at least."""
    questions = study.benchmark.questions
    found = [record(study.with_settings(system), question, study.lab) for question in questions]
    missing = [recording for recording in found if recording.missing]
    requests = [step.request for recording in missing for step in recording.steps]
    return (
        f"{len(missing):,} of {len(questions):,} questions need new calls. "
        f"The first of these calls: {preview(study.lab.client, requests)}"
    )
