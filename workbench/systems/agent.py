"""An agent that looks at the database in turns before it answers: ours, of none of the papers.

In each turn the model writes a query in a fence and is shown its result, until it writes its answer
after a line `**Final SQL**`. Text and no provider's tools, so any model will do. Each turn is a
call whose key holds the turns before it: a run that was stopped continues where it was, and agents
that differ in `turns` alone share all but their last call.

The embedded parser cannot look: it answers in its first turn.
"""

import re
from dataclasses import dataclass, replace
from functools import partial

from workbench import replies
from workbench.errors import at_least
from workbench.lab import Lab
from workbench.prompts import Prompt, load
from workbench.sql.texts import result_text
from workbench.systems.baselines import WHOLE_SCHEMA
from workbench.systems.select import Majority
from workbench.systems.system import System
from workbench.types import Candidate, Context, Request

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
        for turn in range(1, self.turns + 1):
            (answer,) = lab.ask_many([request], replies.sql)
            keys += answer.keys
            reply = answer.completion.text
            is_final = turn == self.turns or _FINAL.search(replies.answer(reply))
            if answer.value is None or is_final:
                break
            result = result_text(lab.run(context.question, answer.value))
            is_next_last = turn + 1 == self.turns
            request = _next(lab, request, reply, result, last=is_next_last)
        return Candidate(
            sql=answer.value or "",
            generator=self.name,
            sample=sample,
            reasoning=reply,
            call_keys=keys,
            problem=answer.problem,
            queries=turn - 1,  # the last turn's is the answer
        )


def _next(
    lab: Lab, request: Request, reply: str, result: str, *, last: bool
) -> Request:
    """Return the next turn's request: it shows the reply without its thought, and the result.

    It is watched here, since `lab.request` makes only requests that begin a conversation.
    """
    data = {"result": result, "last": last}
    said = {"role": "assistant", "content": replies.answer(reply) or reply}
    shown = load("generate/agent_turn", lab.prompts).messages(**data)
    longer = replace(request, messages=(*request.messages, said, *shown))
    if lab.watch:
        lab.watch(longer, data)
    return longer
