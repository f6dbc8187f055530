"""`wb.labels`: the errors that figures draw, and the gold queries that annotators correct.

An error is a person's label of a case, or where there is none, a rule's guess.
"""

from collections import defaultdict
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import pandas as pd
from matplotlib.figure import Figure

from workbench.benchmarks.benchmark import Flaw, known_flaws
from workbench.canonical import indented
from workbench.errors import naming
from workbench.label.cases import Case, Taxonomy, cases, open_taxonomy, suggested
from workbench.label.labeller import label
from workbench.label.store import CORRECTED, GOLD, Label, LabelStore, counting, final
from workbench.report.stamp import question_ids
from workbench.sql.reading import normal_form
from workbench.study import measures
from workbench.study.run import Run, Table
from workbench.study.saved import Piece
from workbench.study.study import Study
from workbench.systems.system import System

__all__ = [
    "LabelStore",
    "by_rule",
    "errors",
    "known_flaws",
    "label",
    "open_taxonomy",
    "save",
    "shares",
    "systems",
    "write_golds",
]
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
            for counted in _counted(case, kinds, by_hand, flaw):
                error, _, detail = counted.name.partition(" / ")
                row = {
                    "question_id": case.question.id,
                    "db_id": case.question.db_id,
                    "generator": case.generator,
                    "error": error,
                    "detail": detail,
                    "automatic": counted.automatic,
                    "apart": error in apart,
                    "note": counted.note,
                    "system": system,
                    "run": run.id,
                    "counted": "chosen",
                }
                rows.append(row)
    return pd.DataFrame(rows, columns=_COLUMNS)


class _Counted(NamedTuple):
    """A label that counts in the figures."""

    name: str
    note: str = ""
    automatic: bool = False  # given by a rule


def _counted(
    case: Case, kinds: Taxonomy, by_hand: Mapping[str, Label | None], flaw: Flaw | None
) -> list[_Counted]:
    """Return the labels of a case."""
    if case.key not in by_hand:
        guess = suggested(case, kinds, flaw)
        return [_Counted(*guess, automatic=True) if guess else _Counted("not labelled")]
    by_people = by_hand[case.key]
    if by_people is None:
        return [_Counted("disputed")]
    return [_Counted(name, by_people.note) for name in by_people.categories]


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
    """Return shares in percent: a row for each error, or with `kinds` one for each system.

    An error's share is that of all labels, and a kind's that of the system's labels. `kinds` has
    for each kind which labels are of it.
    """
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
    corrected = []
    undecided = []
    both_right = []
    for question in study.benchmark.questions:
        queries: dict[str, str] = {}  # by their normal form, in the words of the first
        for verdict in counting(verdicts[question.db_id, question.text]):
            if CORRECTED in verdict.categories:
                queries.setdefault(normal_form(verdict.note), verdict.note)
            else:
                both_right.append(question.id)
        sql = study.benchmark.golds[question.id].sql
        if len(queries) == 1:
            sql = next(iter(queries.values()))
            corrected.append(question.id)
        elif queries:
            undecided.append(question.id)
        items.append({"question_id": question.id, "db_id": question.db_id, "SQL": sql})
    file = store.path.with_suffix(".golds.json")
    with naming(file):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(indented(items))
    return (
        f"{file}: {len(corrected)} gold queries corrected,"
        f" {len(set(both_right))} questions with two right answers;"
        f" corrected in several ways and left: {', '.join(undecided) or 'none'}"
    )
