"""Variants side by side on the same questions: systems, runs, prompts or models, each against the first."""

import sys
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pandas as pd
import traitlets

from workbench.errors import BadInputError
from workbench.explorer.recording import amount, cost, record
from workbench.lab import Lab
from workbench.llm.calls import check_model, runs_here
from workbench.prompts import Prompt, check_folder
from workbench.report.figures import differences
from workbench.report.tables import ResultTable, alone
from workbench.study.measures import notes_on
from workbench.study.run import Run, Runs
from workbench.study.solve import model_names
from workbench.study.study import Study, open_study
from workbench.systems.baselines import direct
from workbench.systems.generate import Generate
from workbench.systems.system import System, rebuilt, with_model
from workbench.types import Execution, Question
from workbench.widgets import Desk, pair, result, script, shown

Variant = System | Run | Prompt | Path | str


@dataclass(frozen=True, slots=True, eq=False)
class Comparison:
    """Runs on the same questions, each against the first. As the last line of a cell it shows a grid, a row a question."""

    study: Study
    runs: Mapping[str, Run]
    notes: Mapping[str, str] = field(default_factory=dict)  # what a variant changes

    @property
    def table(self) -> ResultTable:
        """A row for each variant: EX, the paired difference with its interval and p, calls and dollars."""
        runs, base = Runs(self.runs, self.study.stamp), next(iter(self.runs))
        rows = runs.costs(against=base if len(runs) > 1 else "")
        if len(runs) > 1:
            found = differences(runs.questions).set_index("system").reindex(rows.index)
            rows.insert(8, "p", found["p_value"])
            for place, name in enumerate(("won", "lost"), 9):
                rows.insert(place, name, found[name].astype("Int64"))  # the base has neither
        note = f"Changes are those from {base} on the same questions, in points of EX."
        return rows.alone("Variants side by side", f"{note} {notes_on(self.runs)}".rstrip())

    @property
    def questions(self) -> ResultTable:
        """A row for each question with each variant's verdict; disputed questions, `flips`, come first."""
        verdicts = pd.DataFrame(
            {n: run.questions.set_index("question_id")["correct"] for n, run in self.runs.items()}
        ).astype(bool)
        flips = verdicts.any(axis=1) & ~verdicts.all(axis=1)
        texts = {question.id: question.text for question in self.study.benchmark.questions}
        found = verdicts.replace({True: "right", False: "wrong"})
        found.insert(0, "question", verdicts.index.map(texts))
        found.insert(1, "flips", flips)
        found = found.sort_values("flips", ascending=False, kind="stable").reset_index()
        return alone(found, self.study.stamp, "Questions by variants")

    def grid(self) -> dict[str, Any]:
        """The comparison as JSON for the page, without the rows that are opened."""
        runs, paired = Runs(self.runs, self.study.stamp), pd.DataFrame(columns=["system"])
        if len(runs) > 1:
            paired = differences(runs.questions)
        by = "clustered " if "clustered low" in paired else ""
        found, heads, cells = paired.set_index("system").to_dict("index"), [], []
        for name, run in self.runs.items():
            head: dict[str, Any] = {"name": shown(name), "note": shown(self.notes.get(name, ""))}
            head["ex"] = 100 * float(run.questions["correct"].mean())
            if one := found.get(name):
                head |= {key: one[key] for key in ("difference", "won", "lost", "p_value")}
                head["ends"] = [one[f"{by}{end}"] for end in ("low", "high")]
            heads.append(head)
            answers = run.questions[["question_id", "correct", "sql"]].itertuples(index=False)
            cells.append({key: [bool(right), shown(sql, 400)] for key, right, sql in answers})
        rows = [
            {"id": one.id, "question": shown(one.text, 600), "cells": [of[one.id] for of in cells]}
            for one in self.study.benchmark.questions
        ]
        return {"heads": heads, "rows": rows, "by": "by database" if by else "over questions"}

    def opened(self, key: str) -> dict[str, Any]:
        """A question's gold, and each variant's query, result and reply."""
        (question,) = (one for one in self.study.benchmark.questions if one.id == key)
        lab, gold = self.study.lab, self.study.benchmark.golds[key].sql
        cells = []
        for run in self.runs.values():
            trial = run.selection(key).trial
            reply = trial.candidate.reasoning if trial else ""
            found = answer(lab, question, gold, trial.candidate.sql if trial else "")
            cells.append(found | {"reply": shown(reply, 20_000)})
        ran = result(lab.run(question, gold))
        return {"gold": shown(gold, 20_000), "goldResult": ran, "cells": cells}

    def price(self, count: int) -> str:
        """The price of all variants on `count` questions, by what a question cost so far."""
        more = count - len(next(iter(self.runs.values())).questions)
        models = {model for run in self.runs.values() for model in model_names(run.system)}
        costs = pd.concat([run.questions[["dollars", "unpriced"]] for run in self.runs.values()])
        one, unpriced = costs["dollars"].mean() * len(self.runs), costs["unpriced"].sum()
        return "free" if all(map(runs_here, models)) else amount(0, more * one, unpriced)

    def _repr_mimebundle_(self, **options: Any) -> Any:
        page = Grid(grid=self.grid())
        page.found = self
        return page._repr_mimebundle_(**options)

    def _repr_html_(self) -> str:
        return self.table.to_html()


