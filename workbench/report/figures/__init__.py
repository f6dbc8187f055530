"""The papers' figures and a few more, by subject: each function takes a tidy DataFrame and gives a Figure.

All take `stamp`, whose text is the figure's foot: which model, benchmark, number of questions and
definition of EX it speaks of. The figure's `data` is the table behind it, with a column `run` where the
rows given had one, and where the others do not tell what a row was counted from, `question_ids` and `counted`
("all" candidates, or else those chosen), so that `study.trace` finds it.
"""

from workbench.report.drawing.palette import shown
from workbench.report.figures.bounds import bounds, bounds_by_difficulty, bounds_by_generator
from workbench.report.figures.compare import (
    accuracies,
    accuracy_by,
    differences,
    paired_differences,
)
from workbench.report.figures.cost import frontier, pareto
from workbench.report.figures.errors import error_bars, error_pies
from workbench.report.figures.examples import feature_distribution, feature_shares
from workbench.report.figures.outcomes import LOST, exists_and_chosen, outcome_pie, outcomes, regret
from workbench.report.figures.overlap import agreement, overlap, solved, unique_solves, venn
from workbench.report.figures.pruning import (
    accuracy_by_columns,
    accuracy_by_tests,
    columns_left,
    funnel,
    sizes,
)
from workbench.report.figures.schema import pruned_schema, survival

__all__ = [
    "LOST",
    "accuracies",
    "accuracy_by",
    "accuracy_by_columns",
    "accuracy_by_tests",
    "agreement",
    "bounds",
    "bounds_by_difficulty",
    "bounds_by_generator",
    "columns_left",
    "differences",
    "error_bars",
    "error_pies",
    "exists_and_chosen",
    "feature_distribution",
    "feature_shares",
    "frontier",
    "funnel",
    "outcome_pie",
    "outcomes",
    "overlap",
    "paired_differences",
    "pareto",
    "pruned_schema",
    "regret",
    "shown",
    "sizes",
    "solved",
    "survival",
    "unique_solves",
    "venn",
]
