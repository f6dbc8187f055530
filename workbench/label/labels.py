"""`wb.labels`: the errors that figures draw, and the gold queries that annotators correct.

An error is what people say of a case, and else what rules guess.
"""

from collections import defaultdict
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import orjson
import pandas as pd
from matplotlib.figure import Figure

from workbench.benchmarks.load import known_flaws as known_flaws  # noqa: PLC0414  exported
from workbench.errors import naming
from workbench.label.agreement import agreement as agreement  # noqa: PLC0414
from workbench.label.agreement import disputes as disputes  # noqa: PLC0414
from workbench.label.agreement import final
from workbench.label.cases import cases as cases  # noqa: PLC0414
from workbench.label.labeller import label as label  # noqa: PLC0414
from workbench.label.rules import suggested
from workbench.label.store import ADJUDICATOR, BOTH_RIGHT, CORRECTED, GOLD, Label
from workbench.label.store import LabelStore as LabelStore  # noqa: PLC0414
from workbench.label.taxonomy import open_taxonomy as open_taxonomy  # noqa: PLC0414
from workbench.report.stamp import question_ids
from workbench.report.style import UNLABELLED
from workbench.report.tables import ResultTable
from workbench.sql.reading import normal_form
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
        question, said = case.question, by_hand.get(case.key)
        guess = None if case.key in by_hand else suggested(case, kinds, flaws.get(question.id))
        missing = DISPUTED if case.key in by_hand else UNLABELLED
        names = said.categories if said else (guess[0] if guess else missing,)
        note = said.note if said else guess[1] if guess else ""
        for name in names:
            error, _, detail = name.partition(" / ")
            kind = (error, detail, guess is not None, error in apart, note)
            about = (question.id, question.db_id, case.generator)
            rows.append((*about, *kind, system, run.id, "chosen"))
    return pd.DataFrame(rows, columns=_COLUMNS)


def save(
    study: Study, name: str, labels: pd.DataFrame, draw: Callable[..., Figure], **options: Any
) -> Figure | ResultTable:
    """Draw the labels that are not set `apart`, and save the figure; its stamp says how many labels rules gave."""
    drawn = labels[~labels["apart"].astype(bool)]
    stamp = f"{study.stamp.of(labels)}; {by_rule(drawn)}"
    if drawn.empty:
        nothing = study.table(drawn).alone("There is no error to sort")
        return study.save(name, nothing, labels, stamp)
    return study.save(name, draw(drawn, stamp=stamp, **options), labels, stamp)


def by_rule(labels: pd.DataFrame) -> str:
    return f"{labels['automatic'].sum()} of {len(labels)} labels are automatic"


def shares(
    study: Study, labels: pd.DataFrame, kinds: "Mapping[str, pd.Series[bool]] | None" = None
) -> Table:
    """The share of each error in percent, a row for each; or of each of `kinds`, a row for each system."""
    rows: list[dict[str, Any]] = []
    for name, part in labels.groupby("system" if kinds else "error", sort=bool(not kinds)):
        own = {kind: mask[part.index].mean() for kind, mask in (kinds or {}).items()}
        own = own or {"share": len(part) / len(labels)}
        row = {"system": name, "n": len(part if kinds else labels)}
        row |= {kind: 100 * share for kind, share in own.items()}
        row |= {"run": " ".join(part["run"].unique()), "question_ids": question_ids(part)}
        rows.append(row)
    columns = ["system", "n", *(kinds or ["share"]), "run", "question_ids"]
    return study.table(pd.DataFrame(rows, columns=columns))


def write_golds(study: Study, path: str | Path | None = None) -> str:
    """Write the benchmark's gold with the annotators' corrections, and say what changed.

    `workbench evaluate --gold NAME=FILE` judges by the file, which lies beside the labels by default. Where annotators
    correct a gold query differently it stays as it is, until the adjudicator corrects it.
    """
    store = LabelStore.named(study.benchmark.name)
    file = Path(path) if path else store.path.with_suffix(".golds.json")
    said: defaultdict[tuple[str, str], list[Label]] = defaultdict(list)
    for one in store.labels(GOLD):
        said[one.db_id, one.question].append(one)
    items, corrected, both, disputed = [], 0, 0, []
    for question in study.benchmark.questions:
        given = said[question.db_id, question.text]
        given = [one for one in given if one.annotator == ADJUDICATOR] or given
        both += any(BOTH_RIGHT in one.categories for one in given)
        right = [one.note for one in reversed(given) if CORRECTED in one.categories]
        queries = [*{normal_form(sql): sql for sql in right}.values()]  # in the words of the first
        corrected += len(queries) == 1
        disputed += [question.id] if len(queries) > 1 else []
        sql = queries[0] if len(queries) == 1 else study.benchmark.golds[question.id].sql
        items.append({"question_id": question.id, "db_id": question.db_id, "SQL": sql})
    with naming(file):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(orjson.dumps(items, option=orjson.OPT_INDENT_2))
    left = f"; corrected in several ways and left: {', '.join(disputed)}" if disputed else ""
    counts = f"{corrected} gold queries corrected, {both} questions with two right answers"
    return f"{file}: {counts}{left}"
