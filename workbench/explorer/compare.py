"""Variants side by side: systems, runs, prompts or models, each against the first."""

import difflib
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any

import pandas as pd
import traitlets

from workbench.errors import BadInputError
from workbench.explorer.recording import (
    Call,
    amount,
    asked_prompts,
    changed,
    cost,
    record,
)
from workbench.lab import Lab
from workbench.llm.calls import check_model, runs_here
from workbench.prompts import Prompt, check_folder, load, names
from workbench.report.figures import differences
from workbench.report.tables import ResultTable, alone
from workbench.study.measures import notes_on
from workbench.study.run import Run, Runs
from workbench.study.solve import cached_records, keys_of, model_names
from workbench.study.study import Study
from workbench.systems.baselines import direct
from workbench.systems.generate import Generate
from workbench.systems.system import System, with_model
from workbench.types import Execution, Question
from workbench.widgets import Desk, differing, many, pair, result, script, to_page

Compared = System | Run | Prompt | Path | str
_PAIRED = ("difference", "low", "high", "won", "lost", "p_value")


@dataclass(frozen=True, slots=True, eq=False)
class Comparison:
    """Runs on the same questions, each against the first; a cell shows them as a grid."""

    study: Study
    runs: Mapping[str, Run]

    @property
    def table(self) -> ResultTable:
        """A row for each variant: EX, the paired difference, calls and dollars."""
        runs = Runs(self.runs, self.study.stamp)
        base = next(iter(runs))
        rows = runs.costs(against=base) if len(runs) > 1 else runs.costs()
        if len(runs) > 1:
            paired = differences(runs.questions).set_index("system")
            paired = paired.rename(columns={"p_value": "p"})[["won", "lost", "p"]]
            # The base has none won or lost, and a column with a gap would be of floats.
            rows = rows.join(paired).astype({"won": "Int64", "lost": "Int64"})
        note = (
            f"Changes are those from {base} on the same questions, in points of EX, with"
            " intervals over questions."
        )
        return rows.alone(
            "Variants side by side", f"{note} {notes_on(self.runs)}".rstrip()
        )

    @property
    def questions(self) -> ResultTable:
        """A row for each question with each variant's verdict; disputed ones, `flips`, first."""
        columns = {}
        for name, run in self.runs.items():
            columns[name] = run.questions.set_index("question_id")["correct"]
        verdicts = pd.DataFrame(columns).astype(bool)
        texts = {}
        for question in self.study.benchmark.questions:
            texts[question.id] = question.text
        rows = verdicts.replace({True: "right", False: "wrong"})
        rows.insert(0, "question", verdicts.index.map(texts))
        rows.insert(1, "flips", verdicts.any(axis=1) & ~verdicts.all(axis=1))
        rows = rows.sort_values("flips", ascending=False, kind="stable").reset_index()
        return alone(rows, self.study.stamp, "Questions by variants")

    def grid(self) -> dict[str, Any]:
        """The comparison as JSON for the page, without the rows that are opened."""
        heads = {name: self._head(name, run) for name, run in self.runs.items()}
        answers = {name: _answers(run) for name, run in self.runs.items()}
        by = "over questions"
        if len(self.runs) > 1:
            paired = differences(Runs(self.runs, self.study.stamp).questions)
            if "clustered low" in paired:
                by = "by database"
                paired["low"] = paired["clustered low"]
                paired["high"] = paired["clustered high"]
            for row in paired.to_dict("records"):
                head = heads[row["system"]]
                head |= {number: row[number] for number in _PAIRED}
        rows = []
        for question in self.study.benchmark.questions:
            cells = [answers[name][question.id] for name in self.runs]
            rows.append(
                {
                    "key": question.id,
                    "id": question.id,
                    "question": question.text,
                    "cells": cells,
                }
            )
        return {"heads": list(heads.values()), "rows": rows, "by": by}

    def _head(self, name: str, run: Run) -> dict[str, Any]:
        """What tells a column from the others: name, changes, models, calls and price."""
        questions = run.questions
        calls = questions["calls"].mean()
        dollars = questions["dollars"].mean()
        price = _price(run, dollars, questions["unpriced"].sum())
        return {
            "name": name,
            "note": summary(self.changes(name)),
            "models": ", ".join(sorted(model_names(run.system))),
            "cost": f"{calls:,.1f} calls, {price} a question",
            "ex": 100 * float(questions["correct"].mean()),
        }

    def changes(self, name: str) -> list[dict[str, str]]:
        """The prompts in which a run differs from the first one, with model and temperature."""
        base = next(iter(self.runs))
        return prompt_changes(self._asked(base), self._asked(name))

    def _asked(self, name: str) -> dict[str, dict[str, Any]]:
        run = self.runs[name]
        return asked_prompts(run.system, run.prompts)

    def opened(self, key: str) -> dict[str, Any]:
        """A question's gold, and each variant's query, result and reply."""
        lab, benchmark = self.study.lab, self.study.benchmark
        (question,) = (each for each in benchmark.questions if each.id == key)
        gold = benchmark.golds[key].sql
        cells = []
        for run in self.runs.values():
            selection = run.selection(key)
            trial = selection.trial
            cell = beside_gold(lab, question, gold, selection.sql)
            cell["reply"] = trial.candidate.reasoning if trial else ""
            cells.append(cell)
        return {
            "gold": gold,
            "goldResult": result(lab.run(question, gold)),
            "cells": cells,
        }

    def price(self, count: int) -> str:
        """The price of all variants on `count` questions: at most what answers have cost so far.

        Replies that are in the cache by then are not paid again.
        """
        if all(costs_nothing(run.system) for run in self.runs.values()):
            return "free"
        answers = pd.concat([run.questions for run in self.runs.values()])
        more_questions = count - len(self.study.benchmark.questions)
        most = more_questions * len(self.runs) * answers["dollars"].mean()
        return amount(0, most, answers["unpriced"].sum())

    def _repr_mimebundle_(self, **options: Any) -> Any:
        page = Grid(grid=self.grid())
        page.comparison = self
        return page._repr_mimebundle_(**options)

    def _repr_html_(self) -> str:
        return self.table.to_html()


