"""Systems on schemas of any size: CHESS's synthetic industrial-scale schema (section 4.1.1, figure 3)."""

from dataclasses import replace
from typing import Any

from workbench.evaluate.gold_schema import AroundGold
from workbench.study.runs import Run, accuracy, cells
from workbench.study.study import Study
from workbench.systems.system import System


def industrial(study: Study, system: System, columns: int) -> System:
    """The system where the schema has so many columns: those that gold needs, and any of all databases."""
    files = study.benchmark.databases.glob("*/*.sqlite")
    others = tuple(study.lab.schema(path.parent.name) for path in sorted(files))
    around = AroundGold(system.retrieve, study.benchmark.golds, columns, others)
    return replace(system, retrieve=around)


def pass_at(run: Run, label: str = "") -> dict[str, Any]:
    """A row of a table: pass@1 and, of all k candidates of a question, pass@k, with intervals."""
    most = f"pass@{run.questions['candidates'].max()}"
    return (
        {"system": label or run.name, "n": len(run.questions)}
        | cells("pass@1", accuracy(run.trials))
        | cells(most, accuracy(run.questions, column="oracle"))
        | {"run": run.id, "counted": "all"}
    )


def prompt_tokens(study: Study, run: Run) -> float:
    """The tokens of a prompt that asked for a candidate, in the mean over the run's calls."""
    trials = [trial for one in run.selections for trial in one.trials]
    keys = {key for trial in trials for key in trial.history[0].candidate.call_keys}
    query = "SELECT key, input_tokens FROM calls WHERE key IN"
    counts = [tokens for _, tokens in study.lab.client.store.read_keys(query, sorted(keys))]
    return sum(counts) / len(counts) if counts else 0.0
