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
    "shares_by_system",
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
                rows.append(
                    {
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
                )
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
        if not guess:
            return [_Counted("not labelled")]
        return [_Counted(*guess, automatic=True)]
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


def shares(study: Study, labels: pd.DataFrame) -> Table:
    """Return a row for each error with its share of all labels, in percent."""
    rows = []
    for error, part in labels.groupby("error"):
        share = 100 * len(part) / len(labels)
        row = {"system": error, "n": len(labels), "share": share}
        rows.append(row | _origin(part))
    return study.table(pd.DataFrame(rows, columns=["system", "n", "share", *_ORIGIN]))


def shares_by_system(
    study: Study, labels: pd.DataFrame, kinds: "Mapping[str, pd.Series[bool]]"
) -> Table:
    """Return a row for each system with the shares of its labels that are of each kind, in percent.

    `kinds` has by name which of all labels are of that kind.
    """
    rows = []
    for system, part in labels.groupby("system", sort=False):
        row: dict[str, Any] = {"system": system, "n": len(part)}
        for kind, is_of_kind in kinds.items():
            row[kind] = 100 * is_of_kind[part.index].mean()
        rows.append(row | _origin(part))
    return study.table(pd.DataFrame(rows, columns=["system", "n", *kinds, *_ORIGIN]))


_ORIGIN = ("run", "question_ids")  # the columns that say what a row was counted from


def _origin(part: pd.DataFrame) -> dict[str, str]:
    runs = " ".join(part["run"].unique())
    return dict(zip(_ORIGIN, (runs, question_ids(part)), strict=True))


def write_golds(study: Study) -> str:
    """Write the gold with the annotators' verdicts beside the labels, and say what changed.

    A corrected query takes the place of gold; one that is right beside gold is a further answer.
    A question without a verdict stays as it is, and so does one that annotators correct in
    different ways, until the adjudicator corrects it. Stored results stay, too, unless a corrected
    query takes their place: no query stands beside them. `workbench evaluate --gold NAME=FILE`
    judges by the file.
    """
    store = LabelStore.named(study.benchmark.name)
    verdicts_on = defaultdict[tuple[str, str], list[Label]](list)
    for verdict in store.labels(GOLD):
        verdicts_on[verdict.db_id, verdict.question].append(verdict)
    items = []
    changed = []
    undecided = []
    stored = []
    for question in study.benchmark.questions:
        corrections: dict[
            str, str
        ] = {}  # by their normal form, in the words of the first
        further = []
        for verdict in counting(verdicts_on[question.db_id, question.text]):
            if CORRECTED in verdict.categories:
                corrections.setdefault(normal_form(verdict.note), verdict.note)
            else:
                further.append(verdict.sql)
        gold = study.benchmark.golds[question.id]
        queries = [gold.sql, *gold.others]
        is_corrected = len(corrections) == 1
        if is_corrected:
            queries = list(corrections.values())
        elif corrections:
            undecided.append(question.id)
        item: dict[str, Any] = {"question_id": question.id, "db_id": question.db_id}
        if is_corrected or (further and not gold.results):
            item["SQL"] = list(dict.fromkeys([*queries, *further]))
            changed.append(question.id)
        elif further:
            stored.append(question.id)
        items.append(item)
    file = store.path.with_suffix(".golds.json")
    with naming(file):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(indented(items))
    return (
        f"{file}: {len(changed)} gold queries changed;"
        f" corrected in several ways and left: {', '.join(undecided) or 'none'};"
        f" right beside stored results, which stay alone: {', '.join(stored) or 'none'}"
    )