def costs_nothing(system: System) -> bool:
    """Whether all models of a system run in this process."""
    return all(map(runs_here, model_names(system)))


def _price(run: Run, dollars: float, unpriced: float) -> str:
    if costs_nothing(run.system):
        return "free"
    return amount(dollars, dollars, unpriced)


def _answers(run: Run) -> dict[str, dict[str, Any]]:
    """By question: whether the answer is right, the query, and what it took."""
    answers = {}
    for row in run.questions.to_dict("records"):
        calls = many(int(row["calls"]), "call")
        price = _price(run, row["dollars"], row["unpriced"])
        answers[row["question_id"]] = {
            "right": bool(row["correct"]),
            "sql": row["sql"],
            "took": f"{calls}, {price}",
        }
    return answers


class Grid(Desk):
    """The page of a comparison; `setup` is empty but in the explorer."""

    _esm = script(Path(__file__).with_name("view.js"))
    setup: Any = traitlets.Dict().tag(sync=True, to_json=to_page)
    grid: Any = traitlets.Dict().tag(sync=True, to_json=to_page)
    comparison: Comparison | None = None  # that `grid` shows

    def do_open(self, key: str) -> dict[str, Any]:
        if not self.comparison:
            raise BadInputError("nothing is compared yet")
        return self.comparison.opened(key)

    def do_changes(self, name: str) -> list[dict[str, str]]:
        """The prompts that a column changes, before and after."""
        if not self.comparison:
            raise BadInputError("nothing is compared yet")
        return self.comparison.changes(name)


def prompt_changes(
    before: Mapping[str, Mapping[str, Any]], after: Mapping[str, Mapping[str, Any]]
) -> list[dict[str, str]]:
    """The prompts that differ, each with both sources and the fields that are new.

    A prompt that no step had before is compared with the packaged one of its name, which a step
    may ask that names it in its code.
    """
    packaged = names()
    changes = []
    for name, now in after.items():
        was = before.get(name)
        if was is None:
            was = {"source": load(name).source if name in packaged else ""}
        model, temperature = now.get("model", ""), now.get("T")
        fields = []
        if model and model != was.get("model"):
            fields.append(model)
        if temperature is not None and temperature != was.get("T"):
            fields.append(f"T {temperature}")
        if fields or now["source"] != was["source"]:
            changes.append(
                {
                    "prompt": name,
                    "before": was["source"],
                    "after": now["source"],
                    "fields": ", ".join(fields),
                }
            )
    return changes


def summary(changes: Sequence[Mapping[str, Any]]) -> str:
    """The changes in a line, with the numbers of lines that are new and gone."""
    if len(changes) > 3:
        return f"{len(changes)} prompts differ"
    texts = []
    for change in changes:
        text = change["prompt"].rpartition("/")[2]
        before, after = change["before"].splitlines(), change["after"].splitlines()
        signs = [line[0] for line in difflib.ndiff(before, after)]
        if before != after:
            text += f" +{signs.count('+')} −{signs.count('-')} lines"  # noqa: RUF001
        if change["fields"]:
            text += f", {change['fields']}"
        texts.append(text)
    return "; ".join(texts)


