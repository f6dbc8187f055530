"""`wb.labels`: the errors that figures draw, and the gold queries that annotators correct.

An error is a person's label of a case, or where there is none, a rule's guess.
"""

from collections import defaultdict
from collections.abc import Callable, Mapping
from typing import Any

import orjson
import pandas as pd
from matplotlib.figure import Figure

from workbench.benchmarks.benchmark import known_flaws as known_flaws  # noqa: PLC0414  exported
from workbench.errors import naming
from workbench.label.cases import cases, suggested
from workbench.label.cases import open_taxonomy as open_taxonomy  # noqa: PLC0414
from workbench.label.labeller import label as label  # noqa: PLC0414
from workbench.label.store import ADJUDICATOR, BOTH_RIGHT, CORRECTED, GOLD, Label, final
from workbench.label.store import LabelStore as LabelStore  # noqa: PLC0414
from workbench.report.style import question_ids
from workbench.sql.reading import normal_form
from workbench.study import measures
from workbench.study.run import Run, Table
from workbench.study.saved import Piece
from workbench.study.study import Study

_COLUMNS = ["question_id", "db_id", "generator", "error", "detail", "automatic", "apart", "note"]
_COLUMNS += ["system", "run", "counted"]


def errors(study: Study, runs: Mapping[str, Run], taxonomy: str) -> pd.DataFrame:
    """A row for each label of the cases of each run: its `error` and `detail`, and why (`note`).

    A rule's guess is `automatic`. An error that the taxonomy sets `apart` has a row, too, and no place in the figure.
    """
    kinds = open_taxonomy(taxonomy)
    by_hand = final(LabelStore.named(study.benchmark.name).labels(kinds.name))
    flaws = {flaw.question_id: flaw for flaw in measures.flaws(study)}
    apart = {category.name for category in kinds.categories if category.apart}
    rows = []
    for system, run in runs.items():
        for case in cases(study, run, kinds):
            question, said = case.question, by_hand.get(case.key)
            guess = None if case.key in by_hand else suggested(case, kinds, flaws.get(question.id))
            name, note = guess or ("disputed" if case.key in by_hand else "not labelled", "")
            for one in said.categories if said else [name]:
                error, _, detail = one.partition(" / ")
                about = (question.id, question.db_id, case.generator, error, detail)
                why = (guess is not None, error in apart, said.note if said else note)
                rows.append((*about, *why, system, run.id, "chosen"))
    return pd.DataFrame(rows, columns=_COLUMNS)


def save(
    study: Study, name: str, labels: pd.DataFrame, draw: Callable[..., Figure], **options: Any
) -> Piece:
    """Draw and save the labels that are not set `apart`; the stamp says how many of them are automatic."""
    drawn = labels[~labels["apart"].astype(bool)]
    stamp = f"{study.stamp.of(labels)}; {by_rule(drawn)}; {measures.flaws_from(study)}"
    if drawn.empty:
        nothing = study.table(drawn).alone("There is no error to sort")
        return study.save(name, nothing, labels, stamp)
    return study.save(name, draw(drawn, stamp=stamp, **options), labels, stamp)


def by_rule(labels: pd.DataFrame) -> str:
    return f"{labels['automatic'].sum()} of {len(labels)} labels are automatic"


def shares(
    study: Study, labels: pd.DataFrame, kinds: "Mapping[str, pd.Series[bool]] | None" = None
) -> Table:
    """Shares in percent: a row for each error, or with `kinds` a row for each system and a column for each kind."""
    masks, rows = kinds or {"share": pd.Series(True, labels.index)}, []
    for name, part in labels.groupby("system" if kinds else "error", sort=not kinds):
        n = len(part if kinds else labels)
        own = {kind: 100 * mask[part.index].sum() / n for kind, mask in masks.items()}
        about = {"run": " ".join(part["run"].unique()), "question_ids": question_ids(part)}
        rows.append({"system": name, "n": n, **own, **about})
    columns = ["system", "n", *masks, "run", "question_ids"]
    return study.table(pd.DataFrame(rows, columns=columns))


def write_golds(study: Study) -> str:
    """Write the benchmark's gold with the annotators' corrections beside the labels, and say what changed.

    `workbench evaluate --gold NAME=FILE` judges by the file. A gold query that annotators correct in different ways is
    left as it is until the adjudicator corrects it.
    """
    store, golds = LabelStore.named(study.benchmark.name), study.benchmark.golds
    said: defaultdict[tuple[str, str], list[Label]] = defaultdict(list)
    for one in store.labels(GOLD):
        said[one.db_id, one.question].append(one)
    items, corrected, both, left = [], 0, 0, []
    for question in study.benchmark.questions:
        given = said[question.db_id, question.text]
        given = [one for one in given if one.annotator == ADJUDICATOR] or given
        both += any(BOTH_RIGHT in one.categories for one in given)
        right = [one.note for one in reversed(given) if CORRECTED in one.categories]
        queries = [*{normal_form(sql): sql for sql in right}.values()]  # in the words of the first
        corrected += len(queries) == 1
        left += [question.id] if len(queries) > 1 else []
        sql = queries[0] if len(queries) == 1 else golds[question.id].sql
        items.append({"question_id": question.id, "db_id": question.db_id, "SQL": sql})
    file = store.path.with_suffix(".golds.json")
    with naming(file):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(orjson.dumps(items, option=orjson.OPT_INDENT_2))
    counts = f"{corrected} gold queries corrected, {both} questions with two right answers"
    return f"{file}: {counts}; corrected in several ways and left: {', '.join(left) or 'none'}"
