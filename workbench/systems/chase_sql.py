"""CHASE-SQL (Pourreza et al., ICLR 2025), as figure 1 draws it: retrieve values, propose by three generators, fix, select.

Three generators of seven candidates each, a fixer of three attempts, pairwise selection. Every row of
table 7 is one `replace` away:

    without query fixer          replace(system, fix=())
    without online synthesis     replace(system, generate=system.generate[:2])
    self-consistency instead     replace(system, select=Majority())
    a ranker instead             replace(system, select=Ranker(model))
    without value retrieval      replace(system, retrieve=replace(system.retrieve, index=None))

Departs from the paper where it is silent: all generators sample at one temperature, and each sample's
prompt shows tables and columns in an order of its own.
"""

from workbench.fix.fixer import Fixer
from workbench.generate.divide_and_conquer import DivideAndConquer
from workbench.generate.query_plan import QueryPlan
from workbench.generate.synthetic_examples import SyntheticExamples
from workbench.prune.filter_columns import FilterColumns
from workbench.retrieve.keywords import Keywords
from workbench.retrieve.retrieval import Retrieval
from workbench.select.pairwise import Pairwise
from workbench.systems.system import Select, System


def chase_sql(
    model: str = "embedded/parser",
    select: Select | None = None,
    samples: int = 7,
    temperature: float = 0.8,
    attempts: int = 3,
) -> System:
    """The whole system on one model; `select` picks by another one, as a tuned judge would."""
    return System(
        name="chase_sql",
        retrieve=Retrieval(Keywords(model)),
        prune=(),
        generate=(
            DivideAndConquer(model, temperature, samples, shuffle=True),
            QueryPlan(model, temperature, samples, shuffle=True),
            SyntheticExamples(
                model, temperature, samples, shuffle=True, columns=FilterColumns(model)
            ),
        ),
        fix=(Fixer(model, attempts),),
        select=select or Pairwise(model),
    )
