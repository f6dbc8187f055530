"""MAC-SQL (Wang et al., 2023), as figure 2 draws it: Selector, Decomposer, Refiner.

Departs from the paper in the row without the Decomposer: what answers there is our baseline, `Direct`, which
reads the schema as CREATE TABLE text and has rules of its own, where all agents read `mac_sql_text`.

`table_3` and `table_4` are the paper's ablations. Its oracle schema, gold's tables and columns in place of
what the Selector finds, is a `retrieve` step that only `evaluate` can make, since it needs gold:

    replace(system, retrieve=AroundGold(system.retrieve, benchmark.golds), prune=())
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

from workbench.db.fingerprint import file_state
from workbench.db.schema import read_schema, with_examples
from workbench.errors import at_least
from workbench.fix.refiner import Refiner
from workbench.generate.decomposer import Decomposer
from workbench.generate.direct import Direct
from workbench.lab import Lab
from workbench.prune.selector import Selector
from workbench.select.majority import Majority
from workbench.systems.system import System
from workbench.types import Context, Question, Schema, Value


@dataclass(frozen=True, slots=True)
class SchemaWithValues:
    """All that the agents know of the database: the schema, with up to so many values of each column.

    None is longer than 50 characters. Nothing is looked up for the question.
    """

    values: int = 6

    def __post_init__(self) -> None:
        at_least(0, values=self.values)

    def __call__(self, lab: Lab, question: Question, schema: Schema) -> Context:
        path = lab.database(question.db_id)
        found = _examples(path, self.values, file_state(path)[0])
        tables = tuple(
            replace(
                table,
                columns=tuple(
                    replace(column, examples=found.get((table.name, column.name), column.examples))
                    for column in table.columns
                ),
            )
            for table in schema.tables
        )
        return Context(question, replace(schema, tables=tables))


@lru_cache(maxsize=64)
def _examples(path: Path, most: int, state: str) -> Mapping[tuple[str, str], tuple[Value, ...]]:
    """Read once for all questions about a database, and again when it has changed."""
    del state
    schema = with_examples(read_schema(path), path, most)
    return {(table.name, c.name): c.examples for table in schema.tables for c in table.columns}


def mac_sql(
    model: str = "embedded/parser", *, shots: int = 2, tries: int = 3, temperature: float = 0.1
) -> System:
    """The three agents on one model."""
    return System(
        name="MAC-SQL",
        retrieve=SchemaWithValues(),
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
