"""Labels as tables: one row a label, how far the work is, and the errors that figures draw."""

from collections import Counter
from collections.abc import Iterable, Sequence

import pandas as pd

from workbench.benchmarks.bundled import Flaw
from workbench.label.agreement import DISPUTED, final
from workbench.label.case import Case
from workbench.label.store import FIELDS, Label, LabelStore
from workbench.label.suggest import automatic_labels
from workbench.label.taxonomy import Taxonomy

UNLABELLED = "not labelled"


def labels_frame(labels: Iterable[Label]) -> pd.DataFrame:
    """One row a label, with all its fields."""
    rows = [[getattr(label, name) for name in FIELDS] for label in labels]
    return pd.DataFrame(rows, columns=list(FIELDS))


def progress_frame(
    cases: Sequence[Case], store: LabelStore, taxonomy: Taxonomy, annotator: str
) -> pd.DataFrame:
    """How many of the cases the annotator gave each category, and how many are left."""
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
    """A row for each case: `error` and its `detail`, and why (`note`).

    A person's label counts where there is one, else a rule's, which is `automatic`. Errors that the taxonomy
    sets `apart` are in the frame, and not among those that its figure shows.
    """
    by_hand = [label for label in labels if label.taxonomy == taxonomy.name]
    stands = final([*automatic_labels(cases, taxonomy, flaws), *by_hand])
    apart = {category.name for category in taxonomy.categories if category.apart}
    rows = []
    for case in cases:
        label = stands.get(case.key)
        missing = DISPUTED if case.key in stands else UNLABELLED
        rows.append(
            {
                "question_id": case.question.id,
                "db_id": case.question.db_id,
                "generator": case.generator,
                "error": label.category if label else missing,
                "detail": label.subcategory if label else "",
                "automatic": bool(label and label.automatic),
                "apart": bool(label and label.category in apart),
                "note": label.note if label else "",
            }
        )
    columns = "question_id db_id generator error detail automatic apart note"
    return pd.DataFrame(rows, columns=columns.split())
