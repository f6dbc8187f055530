"""The papers' figures and a few more, and the numbers that they show.

A function that draws takes a tidy DataFrame and a `stamp`, whose text is the footer: the model, the
benchmark, the number of questions and the sense of EX. Its Picture has the numbers as `data`. There
the columns `run`, `question_ids` and `counted` ("all" for all candidates, else the chosen ones)
lead `wb.trace` from a row to the answers behind it. With `paper`, such as
`wb.published("CHASE-SQL", "figure 6")`, the paper's values stand beside ours in grey. Where all
values are equal there is nothing to see, and a table with one sentence replaces the picture.
"""

from workbench.report.accuracy import (
    accuracies,
    accuracy_against,
    accuracy_by,
    differences,
    paired_differences,
    pareto,
)
from workbench.report.names import SEVERAL, TOGETHER, shown
from workbench.report.pools import (
    LOST,
    NONE,
    RIGHT,
    WRONG_GOLD,
    agreement,
    bounds,
    bounds_by_difficulty,
    bounds_by_generator,
    exists_and_chosen,
    outcomes,
    regret,
    solved,
    solved_alone,
    unique_solves,
    venn,
)
from workbench.report.schemas import (
    columns_left,
    error_bars,
    feature_distribution,
    funnel,
    pruned_schema,
    sizes,
    survival,
)

__all__ = [
    "LOST",
    "NONE",
    "RIGHT",
    "SEVERAL",
    "TOGETHER",
    "WRONG_GOLD",
    "accuracies",
    "accuracy_against",
    "accuracy_by",
    "agreement",
    "bounds",
    "bounds_by_difficulty",
    "bounds_by_generator",
    "columns_left",
    "differences",
    "error_bars",
    "exists_and_chosen",
    "feature_distribution",
    "funnel",
    "outcomes",
    "paired_differences",
    "pareto",
    "pruned_schema",
    "regret",
    "shown",
    "sizes",
    "solved",
    "solved_alone",
    "survival",
    "unique_solves",
    "venn",
]
