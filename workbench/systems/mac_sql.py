"""MAC-SQL (Wang et al., 2023), as figure 2 draws it: Selector, Decomposer, Refiner.

`mac_table_3` and `mac_table_4` are the paper's ablations. Its oracle schema, with gold's tables and columns in place
of the Selector's, is a `retrieve` step of `evaluate`, since it needs gold:

    replace(system, retrieve=AroundGold(system.retrieve, benchmark.golds), prune=())
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from workbench.errors import at_least
from workbench.fix.refiner import Refiner
from workbench.generate.decomposer import Decomposer
from workbench.lab import Lab
from workbench.parallel import cached_once
from workbench.prune.selector import Selector
from workbench.select.majority import Majority
from workbench.sql.executor import file_state
from workbench.sql.schema import read_schema, with_examples
from workbench.systems.system import System, named
from workbench.types import Context, Question, Schema


@dataclass(frozen=True, slots=True)
class SchemaWithValues:
    """The schema with up to `values` example values of each column, none longer than 50 characters.

    NULL follows the values of a column that holds one: the prompts have a rule for such columns. Nothing is
    retrieved for the question itself.
    """

    values: int = 6

    def __post_init__(self) -> None:
        at_least(0, values=self.values)

    def __call__(self, lab: Lab, question: Question, schema: Schema) -> Context:
        path = lab.database(question.db_id)
        schema = _with_examples(schema, path, self.values, file_state(path))
        return Context(question, schema)


@cached_once(maxsize=64)
def _with_examples(schema: Schema, path: Path, values: int, state: str) -> Schema:
    """The schema with example values, cached until the database changes."""
    del state  # only part of the cache key
    read = with_examples(read_schema(path), path, values, nulls=True)
    examples = {(table.name, c.name): c.examples for table in read.tables for c in table.columns}
    tables = []
    for t in schema.tables:
        shown = (replace(c, examples=examples.get((t.name, c.name), c.examples)) for c in t.columns)
        tables.append(replace(t, columns=tuple(shown)))
    return replace(schema, tables=tuple(tables))


def mac_sql(
    model: str = "embedded/parser", *, shots: int = 2, tries: int = 3, temperature: float = 0.1
) -> System:
    return System(
        name="MAC-SQL",
        retrieve=SchemaWithValues(),
        prune=(Selector(model, temperature),),
        generate=(Decomposer(model, temperature, shots=shots),),
        fix=(Refiner(model, tries, temperature),),
        select=Majority(),
    )


def mac_table_3(model: str = "embedded/parser") -> Mapping[str, System]:
    """The ablations of table 3: each agent left out.

    Without the Decomposer, one call writes the query, from the same schema and under the same constraints.
    """
    whole = mac_sql(model)
    at_once = Decomposer(model, shots=0, decompose=False)
    return named(
        {
            "MAC-SQL": whole,
            "w/o Selector": replace(whole, prune=()),
            "w/o Decomposer": replace(whole, generate=(at_once,)),
            "w/o Refiner": replace(whole, fix=()),
        }
    )


def mac_table_4(model: str = "embedded/parser") -> Mapping[str, System]:
    """The system of table 4 with 0, 1 and 2 worked examples."""
    return named({f"{shots}-shot": mac_sql(model, shots=shots) for shots in (0, 1, 2)})
