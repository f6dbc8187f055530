"""Run systems on schemas of a chosen size: CHESS's synthetic industrial-scale schema (section 4.1.1, figure 3)."""

from dataclasses import replace
from typing import Any

from workbench.benchmarks.load import open_benchmark
from workbench.evaluate.around_gold import AroundGold
from workbench.study.previewing import preview_questions
from workbench.study.runs import Run, accuracy, cells
from workbench.study.study import Study
from workbench.systems.system import System
from workbench.types import Schema, lower_name


def industrial(study: Study, system: System, columns: int) -> System:
    """The system on a schema of `columns` columns: those that the gold query needs, and columns of all databases.

    In a preview without the benchmark's data, the bundled columns are repeated to reach this number.
    """
    golds, others = study.benchmark.golds, merged(study)
    around = AroundGold(system.retrieve, golds, columns, others, repeated=preview_questions() > 0)
    return replace(system, retrieve=around)


def merged(study: Study) -> tuple[Schema, ...]:
    """The schemas of all databases of the benchmark, and of the one that the setting `train` names.

    The paper merges BIRD's dev and train. Of several tables with the same name and columns, only the first is taken.
    """
    names = [study.experiment.benchmark, *filter(None, [study.experiment.train])]
    seen: set[tuple[str, ...]] = set()
    schemas: list[Schema] = []
    for name in dict.fromkeys(names):
        benchmark = open_benchmark(name, study.experiment.root)
        lab = replace(study.lab, database=benchmark.database)
        for path in sorted(benchmark.databases.glob("*/*.sqlite")):
            schema = lab.schema(path.parent.name)
            keys = [
                tuple(map(lower_name, (table.name, *(column.name for column in table.columns))))
                for table in schema.tables
            ]
            pairs = zip(schema.tables, keys, strict=True)
            schemas.append(replace(schema, tables=tuple(t for t, key in pairs if key not in seen)))
            seen.update(keys)
    return tuple(schemas)


def distinct_columns(study: Study) -> str:
    """How many distinct columns the merged schemas have, as a sentence for a caption."""
    schemas = merged(study)
    tables = [table for schema in schemas for table in schema.tables]
    columns = sum(len(table.columns) for table in tables)
    return f"The columns are drawn from {columns:,} distinct ones in {len(tables)} tables of {len(schemas)} databases"


def pass_at(run: Run, label: str = "") -> dict[str, Any]:
    """A row of a table: pass@1 and, of all k candidates of a question, pass@k, with intervals."""
    column = f"pass@{run.questions['candidates'].max()}"
    return (
        {"system": label or run.name, "n": len(run.questions)}
        | cells("pass@1", accuracy(run.trials))
        | cells(column, accuracy(run.questions, column="oracle"))
        | {"run": run.id, "counted": "all"}
    )


def prompt_tokens(study: Study, run: Run) -> float:
    """The mean number of tokens of the prompts that asked for a candidate."""
    trials = [trial for one in run.selections for trial in one.trials]
    keys = {key for trial in trials for key in trial.history[0].candidate.call_keys}
    query = "SELECT key, input_tokens FROM calls WHERE key IN"
    counts = [tokens for _, tokens in study.lab.client.cache.read_keys(query, sorted(keys))]
    return sum(counts) / len(counts) if counts else 0.0
