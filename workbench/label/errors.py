"""The errors of a run as a figure draws them: by hand where somebody labelled, else by rule."""

from collections.abc import Iterable, Sequence

import pandas as pd

from workbench.benchmarks.bundled import Flaw
from workbench.label.agreement import DISPUTED, final
from workbench.label.case import Case
from workbench.label.store import Label
from workbench.label.suggest import automatic_labels
from workbench.label.taxonomy import Taxonomy

UNLABELLED = "not labelled"


def errors(
    cases: Sequence[Case],
    taxonomy: Taxonomy,
    labels: Iterable[Label] = (),
    flaws: Sequence[Flaw] = (),
) -> pd.DataFrame:
    """A row for each case: `error` and its `detail`, by whom (`automatic` or not), and why (`note`).

    Errors that the taxonomy sets `apart` are in the frame, and not among those that its figure shows.
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
