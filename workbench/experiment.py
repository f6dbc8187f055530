"""Run systems over a benchmark and set their results side by side.

The default experiment of `workbench reproduce`, until there are notebooks: every system whole, on the
embedded model. Each row says what was measured, on how many questions and how sure it is.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial

import pandas as pd

from workbench.benchmarks.benchmark import Benchmark
from workbench.db.execute import Executor
from workbench.evaluate.judge import judge
from workbench.evaluate.summary import summarise
from workbench.lab import Lab
from workbench.llm.client import Client
from workbench.parallel import each
from workbench.pool import chosen
from workbench.store import Store
from workbench.systems.system import System, solve
from workbench.types import Question

Progress = Callable[[str, int, int], None]


def compare_systems(
    systems: Mapping[str, System],
    benchmark: Benchmark,
    store: Store,
    *,
    limit: int | None = None,
    at_once: int = 2,
    progress: Progress | None = None,
) -> pd.DataFrame:
    """A row for each system: EX in BIRD's sense with its interval, calls and tokens a question.

    `limit` takes that many questions, evenly from the whole. What the lab book holds is not asked again,
    and counts in the columns all the same: they say what the system needs, not what was paid today.
    """
    asked = _some(benchmark.questions, limit)
    part = replace(benchmark, questions=tuple(asked))
    rows = []
    with Executor(store) as executor:
        for name, system in systems.items():
            lab = Lab(Client(store), executor, benchmark.database, system=name)

            selections = each(
                partial(solve, system, lab=lab),
                asked,
                at_once=at_once,
                progress=partial(progress, name) if progress else None,
            )
            pool = chosen(name, selections)
            summary = summarise(judge(part, pool, executor)).iloc[0]
            used = lab.client.ledger.total()
            tokens = used.input_tokens + used.held_input_tokens
            tokens += used.output_tokens + used.held_output_tokens
            rows.append(
                {
                    "system": name,
                    "n": len(asked),
                    "EX (BIRD)": summary["ex_bird"],
                    "low": summary["ex_bird_low"],
                    "high": summary["ex_bird_high"],
                    "calls": (used.calls + used.hits) / len(asked),
                    "tokens": tokens / len(asked),
                }
            )
    return pd.DataFrame(rows)


def _some(questions: Sequence[Question], limit: int | None) -> list[Question]:
    """That many of the questions, spread evenly."""
    if not limit or limit >= len(questions):
        return list(questions)
    return [questions[place * len(questions) // limit] for place in range(limit)]
