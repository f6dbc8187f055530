"""Labels as tables: one row for each label, an annotator's progress, and the errors that figures draw."""

from collections import Counter
from collections.abc import Iterable, Sequence

import pandas as pd

from workbench.benchmarks.bundled import Flaw
from workbench.label.agreement.disputes import DISPUTED, final
from workbench.label.case import Case
from workbench.label.store import FIELDS, Label, LabelStore, record_of
from workbench.label.suggest import automatic_labels
from workbench.label.taxonomy import Taxonomy
from workbench.report.style import UNLABELLED


def labels_frame(labels: Iterable[Label]) -> pd.DataFrame:
    """One row for each label, with all its fields."""
    return pd.DataFrame([record_of(label) for label in labels], columns=list(FIELDS))


def progress_frame(
    cases: Sequence[Case], store: LabelStore, taxonomy: Taxonomy, annotator: str
) -> pd.DataFrame:
    """The number of cases in each category by the annotator's labels, and the number left to label."""
    given = Counter(
        (label.category, label.subcategory) if label else None
        for label in (store.of(case.key, taxonomy.name, annotator) for case in cases)
    )
    rows = [[*choice, given[choice]] for choice, _ in taxonomy.choices()]
    return pd.DataFrame(
        [*rows, ["to do", "", given[None]]], columns=["category", "subcategory", "n"]
    )


def errors(
    cases: Sequence[Case],
    taxonomy: Taxonomy,
    labels: Iterable[Label] = (),
    flaws: Sequence[Flaw] = (),
) -> pd.DataFrame:
    """One row for each case: its `error` and `detail`, and the reason (`note`).

    A person's label replaces a rule's, which is `automatic`. The frame has the errors that the taxonomy sets
    `apart`; the paper's figure leaves them out.
    """
    by_hand = [label for label in labels if label.taxonomy == taxonomy.name]
    labelled = final([*automatic_labels(cases, taxonomy, flaws), *by_hand])
    apart = {category.name for category in taxonomy.categories if category.apart}
    rows = []
    for case in cases:
        label = labelled.get(case.key)
        missing = DISPUTED if case.key in labelled else UNLABELLED
        error = (
            (
                label.category,
                label.subcategory,
                label.automatic,
                label.category in apart,
                label.note,
            )
            if label
            else (missing, "", False, False, "")
        )
        rows.append((case.question.id, case.question.db_id, case.generator, *error))
    columns = "question_id db_id generator error detail automatic apart note"
    return pd.DataFrame(rows, columns=columns.split())
