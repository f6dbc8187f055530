"""MAC-SQL's agent-instruction data (section 4): the calls of each agent in a run, prompt and reply.

Only questions whose final SQL is right, by the benchmark's own measure, are exported, with the calls of every
agent: selecting, decomposing, refining. A model tuned on them acts as all agents, as SQL-Llama does. The paper
does not say how it chose; calls that led to other answers, or whose reply was not read at once, are left out.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from workbench.benchmarks.benchmark import Benchmark
from workbench.evaluate.ex import ex_verdicts
from workbench.lab import Lab
from workbench.systems.system import System, solve
from workbench.train.export import Conversation, conversation
from workbench.types import Question, Request, Selection

_AT_ONCE = 8  # questions that are solved at the same time


def instructions(
    benchmark: Benchmark,
    system: System,
    lab: Lab,
    *,
    progress: Callable[[int, int], None] | None = None,
) -> list[Conversation]:
    """The calls behind every right answer of the system, in the order of the questions.

    Cached calls are not asked again: after a run of the system this costs nothing, and a stopped export
    continues when it is called again. `progress` is called with how many questions are done, of how many.
    """
    calls = lambda question: list(_calls(benchmark, system, lab, question))  # noqa: E731
    found = lab.each(calls, benchmark.questions, threads=_AT_ONCE, progress=progress)
    return [one for own in found for one in own]


def _calls(
    benchmark: Benchmark, system: System, lab: Lab, question: Question
) -> Iterator[Conversation]:
    """The calls for one question, each once, if its answer is right."""
    asked: dict[str, Request] = {}

    def watch(request: Request, data: Mapping[str, Any]) -> None:
        asked[lab.client.key(request)] = request
        if lab.watch:
            lab.watch(request, data)

    selection = solve(system, question, replace(lab, watch=watch))
    answer = (question.id, selection.sql)
    if not selection.trial or ex_verdicts(benchmark, [answer], lab.executor) != [True]:
        return
    others = _calls_of_other_answers(selection)
    unread = [request.messages[:-2] for request in asked.values() if request.again]
    for key, request in asked.items():
        reply = lab.client.cached(request)
        read = not request.again and request.messages not in unread and key not in others
        if read and reply and reply.text and not reply.fault and reply.finish_reason != "length":
            yield conversation(question, request, reply.text)


def _calls_of_other_answers(selection: Selection) -> set[str]:
    """The calls that led only to candidates with another result than the chosen one's."""
    calls: dict[bool, set[str]] = {True: set(), False: set()}
    chosen = selection.trial.execution if selection.trial else None
    for trial in selection.trials:
        same = trial.execution and chosen and trial.execution.fingerprint == chosen.fingerprint
        calls[bool(same)].update(trial.candidate.call_keys)
    return calls[False] - calls[True]
