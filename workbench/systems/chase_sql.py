"""CHASE-SQL (Pourreza et al., ICLR 2025), as figure 1 draws it: retrieve values, propose by three generators, fix, select.

Three generators of seven candidates each, a fixer of three attempts, pairwise selection. `table_7` are the
paper's ablations.

Departs from the paper where it is silent: all generators sample at one temperature, and each sample's
prompt shows tables and columns in an order of its own.
"""

from collections.abc import Mapping
from dataclasses import replace

from workbench.fix.fixer import Fixer
from workbench.generate.divide_and_conquer import DivideAndConquer
from workbench.generate.query_plan import QueryPlan
from workbench.generate.synthetic_examples import SyntheticExamples
from workbench.prune.filter_columns import FilterColumns
from workbench.retrieve.keywords import Keywords
from workbench.retrieve.retrieval import Retrieval
from workbench.select.majority import Majority
from workbench.select.pairwise import Pairwise
from workbench.select.ranker import Ranker
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


def table_7(
    model: str = "embedded/parser", judge: str = "", samples: int = 7
) -> Mapping[str, System]:
    """The system with other selectors and without each of its parts; the judge is the model unless named."""
    judge = judge or model
    whole = chase_sql(model, Pairwise(judge), samples)
    divide, plan, synthetic = whole.generate
    rows = {
        "CHASE-SQL": whole,
        "with majority": replace(whole, select=Majority()),
        "with ranker": replace(whole, select=Ranker(judge)),
        "w/o value retrieval": replace(whole, retrieve=Retrieval(Keywords(model), index=None)),
        "w/o fixer": replace(whole, fix=()),
        "w/o query plan": replace(whole, generate=(divide, synthetic)),
        "w/o synthetic examples": replace(whole, generate=(divide, plan)),
        "w/o divide and conquer": replace(whole, generate=(plan, synthetic)),
    }
    return {name: replace(system, name=name) for name, system in rows.items()}
