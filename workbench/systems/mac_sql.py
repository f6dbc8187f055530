"""MAC-SQL (Wang et al., 2023), as figure 2 draws it: Selector, Decomposer, Refiner.

`table_3` and `table_4` are the paper's ablations. Its oracle schema, gold's tables and columns in place of
what the Selector finds, is a `retrieve` step that only `evaluate` can make, since it needs gold:

    replace(system, retrieve=AroundGold(system.retrieve, benchmark.golds), prune=())
"""

from collections.abc import Mapping
from dataclasses import replace

from workbench.fix.refiner import Refiner
from workbench.generate.decomposer import Decomposer
from workbench.generate.direct import Direct
from workbench.prune.selector import Selector
from workbench.select.majority import Majority
from workbench.systems.baselines import WHOLE_SCHEMA
from workbench.systems.system import System


def mac_sql(
    model: str = "embedded/parser", *, shots: int = 2, tries: int = 3, temperature: float = 0.1
) -> System:
    """The three agents on one model; the schema is all that they know of the database."""
    return System(
        name="MAC-SQL",
        retrieve=WHOLE_SCHEMA,
        prune=(Selector(model, temperature),),
        generate=(Decomposer(model, temperature, shots=shots),),
        fix=(Refiner(model, tries, temperature),),
        select=Majority(),
    )


def table_3(model: str = "embedded/parser") -> Mapping[str, System]:
    """The system without each of its agents; without the Decomposer one call answers at once."""
    whole = mac_sql(model)
    answer = Direct(model, temperature=0.1, think=False)
    return _named(
        {
            "MAC-SQL": whole,
            "w/o Selector": replace(whole, prune=()),
            "w/o Decomposer": replace(whole, generate=(answer,)),
            "w/o Refiner": replace(whole, fix=()),
        }
    )


def table_4(model: str = "embedded/parser") -> Mapping[str, System]:
    """The system with so many worked examples."""
    return _named({f"{shots}-shot": mac_sql(model, shots=shots) for shots in (0, 1, 2)})


def _named(rows: Mapping[str, System]) -> Mapping[str, System]:
    return {name: replace(system, name=name) for name, system in rows.items()}
