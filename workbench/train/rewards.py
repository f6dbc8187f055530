"""Execution accuracy as a reward, and rollouts: prompts and replies with their verdicts.

The reward is a function as TRL's GRPOTrainer takes it; its data set needs `prompt` and
`question_id`, which the lines of `workbench train rollouts` have.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

import orjson

from workbench import replies
from workbench.benchmarks.benchmark import Benchmark
from workbench.errors import BadInputError, at_least
from workbench.evaluate.ex import ex_verdicts
from workbench.lab import Lab
from workbench.sql.executor import Executor
from workbench.sql.sandbox import shared
from workbench.systems.system import System, brief, prepare
from workbench.types import Candidate, Message, Question

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
        queries = [_query(completion, read) for completion in completions]
        pairs = list(zip(map(str, question_id), queries, strict=True))
        rewards = []
        verdicts = ex_verdicts(benchmark, pairs, running)
        for query, is_right in zip(queries, verdicts, strict=True):
            rewards.append(float(is_right) if query else unread)
        return rewards

    return execution_accuracy


def _query(completion: str | Sequence[Message], read: Callable[[str], str]) -> str:
    """Return the query of a completion, "" for one that cannot be read."""
    text = completion
    if not isinstance(text, str):
        text = text[-1]["content"]
    try:
        return read(text)
    except replies.Unread:
        return ""


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

    Prompt and completion are those of a candidate's last call: that of a reply that was asked again
    holds the unread one, that of an agent its turns. Calls that fail have no rollout. Fixers and
    the selector are not asked.
    """
    at_least(1, samples=samples)
    generators: Sequence[Any] = system.generate
    steps = []
    for step in generators:
        if not hasattr(step, "samples"):
            raise BadInputError(
                f"{brief(step)} takes no number of samples: use wb.Generate or wb.Agent"
            )
        steps.append(replace(step, samples=samples))

    def proposed(question: Question) -> list[tuple[Question, Candidate]]:
        context = prepare(system, question, lab)
        candidates = chain.from_iterable(step(lab, context) for step in steps)
        return [(question, candidate) for candidate in candidates]

    proposals = lab.each(proposed, benchmark.questions, threads=8)
    answered = list(chain.from_iterable(proposals))
    queries = [(question.id, candidate.sql) for question, candidate in answered]
    verdicts = ex_verdicts(benchmark, queries, lab.executor, lab.limits)
    last_keys = [candidate.call_keys[-1] for _, candidate in answered]
    cached = lab.client.cache.get_many(last_keys)
    select = "SELECT key, messages FROM calls WHERE key IN"
    prompts = dict(lab.client.cache.read_keys(select, last_keys))

    completed = []
    for (question, _), key, is_right in zip(answered, last_keys, verdicts, strict=True):
        reply = cached.get(key)
        # It failed, or a content filter withheld the answer.
        if not reply or reply.fault:
            continue
        rollout = Rollout(
            question_id=question.id,
            db_id=question.db_id,
            prompt=tuple(orjson.loads(prompts[key])),
            completion=({"role": "assistant", "content": reply.text},),
            correct=is_right,
            key=key,
        )
        completed.append(rollout)
    return completed
