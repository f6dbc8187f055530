"""The papers' figures and a few more, by subject: each function takes a tidy DataFrame and gives a Figure.

All take `stamp`, whose text is the figure's footer: the model, the benchmark, the number of questions and the sense of
EX. The figure's `data` is the table that it shows. Its columns `run`, `question_ids` and `counted` ("all" for all
candidates, else the chosen ones) lead `study.trace` from a row to the answers that the row counts.
"""

from workbench.report.figures.accuracy import accuracies as accuracies
from workbench.report.figures.accuracy import accuracy_by as accuracy_by
from workbench.report.figures.accuracy import accuracy_by_columns as accuracy_by_columns
from workbench.report.figures.accuracy import accuracy_by_tests as accuracy_by_tests
from workbench.report.figures.accuracy import differences as differences
from workbench.report.figures.accuracy import paired_differences as paired_differences
from workbench.report.figures.accuracy import pareto as pareto
from workbench.report.figures.candidates import LOST as LOST
from workbench.report.figures.candidates import agreement as agreement
from workbench.report.figures.candidates import bounds as bounds
from workbench.report.figures.candidates import bounds_by_difficulty as bounds_by_difficulty
from workbench.report.figures.candidates import bounds_by_generator as bounds_by_generator
from workbench.report.figures.candidates import exists_and_chosen as exists_and_chosen
from workbench.report.figures.candidates import outcome_pie as outcome_pie
from workbench.report.figures.candidates import outcomes as outcomes
from workbench.report.figures.candidates import regret as regret
from workbench.report.figures.candidates import solved as solved
from workbench.report.figures.candidates import solved_alone as solved_alone
from workbench.report.figures.candidates import unique_solves as unique_solves
from workbench.report.figures.candidates import venn as venn
from workbench.report.figures.errors import error_bars as error_bars
from workbench.report.figures.errors import error_pies as error_pies
from workbench.report.figures.schema import columns_left as columns_left
from workbench.report.figures.schema import feature_distribution as feature_distribution
from workbench.report.figures.schema import funnel as funnel
from workbench.report.figures.schema import pruned_schema as pruned_schema
from workbench.report.figures.schema import sizes as sizes
from workbench.report.figures.schema import survival as survival
from workbench.report.style import shown as shown
