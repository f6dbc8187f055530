"""Labels as tables: one row a label, how far the work is, and the counts that figures draw."""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence

import pandas as pd

from workbench.label.agreement import DISPUTED, Key, final
from workbench.label.case import Case
from workbench.label.store import FIELDS, Label, LabelStore
from workbench.label.taxonomy import Taxonomy


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


def counts(
    store: LabelStore,
    taxonomy: Taxonomy,
    cases: Collection[Case] | None = None,
    *,
    annotator: str | None = None,
) -> pd.DataFrame:
    """What a figure of errors draws: category, subcategory, n, and of these n the automatic ones.

    One label counts for each case: the adjudicator's, else what the annotators agree on, else an automatic
    one; a case on which they differ counts as "disputed". Every category of the taxonomy has a row.
    Without `cases` all that were ever labelled count.
    """
    wanted: set[Key] | None = None if cases is None else {case.key for case in cases}
    labels = store.labels(taxonomy=taxonomy.name, annotator=annotator)
    seen: Counter[tuple[str, str]] = Counter()
    automatic: Counter[tuple[str, str]] = Counter()
    for key, label in final(labels).items():
        if wanted is None or key in wanted:
            choice = (label.category, label.subcategory) if label else (DISPUTED, "")
            seen[choice] += 1
            automatic[choice] += bool(label and label.automatic)
    choices = dict.fromkeys([*(choice for choice, _ in taxonomy.choices()), *seen])
    return pd.DataFrame(
        [[*choice, seen[choice], automatic[choice]] for choice in choices],
        columns=["category", "subcategory", "n", "automatic"],
    )