def beside_gold(lab: Lab, question: Question, gold: str, sql: str) -> dict[str, Any]:
    """A query with its result and its parts beside gold's; without a query, an error as its result.

    `differing` has what only its result has, and what only gold's has.
    """
    execution = Execution("error", error="no SQL")
    parts = []
    if sql:
        execution = lab.run(question, sql)
        parts = pair(gold, sql, lab.schema(question.db_id))
    return {
        "sql": sql,
        "result": result(execution),
        "pair": parts,
        "differing": differing(execution, lab.run(question, gold)),
    }


def compare(*variants: Compared, study: Study) -> Comparison:
    """Run variants on the questions of a study, each against the first.

    A variant is a system, a `Prompt` from a cell, a `Path` of a folder of prompts, or a model's
    name. The last three change the first system that is given, or else `direct`. A run stands for
    its system, whose answers are in the cache. The price of new calls is printed before they are
    made. `study=study.sample(10)` compares on ten questions.
    """
    if not variants:
        raise BadInputError("nothing to compare: give systems, runs, prompts or models")
    base = direct(study.model)
    for variant in reversed(variants):  # so that the first one is the base
        if isinstance(variant, System | Run):
            base = system_of(variant, study)
    runs: dict[str, Run] = {}
    for variant in variants:
        name, system, prompts = _made(variant, base, study)
        name = unused(name, runs)
        its_study = with_prompts(study, prompts)
        if not costs_nothing(system):
            print(f"{name}: {asked_anew(its_study, system)}", file=sys.stderr)
        runs[name] = its_study.run(system, name)
    return Comparison(study, runs)


def system_of(given: System | Run, study: Study) -> System:
    """The system, or that of a run of the study, whose settings gave its answers."""
    if isinstance(given, System):
        return given
    if given.id not in study.runs or given.prompts != study.lab.prompts:
        raise BadInputError(
            f"{given.name} is a run of another study or with other prompts: give that study, or the"
            " run's `system`, which is run anew, and after it the folder of its prompts"
        )
    return given.system


def _made(
    variant: Compared, base: System, study: Study
) -> tuple[str, System, Path | None]:
    """The name of a variant, its system, and its folder of prompts.

    A prompt that no step of the base asks becomes its generator, of any of its models.
    """
    models = sorted(model_names(base)) or [study.model]
    match variant:
        case System() | Run():
            return variant.name, system_of(variant, study), None
        case Prompt():
            system = changed(base, variant.name, {"prompt": variant})
            if system == base:
                generator = Generate(variant, models[0])
                system = replace(base, generate=(generator,))
            return variant.name.rpartition("/")[2], system, None
        case Path():
            folder = variant.expanduser().resolve()
            check_folder(folder)
            return variant.name, base, folder
        case str() if "/" in variant:
            check_model(variant)
            if len(models) > 1:
                raise BadInputError(
                    f"{base.name} asks {' and '.join(models)}: give a system for each"
                )
            return variant, with_model(base, models[0], variant), None
    raise BadInputError(
        f"{variant!r:.60} is no variant: give a system, a run, a Prompt, a Path of a folder of"
        " prompts, or a model's name such as openai/gpt-4o-mini"
    )


def with_prompts(study: Study, folder: Path | None) -> Study:
    """The study with a folder of prompts in place of its own."""
    if folder is None:
        return study
    return replace(study, lab=replace(study.lab, prompts=folder))


def unused(name: str, taken: Mapping[str, object]) -> str:
    """The name, with a number if it is taken."""
    number, free = 1, name
    while free in taken:
        number += 1
        free = f"{name} {number}"
    return free


def asked_anew(study: Study, system: System) -> str:
    """How many questions need new calls, and the price of the calls that are known."""
    missing = missing_calls(study, system)
    first = list(chain.from_iterable(missing))
    asked = many(len(study.benchmark.questions), "question")
    text = f"{len(missing):,} of {asked} need new calls"
    if not first:
        return text
    return f"{text}; the first {len(first):,} cost {cost(study.lab.client, first)}"


def missing_calls(study: Study, system: System) -> list[list[Call]]:
    """The calls that each question needs next, of the questions that are not solved yet."""
    system, questions = study.with_settings(system), study.benchmark.questions
    solved = cached_records(
        study.lab.client.cache, keys_of(system, questions, study.lab)
    )
    unsolved = [question for question in questions if question.id not in solved]
    missing = [record(system, question, study.lab).missing for question in unsolved]
    return list(filter(None, missing))
