"""`wb.labels`: the errors that figures draw, and the gold queries that annotators correct.

An error is a person's label of a case, or where there is none, a rule's guess.
"""

from collections import defaultdict
from collections.abc import Callable, Mapping
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from workbench.benchmarks.benchmark import Flaw
from workbench.benchmarks.benchmark import known_flaws as known_flaws  # noqa: PLC0414  exported
from workbench.canonical import indented
from workbench.errors import naming
from workbench.label.cases import Case, Taxonomy, cases, suggested
from workbench.label.cases import open_taxonomy as open_taxonomy  # noqa: PLC0414
from workbench.label.labeller import label as label  # noqa: PLC0414
from workbench.label.store import ADJUDICATOR, BOTH_RIGHT, CORRECTED, GOLD, Label, final
from workbench.label.store import LabelStore as LabelStore  # noqa: PLC0414
from workbench.report.stamp import question_ids
from workbench.sql.reading import normal_form
from workbench.study import measures
from workbench.study.run import Run, Table
from workbench.study.saved import Piece
from workbench.study.study import Study
from workbench.systems.system import System

_COLUMNS = [
    "question_id",
    "db_id",
    "generator",
    "error",
    "detail",
    "automatic",
    "apart",
    "note",
    "system",
    "run",
    "counted",
]


def errors(study: Study, runs: Mapping[str, Run], taxonomy: str) -> pd.DataFrame:
    """Return a row for each label of each run's cases: its `error`, `detail` and why (`note`).

    A rule's guess is `automatic`. An error that the taxonomy sets `apart` has a row, too, and no
    place in the figure.
    """
    kinds = open_taxonomy(taxonomy)
    by_hand = final(LabelStore.named(study.benchmark.name).labels(kinds.name))
    flaws = {flaw.question_id: flaw for flaw in measures.flaws(study)}
    apart = {category.name for category in kinds.categories if category.apart}
    rows = []
    for system, run in runs.items():
        for case in cases(study, run, kinds):
            flaw = flaws.get(case.question.id)
            for name, note, automatic in _labels(case, kinds, by_hand, flaw):
                error, _, detail = name.partition(" / ")
                row = {
                    "question_id": case.question.id,
                    "db_id": case.question.db_id,
                    "generator": case.generator,
                    "error": error,
                    "detail": detail,
                    "automatic": automatic,
                    "apart": error in apart,
                    "note": note,
                    "system": system,
                    "run": run.id,
                    "counted": "chosen",
                }
                rows.append(row)
    return pd.DataFrame(rows, columns=_COLUMNS)


def _labels(
    case: Case, kinds: Taxonomy, by_hand: Mapping[str, Label | None], flaw: Flaw | None
) -> list[tuple[str, str, bool]]:
    """Return the labels of a case, each with its note, and whether a rule gave it."""
    if case.key not in by_hand:
        guess = suggested(case, kinds, flaw)
        if guess is None:
            return [("not labelled", "", False)]
        name, why = guess
        return [(name, why, True)]
    by_people = by_hand[case.key]
    if by_people is None:
        return [("disputed", "", False)]
    return [(name, by_people.note, False) for name in by_people.categories]


def systems(study: Study, taxonomy: str) -> dict[str, System]:
    """Return the systems whose answers the taxonomy's paper sorts, as the experiment has them."""
    by_name = {}
    for function, role in open_taxonomy(taxonomy).systems.items():
        system = getattr(study, function)(model=study.models[role])
        by_name[system.name] = system
    return by_name


def save(
    study: Study,
    name: str,
    labels: pd.DataFrame,
    draw: Callable[..., Figure],
    **options: Any,
) -> Piece:
    """Draw and save the labels that are not set `apart`; the stamp counts the automatic ones."""
    drawn = labels[~labels["apart"].astype(bool)]
    flaws = measures.flaws_from(study)
    stamp = f"{study.stamp.of(labels)}; {by_rule(drawn)}; {flaws}"
    if drawn.empty:
        nothing = study.table(drawn).alone("There is no error to sort")
        return study.save(name, nothing, labels, stamp)
    figure = draw(drawn, stamp=stamp, **options)
    return study.save(name, figure, labels, stamp)


def by_rule(labels: pd.DataFrame) -> str:
    automatic = labels["automatic"].sum()
    return f"{automatic} of {len(labels)} labels are automatic"


def shares(
    study: Study,
    labels: pd.DataFrame,
    kinds: "Mapping[str, pd.Series[bool]] | None" = None,
) -> Table:
    """Return shares in percent: a row for each error, or with `kinds` one for each system."""
    masks = kinds or {"share": pd.Series(True, labels.index)}
    rows = []
    for name, part in labels.groupby("system" if kinds else "error", sort=not kinds):
        n = len(part if kinds else labels)
        row = {"system": name, "n": n}
        for kind, mask in masks.items():
            row[kind] = 100 * mask[part.index].sum() / n
        row["run"] = " ".join(part["run"].unique())
        row["question_ids"] = question_ids(part)
        rows.append(row)
    columns = ["system", "n", *masks, "run", "question_ids"]
    return study.table(pd.DataFrame(rows, columns=columns))


def write_golds(study: Study) -> str:
    """Write the gold with the annotators' corrections beside the labels, and say what changed.

    `workbench evaluate --gold NAME=FILE` judges by the file. A gold query that annotators correct
    in different ways is left as it is until the adjudicator corrects it.
    """
    store = LabelStore.named(study.benchmark.name)
    verdicts: defaultdict[tuple[str, str], list[Label]] = defaultdict(list)
    for verdict in store.labels(GOLD):
        verdicts[verdict.db_id, verdict.question].append(verdict)
    items = []
    corrected = 0
    both = 0
    left = []
    for question in study.benchmark.questions:
        counting = _that_count(verdicts[question.db_id, question.text])
        if any(BOTH_RIGHT in verdict.categories for verdict in counting):
            both += 1
        queries: dict[str, str] = {}  # by their normal form, in the words of the first
        for verdict in counting:
            if CORRECTED in verdict.categories:
                queries.setdefault(normal_form(verdict.note), verdict.note)
        sql = study.benchmark.golds[question.id].sql
        if len(queries) == 1:
            (sql,) = queries.values()
            corrected += 1
        elif queries:
            left.append(question.id)
        items.append({"question_id": question.id, "db_id": question.db_id, "SQL": sql})
    file = store.path.with_suffix(".golds.json")
    with naming(file):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(indented(items))
    counts = (
        f"{corrected} gold queries corrected, {both} questions with two right answers"
    )
    return f"{file}: {counts}; corrected in several ways and left: {', '.join(left) or 'none'}"


def _that_count(verdicts: list[Label]) -> list[Label]:
    """Return the adjudicator's verdict, or else everybody's."""
    settled = [verdict for verdict in verdicts if verdict.annotator == ADJUDICATOR]
    return settled or verdicts
