"""The errors that figures draw: what people say of each case, and else what rules guess."""

from collections.abc import Callable, Mapping
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from workbench.benchmarks.benchmark import Benchmark
from workbench.benchmarks.bundled import Flaw, load_flaws
from workbench.label.agreement import final
from workbench.label.cases import cases
from workbench.label.rules import suggested
from workbench.label.store import LabelStore
from workbench.label.taxonomy import open_taxonomy
from workbench.report.stamp import question_ids
from workbench.report.style import UNLABELLED
from workbench.report.tables import ResultTable
from workbench.study.run import Run, Table
from workbench.study.study import Study

DISPUTED = "disputed"
_COLUMNS = ["question_id", "db_id", "generator", "error", "detail", "automatic", "apart", "note"]
_COLUMNS += ["system", "run", "counted"]


def errors(study: Study, runs: Mapping[str, Run], taxonomy: str) -> pd.DataFrame:
    """A row for each label of the cases of each run: its `error` and `detail`, and why (`note`).

    A person's label counts before a rule's, which is `automatic`. The frame has the errors that the taxonomy sets
    `apart`; the paper's figure leaves them out.
    """
    kinds = open_taxonomy(taxonomy)
    by_hand = final(LabelStore.named(study.benchmark.name).labels(kinds.name))
    flaws = {flaw.question_id: flaw for flaw in known_flaws(study.benchmark)}
    apart = {category.name for category in kinds.categories if category.apart}
    rows = []
    every = [(name, run, case) for name, run in runs.items() for case in cases(study, run, kinds)]
    for system, run, case in every:
        label = by_hand.get(case.key)
        guess = None if case.key in by_hand else suggested(case, kinds, flaws.get(case.question.id))
        missing = DISPUTED if case.key in by_hand else UNLABELLED
        names = label.categories if label else (guess[0] if guess else missing,)
        note = label.note if label else guess[1] if guess else ""
        for name in names:
            error, _, detail = name.partition(" / ")
            kind = (error, detail, guess is not None, error in apart, note)
            of = (system, run.id, "chosen")
            rows.append((case.question.id, case.question.db_id, case.generator, *kind, *of))
    return pd.DataFrame(rows, columns=_COLUMNS)


def save(
    study: Study, name: str, labels: pd.DataFrame, draw: Callable[..., Figure], **options: Any
) -> Figure | ResultTable:
    """Draw the labels that are not set `apart`, and save the figure; its stamp says how many labels rules gave."""
    drawn = labels[~labels["apart"].astype(bool)]
    stamp = f"{study.stamp.of(labels)}; {by_rule(drawn)}"
    if drawn.empty:
        return study.save(
            name, study.table(drawn).alone("There is no error to sort"), labels, stamp
        )
    return study.save(name, draw(drawn, stamp=stamp, **options), labels, stamp)


def by_rule(labels: pd.DataFrame) -> str:
    return f"{labels['automatic'].sum()} of {len(labels)} labels are automatic"


def shares(
    study: Study, labels: pd.DataFrame, kinds: "Mapping[str, pd.Series[bool]] | None" = None
) -> Table:
    """The share of each error in percent, a row for each; or of each of `kinds`, a row for each system."""
    rows: list[dict[str, Any]] = []
    for name, part in labels.groupby("system" if kinds else "error", sort=bool(not kinds)):
        row = {"system": name, "n": len(part if kinds else labels)}
        found = {kind: mask[part.index].mean() for kind, mask in (kinds or {}).items()}
        row |= {kind: 100 * x for kind, x in (found or {"share": len(part) / len(labels)}).items()}
        row |= {"run": " ".join(part["run"].unique()), "question_ids": question_ids(part)}
        rows.append(row)
    columns = ["system", "n", *(kinds or ["share"]), "run", "question_ids"]
    return study.table(pd.DataFrame(rows, columns=columns))


def known_flaws(benchmark: Benchmark) -> tuple[Flaw, ...]:
    """The known flaws of a bundled benchmark's questions; none for other benchmarks."""
    bundled, _, split = benchmark.name.partition("-")
    return load_flaws(split) if bundled == "bundled" else ()