class Grid(Desk):
    """The page of a comparison; `setup` is empty in a cell of its own, and names the systems in the explorer."""

    _esm = script(Path(__file__).with_name("view.js"))
    setup: Any = traitlets.Dict().tag(sync=True)
    grid: Any = traitlets.Dict().tag(sync=True)
    found: Comparison  # that `grid` shows

    def do_open(self, key: str) -> dict[str, Any]:
        return self.found.opened(key)


def answer(lab: Lab, question: Question, gold: str, sql: str) -> dict[str, Any]:
    """A query with its result and its parts beside gold's; without a query, an error as its result."""
    ran = lab.run(question, sql) if sql else Execution("error", error="no SQL")
    aligned = pair(gold, sql, lab.schema(question.db_id)) if sql else []
    return {"sql": shown(sql, 20_000), "result": result(ran), "pair": aligned}


def compare(
    *variants: Variant,
    study: Study | None = None,
    benchmark: str = "bundled-dev",
    limit: float | None = None,
    **settings: Any,
) -> Comparison:
    """Run variants on the same questions, each against the first.

    A variant is a system, a run, a `Prompt` from a cell, a `Path` of a folder of prompts, or a model's name. The last
    three change the first system that is given, or else `direct`. If runs are given, all variants answer the runs'
    questions. Without a `study`, `open_study(benchmark, **settings)` opens one. The price of new calls is printed before
    they are made.
    """
    if not variants:
        raise BadInputError("nothing to compare: give systems, runs, prompts or models")
    given = (one.system if isinstance(one, Run) else one for one in variants)
    base = next((one for one in given if isinstance(one, System)), None)
    if study is None:  # closed when the process ends
        own = model_names(base) if base else {one for one in variants if isinstance(one, str)}
        if own:
            settings = {"model": min(own), **settings}
        study = open_study(benchmark, limit=limit, **settings)
    elif limit is not None:
        study = study.sample(limit)
    for run in (one for one in variants if isinstance(one, Run)):
        ids = set(run.questions["question_id"])
        asked = tuple(one for one in study.benchmark.questions if one.id in ids)
        study = replace(study, benchmark=replace(study.benchmark, questions=asked))
    runs: dict[str, Run] = {}
    for one in variants:
        if isinstance(one, Run):
            runs[unused(one.name, runs)] = one
            continue
        name, system, prompts = _made(one, base or direct(study.model), study.model)
        name, own_study = unused(name, runs), with_prompts(study, prompts)
        if not all(map(runs_here, model_names(system))):
            print(f"{name}: {asked_anew(own_study, system)}", file=sys.stderr)
        runs[name] = own_study.run(system, name)
    return Comparison(study, runs)


def _made(variant: Variant, base: System, model: str) -> tuple[str, System, Path | None]:
    """The name of a variant, its system, and its folder of prompts."""
    own = sorted(model_names(base)) or [model]
    match variant:
        case System():
            return variant.name, variant, None
        case Prompt():
            system = changed(base, variant.name, {"prompt": variant})
            if system == base:
                system = replace(base, generate=(Generate(variant, own[0]),))
            return variant.name.rpartition("/")[2], system, None
        case Path():
            check_folder(variant.expanduser())
            return variant.name, base, variant.expanduser()
        case str() if "/" in variant:
            check_model(variant)
            if len(own) > 1:
                raise BadInputError(f"{base.name} asks {' and '.join(own)}: give a system for each")
            return variant, with_model(base, own[0], variant), None
    raise BadInputError(
        f"{variant!r:.60} is no variant: give a system, a run, a Prompt, a Path of a folder of prompts, or a model's"
        " name such as openai/gpt-4o-mini"
    )


def changed(system: System, prompt: str, fields: Mapping[str, Any]) -> System:
    """The system with other fields in the steps that ask this prompt."""

    def change(step: Any) -> Any:
        own = getattr(step, "prompt", None)
        return replace(step, **fields) if prompt in (own, getattr(own, "name", None)) else step

    return rebuilt(system, change)


def with_prompts(study: Study, folder: Path | None) -> Study:
    """The study with a folder of prompts in place of its own."""
    return replace(study, lab=replace(study.lab, prompts=folder)) if folder else study


def unused(name: str, taken: Mapping[str, object]) -> str:
    """The name, with a number if it is taken."""
    numbered = (f"{name} {number}" for number in range(2, len(taken) + 3))
    return name if name not in taken else next(one for one in numbered if one not in taken)


def asked_anew(study: Study, system: System) -> str:
    """The number of questions that need new calls, and the price of the calls that are known so far."""
    made = study.with_settings(system)
    missing = [record(made, one, study.lab).missing for one in study.benchmark.questions]
    first = [call for calls in missing for call in calls]
    words = f"{sum(map(bool, missing)):,} of {len(missing):,} questions need new calls"
    price = f"; the first {len(first):,} cost {cost(study.lab.client, first)}"
    return words + price * bool(first)
