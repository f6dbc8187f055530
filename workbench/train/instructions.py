"""MAC-SQL's agent-instruction data (section 4): what each agent was asked in a run, and what it answered.

A run is taken once more from the cache, so this costs nothing after it and asks only what is missing. Kept
are the questions whose final SQL is right by the benchmark's own measure, with the calls of every agent:
selecting, decomposing, refining. From a training split a model learns to be all of them, as SQL-Llama did.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import orjson

from workbench.benchmarks.benchmark import Benchmark
from workbench.evaluate.judge import judge
from workbench.lab import Lab
from workbench.pool import Pool
from workbench.systems.system import System, solve
from workbench.types import Message, Request, Trial


@dataclass(frozen=True, slots=True)
class Instruction:
    """One call of one agent: a chat that ends with the answer. `agent` is the prompt's name."""

    question_id: str
    db_id: str
    agent: str
    messages: tuple[Message, ...]


def instructions(benchmark: Benchmark, system: System, lab: Lab) -> Iterator[Instruction]:
    """The calls behind every right answer of the system, question by question."""
    requests: dict[str, list[Request]] = {}
    answers: dict[str, tuple[Trial, ...]] = {}
    for question in benchmark.questions:
        asked = requests[question.id] = []
        chosen = solve(system, question, replace(lab, watch=asked.append)).trial
        answers[question.id] = (chosen,) if chosen else ()
    verdicts = judge(benchmark, Pool(answers), lab.executor)
    metric = "ex_spider" if benchmark.family == "spider" else "ex_bird"
    right = set(verdicts.loc[verdicts[metric] == 1.0, "question_id"])
    for question in benchmark.questions:
        if question.id in right:
            for request in {lab.client.key(r): r for r in requests[question.id]}.values():
                answer = lab.client.held(request)
                if answer and answer.text and not answer.fault:
                    said = {"role": "assistant", "content": answer.text}
                    chat = (*request.messages, said)
                    yield Instruction(question.id, question.db_id, request.prompt, chat)


def export(records: Iterator[Instruction], path: Path) -> int:
    """Write the records as JSON lines, of the form that trainers of chat models take; returns how many."""
    lines = [orjson.dumps(record) + b"\n" for record in records]
    path.write_bytes(b"".join(lines))
    return len(lines)
