"""A cache as large as that of CHASE-SQL on BIRD dev: 1,534 questions with 21 candidates each, from a model of made-up replies."""

import random
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from workbench.benchmarks.load import open_benchmark
from workbench.llm.keys import Reply, register
from workbench.study import Run, Study, open_study
from workbench.systems.baselines import direct
from workbench.systems.chase_sql import chase_sql
from workbench.systems.system import System
from workbench.types import Request

QUESTIONS = 1534
SAMPLES = 7  # of each of three generators
MODEL = "synthetic/model"
WORDS = [
    "the",
    "query",
    "joins",
    "both",
    "tables",
    "along",
    "their",
    "key,",
    "groups",
    "rows",
    "by",
    "port",
    "and",
    "keeps",
    "the",
    "largest",
    "of",
    "them",
]


def reply(_: Request, seed: str) -> Reply:
    """A page of reasoning, and one of a few queries, or none."""
    chance = random.Random(seed)
    text = " ".join(chance.choices(WORDS, k=180))
    sql = chance.choice(("SELECT 1", "SELECT 2", "SELECT nothing", "SELECT 1 WHERE 0"))
    fence = f"```sql\n{sql}\n```" if chance.random() < 0.95 else "no query"
    message = {"role": "assistant", "content": f"{text}\n{fence}"}
    usage = {"prompt_tokens": 1500, "completion_tokens": 250}
    return {"choices": [{"message": message, "finish_reason": "stop"}], "usage": usage}


register("synthetic", reply, "1")


def system() -> System:
    """Three generators with seven samples each, a vote, and one call of nothing else."""
    three = (*chase_sql(MODEL).generate[:2], *direct(MODEL).generate)
    makes = tuple(replace(step, temperature=0.7, samples=SAMPLES) for step in three)
    return replace(direct(MODEL), name="three generators", generate=makes)


@contextmanager
def big_study(home: Path, questions: int = QUESTIONS) -> Iterator[tuple[Study, list[Run]]]:
    """A study of so many questions, those of the bundled benchmark again and again, and two runs on them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WORKBENCH_HOME", str(home))
        patch.setattr(
            "workbench.study.result_cache.code_hash", lambda: ""
        )  # a change leaves it as it is
        with open_study("bundled-dev", figures=home) as small:
            benchmark = open_benchmark("bundled-dev")
            known = benchmark.questions
            asked = [
                replace(one, id=str(n), text=f"{one.text} (number {n})")
                for n in range(questions)
                if (one := known[n % len(known)])
            ]
            golds = {
                one.id: replace(benchmark.golds[known[n % len(known)].id], question_id=one.id)
                for n, one in enumerate(asked)
            }
            many = replace(benchmark, questions=tuple(asked), golds=golds)
            study = replace(small, benchmark=many)
            yield study, [study.run(system()), study.run(direct(MODEL))]
