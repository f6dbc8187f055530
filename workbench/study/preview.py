"""What an experiment would ask, before anything is paid: a few questions, with a model that stands in.

The embedded parser answers in every model's place, in a lab book that is thrown away, and each new call is
told with how many questions the few stand for. Its answers are not the models': how often queries fail and
are fixed, and how much candidates differ, will be others, so that numbers of calls are an estimate.
"""

import os

from workbench.canonical import content_hash
from workbench.embedded.answer import answer
from workbench.llm.budget import Ledger
from workbench.llm.provider import Reply, is_ours, send
from workbench.study.progress import tell
from workbench.types import Request


def previewed() -> int:
    """How many questions a preview asks; 0 outside of one."""
    return int(os.environ.get("WORKBENCH_PREVIEW") or 0)


def stand_in(request: Request, key: str, url: str, seconds: float) -> Reply:
    """The embedded parser's reply in the place of the model that was asked."""
    if is_ours(request.model):
        return send(request, key, url, seconds)
    seed = content_hash("preview", [request.messages, request.parameters, request.sample])
    temperature = float(request.parameters.get("temperature", 1.0))
    text = answer(request.messages, temperature=temperature, seed=seed)
    return {
        "choices": [{"message": {"role": "assistant", "content": text}, "finish_reason": "stop"}],
        "usage": {
            "prompt_tokens": sum(len(str(m["content"])) for m in request.messages) // 4,
            "completion_tokens": len(text) // 4,
        },
    }


def tell_estimates(ledger: Ledger, weight: float) -> None:
    """Tell what was asked anew, for as many questions as the few stand for."""
    for (prompt, model), tally in ledger.pairs().items():
        if tally.calls:
            tell(
                prompt=prompt,
                model=model,
                expected=round(tally.calls * weight),
                tokens=round(tally.input_tokens / tally.calls),
            )
