"""Execution accuracy as a reward, and rollouts: prompts and replies with their verdicts.

The reward is a function as TRL's GRPOTrainer takes it; its data set needs `prompt` and
`question_id`, which the lines of `workbench train rollouts` have.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from typing import Any

from workbench import replies
from workbench.benchmarks.benchmark import Benchmark
from workbench.errors import BadInputError, at_least
from workbench.evaluate.ex import ex_verdicts
from workbench.lab import Answer, Lab
from workbench.sql.executor import Executor
from workbench.sql.sandbox import shared
from workbench.systems.generate import Generate
from workbench.systems.system import System, brief, prepare
from workbench.types import Message, Question, Request

Reward = Callable[..., list[float]]


def execution_reward(
    benchmark: Benchmark,
    read: Callable[[str], str] = replies.sql,
    unread: float = 0.0,
    executor: Executor | None = None,
) -> Reward:
    r"""Return a reward function: 1 for a right query, 0 for a wrong one, `unread` for none.

    `read` is the reader of the prompt's form, as in `wb.Generate`. The function takes prompts,
    completions (texts, or lists of messages), and the `question_id` of each; other columns are
    passed over.

    >>> reward = wb.execution_reward(wb.open_benchmark("bundled-train"), unread=-0.1)
    >>> said = ["```sql\nSELECT 1\n```", "I do not know."]
    >>> reward(["How many?"] * 2, said, question_id=["0", "0"])
    [0.0, -0.1]
    """
    running = executor or Executor(sandbox=shared())

    def execution_accuracy(
        prompts: Sequence[Any],  # noqa: ARG001  TRL gives them by name
        completions: Sequence[Any],
        question_id: Sequence[str | int],
        **_columns: Any,
    ) -> list[float]:
        queries: list[tuple[str, str] | None] = []
        for key, completion in zip(question_id, completions, strict=True):
            try:
                queries.append((str(key), read(_said(completion))))
            except replies.Unread:
                queries.append(None)
        readable = list(dict.fromkeys(query for query in queries if query))
        right = dict(
            zip(readable, ex_verdicts(benchmark, readable, running), strict=True)
        )
        return [float(right[query]) if query else unread for query in queries]

    return execution_accuracy


def _said(completion: str | Sequence[Message]) -> str:
    return completion if isinstance(completion, str) else str(completion[-1]["content"])


@dataclass(frozen=True, slots=True)
class Rollout:
    """A generator's prompt, a model's reply, whether its query is right, and the call's key."""

    question_id: str
    db_id: str
    prompt: tuple[Message, ...]
    completion: tuple[Message, ...]
    correct: bool
    key: str


def rollouts(
    benchmark: Benchmark, system: System, lab: Lab, samples: int = 1
) -> list[Rollout]:
    """Return `samples` rollouts of each generator for each question, from the cache if there.

    A reply that had to be asked again is wrong, as it stands. Calls that fail have no rollout.
    Fixers and the selector are not asked.
    """
    at_least(1, samples=samples)
    steps = []
    for step in system.generate:
        if not isinstance(step, Generate):
            raise BadInputError(
                f"{brief(step)} asks more than one call for a candidate: use wb.Generate"
            )
        steps.append(replace(step, samples=samples))

    def asked(question: Question) -> list[tuple[Question, Request, Answer[str]]]:
        context = prepare(system, question, lab)
        answered = []
        for step in steps:
            data = step.variables(lab, context)
            ask = partial(step.request, lab, context, data=data)
            requests = list(map(ask, range(samples)))
            answers = lab.ask_many(requests, step.read)
            for request, answer in zip(requests, answers, strict=True):
                answered.append((question, request, answer))
        return answered

    calls = [*chain.from_iterable(lab.each(asked, benchmark.questions, threads=8))]
    queries = [(question.id, answer.value or "") for question, _, answer in calls]
    verdicts = ex_verdicts(benchmark, queries, lab.executor, lab.limits)
    completed = []
    for (question, request, answer), is_right in zip(calls, verdicts, strict=True):
        reply = lab.client.cached(request) if answer.asked_again else answer.completion
        if not reply or reply.fault:
            continue
        rollout = Rollout(
            question_id=question.id,
            db_id=question.db_id,
            prompt=tuple(request.messages),
            completion=({"role": "assistant", "content": reply.text},),
            correct=is_right and not answer.asked_again,
            key=reply.key,
        )
        completed.append(rollout)
    return completed
