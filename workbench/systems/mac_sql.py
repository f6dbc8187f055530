"""MAC-SQL (Wang et al., 2023), as figure 2 and algorithm 1 have it: Selector, Decomposer, Refiner.

What departs from the paper:
- Algorithm 1 simplifies a database "if needed" without saying when: the floor is the released
  code's, more than 6 columns a table on average or more than 30 in all. Six example values a column
  are shown, as the code does.
- The counts in the Selector's prompt (6 columns, 3 tables, 10 columns kept whole) are the model's
  to keep, as in the paper; keys stay, so that what is left can be joined, and a table on which the
  reply says nothing stays whole.
- Algorithm 1 never runs its last repair; here each is run. A repair that comes back unchanged is
  the last.
- On Spider only queries that fail are repaired, as in the released code: there an empty result may
  be right.
- The paper names no temperature; 0.1 is the released code's. That code also repairs a result with a
  NULL in its first rows, keeps six columns of a table for which the reply says "drop_all", and
  shows no example values of keys, ids, mail addresses and URLs; none of this is done here.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, Literal

from workbench import replies
from workbench.errors import BadInputError, at_least, one_of
from workbench.lab import Lab
from workbench.sql.executor import file_state
from workbench.sql.schema import with_examples
from workbench.sql.texts import mac_sql_text, result_text
from workbench.systems.generate import Generate
from workbench.systems.prune import by_table, keep
from workbench.systems.repair import Repair
from workbench.systems.select import Majority
from workbench.systems.system import System
from workbench.types import Context, Question, Schema, Suspect, Trial


def mac_sql(
    model: str = "embedded/parser",
    shots: int = 2,
    tries: int = 3,
    temperature: float = 0.1,
    benchmark: Literal["bird", "spider"] = "bird",
) -> System:
    """Return MAC-SQL with `shots` worked examples of the Decomposer, 0 to 2 (table 4).

    The prompts are those for the benchmark.

    >>> wb.mac_sql(benchmark="spider").generate[0].prompt
    'generate/decomposer_spider'
    """
    suspect: Suspect = "failed" if benchmark == "spider" else "empty"
    return System(
        "MAC-SQL",
        retrieve=SchemaWithValues(),
        prune=(Selector(model, temperature),),  # section 3.2
        # Section 3.3.
        generate=(decomposer(model, temperature, shots, benchmark=benchmark),),
        fix=(refiner(model, tries, temperature, suspect),),  # section 3.4
        select=Majority(),
    )


def decomposer(
    model: str,
    temperature: float = 0.1,
    shots: int = 2,
    *,
    decompose: bool = True,
    benchmark: Literal["bird", "spider"] = "bird",
) -> Generate:
    """Return the Decomposer (appendix A.2).

    It writes sub-questions of growing difficulty with a query each, and the last is the answer.
    Without `decompose`, one query is asked for at once, under the same constraints (table 3).
    """
    one_of((0, 1, 2), shots=shots)
    one_of(("bird", "spider"), benchmark=benchmark)
    if shots and not decompose:
        raise BadInputError(
            f"shots is {shots}: the worked examples decompose; give shots=0"
        )
    return Generate(
        "generate/decomposer" if benchmark == "bird" else "generate/decomposer_spider",
        model,
        temperature,
        data={"shots": shots, "decompose": decompose},
        schema_text=mac_sql_text,
        read=replies.last_sql,
        name="decomposer",
    )


@dataclass(frozen=True)
class SchemaWithValues:
    """The schema with up to `values` example values of each column.

    None is longer than 50 characters, and NULL is shown if there is one. Nothing is retrieved for
    the question itself.
    """

    values: int = 6

    def __post_init__(self) -> None:
        at_least(0, values=self.values)

    def __call__(self, lab: Lab, question: Question, schema: Schema) -> Context:
        path = lab.database(question.db_id)
        return Context(
            question, _with_examples(schema, path, self.values, file_state(path))
        )


@lru_cache(maxsize=64)
def _with_examples(schema: Schema, path: Path, values: int, state: str) -> Schema:
    """Return the schema with example values, cached until the database changes."""
    del state  # only part of the cache key
    return with_examples(schema, path, values, nulls=True)


@dataclass(frozen=True)
class Selector:
    """The Selector (section 3.2, appendix A.1): what is kept of each table.

    The model keeps all of a table, drops it, or keeps the columns that it lists.

    mean_columns, most_columns: a database that exceeds neither is left as it is.
    """

    model: str
    temperature: float = 0.1
    mean_columns: float = 6
    most_columns: int = 30

    def __call__(self, lab: Lab, context: Context) -> Context:
        count = len(context.schema.columns())
        is_wide = count > self.mean_columns * len(context.schema.tables)
        if count <= self.most_columns and not is_wide:
            return context
        columns = by_table(context.schema)
        read = partial(replies.decisions, schema=columns)
        answer = lab.ask(
            self, "prune/mac_selector", context, read, schema_text=mac_sql_text
        )
        decisions = answer.value or {}
        kept: list[tuple[str, str]] = []
        for table, all_columns in columns.items():
            decision = decisions.get(table, "keep_all")
            listed: Sequence[str] = ()
            if decision == "keep_all":
                listed = all_columns
            elif decision != "drop_all":
                listed = decision
            kept += [(table, column) for column in listed]
        return keep(context, kept)


def error_and_class(context: Context, trial: Trial) -> Mapping[str, Any]:
    """Return the variables of the Refiner's prompt: SQLite's message and the exception's class.

    Of a complete result they are the result and no class.
    """
    del context
    result = trial.result
    if result.is_complete:
        return {"error": result_text(result), "exception": ""}
    # By Python's sqlite3.
    raised = {"denied": "DatabaseError", "too_large": "DataError"}
    name = raised.get(result.status, "OperationalError")
    return {"error": result.error, "exception": f"sqlite3.{name}"}


refiner = partial(
    Repair,
    "fix/refiner",
    schema_text=mac_sql_text,
    read=replies.last_sql,
    data=error_and_class,
)
