"""An agent that looks at the database in turns before it answers: ours, of none of the papers.

In each turn the model writes a query in a fence and is shown its result, until it writes its answer
after a line `**Final SQL**`. Text and no provider's tools, so any model will do. Each turn is a
call whose key holds the turns before it: a run that was stopped continues where it was, and agents
that differ in `turns` alone share all but their last call.

The embedded parser cannot look: it answers in its first turn.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import orjson

from workbench import replies
from workbench.errors import at_least
from workbench.lab import Lab
from workbench.llm.cache import Cache
from workbench.prompts import Prompt, load
from workbench.sql.texts import result_text
from workbench.systems.baselines import WHOLE_SCHEMA
from workbench.systems.select import Majority
from workbench.systems.system import System
from workbench.types import Candidate, Context, Message, Request

_FINAL = re.compile(r"(?im)^\W*final (?:sql|query|answer)\b")


def agent(
    model: str = "embedded/parser",
    turns: int = 8,
    samples: int = 1,
    temperature: float = 0.0,
) -> System:
    """Return the agent on the whole schema; `replace` gives it any step of the papers.

    >>> several = wb.agent("openai/gpt-4o", samples=21, temperature=0.8)
    >>> replace(several, select=wb.Pairwise("openai/gpt-4o")).generate[0].samples
    21
    """
    step = Agent(model, turns, samples, temperature)
    return System("agent", WHOLE_SCHEMA, (), (step,), (), Majority())


@dataclass(frozen=True)
class Agent:
    """Proposes `samples` candidates, each the end of a conversation of its own.

    turns: the most replies of a conversation. In the last one the model is told to answer, and its
        query is the answer whatever stands before it.
    """

    model: str
    turns: int = 8
    samples: int = 1
    temperature: float = 0.0
    prompt: str | Prompt = "generate/agent"
    name: str = "agent"

    def __post_init__(self) -> None:
        at_least(1, turns=self.turns, samples=self.samples)

    def __call__(self, lab: Lab, context: Context) -> tuple[Candidate, ...]:
        """Return the candidates by sample; one that ends without a query has a `problem`."""
        return tuple(
            lab.each(partial(self._converse, lab, context), range(self.samples))
        )

    def _converse(self, lab: Lab, context: Context, sample: int) -> Candidate:
        request = lab.request(self, self.prompt, context, sample, last=self.turns == 1)
        keys: tuple[str, ...] = ()
        queries = 0
        while True:
            (answer,) = lab.ask_many([request], _read)
            turn, text = answer.value, answer.completion.text
            keys += answer.keys
            left = self.turns - queries - 1
            if turn is None or turn.final or not left:
                query = turn.query if turn else ""
                problem = answer.problem
                return Candidate(query, self.name, sample, text, keys, problem, queries)
            result = result_text(lab.run(context.question, turn.query))
            request = _next(lab, request, text, result, last=left == 1)
            queries += 1


@dataclass(frozen=True)
class _Turn:
    """What a reply says: a query, and whether it is the answer."""

    query: str
    final: bool


def _read(text: str) -> _Turn:
    is_final = _FINAL.search(replies.answer(text)) is not None
    return _Turn(replies.sql(text), is_final)


def _next(lab: Lab, request: Request, text: str, result: str, *, last: bool) -> Request:
    """Return the next turn's request: it shows the reply without its thought, and the result."""
    data = {"result": result, "last": last}
    reply = {"role": "assistant", "content": replies.answer(text) or text}
    told = load("generate/agent_turn", lab.prompts).messages(**data)
    longer = replace(request, messages=(*request.messages, reply, *told))
    if lab.watch:
        lab.watch(longer, data)
    return longer


def conversation(cache: Cache, call_keys: Sequence[str]) -> tuple[Message, ...]:
    """Return the messages of an agent's candidate, from the cached call that ended it.

    Each message of the user after the first shows the result of a query that was run to look.

    >>> study = wb.open_study("bundled-dev", limit=1)
    >>> trial = wb.solve(wb.agent(), study.benchmark.questions[0], study.lab).trial
    >>> turns = wb.conversation(study.lab.client.cache, trial.candidate.call_keys)
    >>> [turn["role"] for turn in turns]
    ['system', 'user', 'assistant']
    """
    select = "SELECT key, prompt, messages, text FROM calls WHERE key IN"
    calls = {key: call for key, *call in cache.read_keys(select, list(call_keys))}
    cached = [calls[key] for key in call_keys if key in calls]
    if not cached:
        return ()
    first_prompt = cached[0][0]  # a fixer's calls may follow
    turns = [call for call in cached if call[0] == first_prompt]
    _, messages, text = turns[-1]
    return (*orjson.loads(messages), {"role": "assistant", "content": text})
