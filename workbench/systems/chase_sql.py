"""CHASE-SQL (Pourreza et al., ICLR 2025), as figure 1 draws it.

1. Retrieve: an LLM extracts keywords, and similar values are looked up in the database (section 2.2).
2. Generate: three generators propose seven candidates each (section 2.3).
3. Fix: candidates that fail or return no rows are repaired, three attempts at most (section 2.4).
4. Select: candidates are compared in pairs, and the one that wins most is the answer (section 2.5).

Departs from the paper where it gives no numbers: all generators sample at one temperature, and every sample's
prompt shows tables and columns in an order of its own. Departs from it in step 1, too, unless the experiment says
`retrieval: paper`: by default values come from a trigram index and are compared by their letters, which finds more
and asks for no embeddings (`retrieve/named.py`, tests/benchmarks/README.md). Descriptions are retrieved as well, as
in CHESS, though the schema's comments show them all.
"""

from collections.abc import Mapping
from dataclasses import replace

from workbench.fix.fixer import Fixer
from workbench.generate.divide_and_conquer import DivideAndConquer
from workbench.generate.prompt_generator import PromptGenerator
from workbench.generate.query_plan import QueryPlan
from workbench.generate.synthetic_examples import SyntheticExamples
from workbench.prune.filter_columns import FilterColumns
from workbench.retrieve.keywords import Keywords
from workbench.retrieve.retrieval import Retrieval
from workbench.select.majority import Majority
from workbench.select.pairwise import Pairwise
from workbench.select.ranker import Ranker
from workbench.systems.system import Select, System, named


def chase_sql(
    model: str = "embedded/parser",
    select: Select | None = None,
    samples: int = 7,
    temperature: float = 0.8,
    attempts: int = 3,
    filtering: str = "",
    group: int = 1,
) -> System:
    """The whole system on one model, with `samples` candidates of each generator.

    `filtering` is a cheaper model that selects the columns for synthetic examples; each of its calls asks about
    `group` columns. The paper's selector is a fine-tuned model: pass it as `select=Pairwise("its/name")`. By default,
    `model` selects, too.
    """
    columns = FilterColumns(filtering or model, group=group)
    generate: tuple[PromptGenerator, ...] = (
        DivideAndConquer(model, temperature, samples, shuffle=True),
        QueryPlan(model, temperature, samples, shuffle=True),
        SyntheticExamples(model, temperature, samples, shuffle=True, columns=columns),
    )
    return System(
        name="chase_sql",
        retrieve=Retrieval(Keywords(model)),
        prune=(),
        generate=generate,
        fix=(Fixer(model, attempts),),
        select=select or Pairwise(model),
    )


def chase_table_7(
    model: str = "embedded/parser", judge: str = "", samples: int = 7, *, filtering: str = ""
) -> Mapping[str, System]:
    """The ablations of table 7: other selectors, and each part left out. `judge` is the selectors' model."""
    judge = judge or model
    whole = chase_sql(model, Pairwise(judge), samples, filtering=filtering)
    divide, plan, synthetic = whole.generate
    return named(
        {
            "CHASE-SQL": whole,
            "with majority": replace(whole, select=Majority()),
            "with ranker": replace(whole, select=Ranker(judge)),
            "w/o value retrieval": replace(whole, retrieve=Retrieval(Keywords(model), index=None)),
            "w/o fixer": replace(whole, fix=()),
            "w/o query plan": replace(whole, generate=(divide, synthetic)),
            "w/o synthetic examples": replace(whole, generate=(divide, plan)),
            "w/o divide and conquer": replace(whole, generate=(plan, synthetic)),
        }
    )
