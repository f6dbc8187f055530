"""What a run reports while it works: a bar for a person, lines of JSON for `workbench reproduce`.

In a preview the embedded parser answers for every model, on a few questions and in a cache that is thrown away.
Each new call is then reported with the number of questions that the few stand for. A parser's answers fail and
differ more or less often than the model's answers would, so the number of calls is an estimate.
"""

import os
import time
from array import array
from base64 import b64encode
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import orjson

from workbench.llm.budget import Ledger, Tally
from workbench.llm.provider import EMBEDDING, Reply, send
from workbench.types import Request

if TYPE_CHECKING:
    from tqdm import tqdm

EVERY = 0.5  # seconds between two lines
STAND_IN = "embedded/parser"


class Progress:
    """Called by `solve_all`; the file that WORKBENCH_PROGRESS names gets a line for the newest state."""

    def __init__(self, name: str, run: str) -> None:
        self._name = name
        self._run = run
        self._file = os.environ.get("WORKBENCH_PROGRESS")
        self._began = time.time()  # tells apart two runs of one id
        self._reported = 0.0
        self._at = (0, 0)
        self._bar: tqdm[None] | None = None

    def __call__(self, done: int, total: int, tally: Tally) -> None:
        self._at = done, total
        if self._file:
            if time.monotonic() - self._reported > EVERY or done == total:
                self._reported = time.monotonic()
                self._write(Path(self._file), done, total, tally)
            return
        if self._bar is None:
            from tqdm import tqdm  # noqa: PLC0415  it takes long to import, and a line of JSON needs none

            self._bar = tqdm(total=total, desc=self._name, unit=" questions", delay=1, leave=False)
        self._bar.update(done - self._bar.n)
        self._bar.set_postfix_str(f"{tally.calls:,} calls, ${tally.cost:.2f}", refresh=False)

    def end(self, tally: Tally) -> None:
        """Report the last state of a run that ended or was stopped."""
        if self._file:
            self._write(Path(self._file), *self._at, tally)

    def _write(self, file: Path, done: int, total: int, tally: Tally) -> None:
        state = {
            "id": self._run,
            "run": self._name,
            "began": self._began,
            "done": done,
            "total": total,
            "calls": tally.calls,
            "hits": tally.hits,
            "dollars": tally.cost,
        }
        _append(file, state)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.close()


def tell(**event: Any) -> None:
    """Report another event to `workbench reproduce`: a saved figure, failed calls."""
    if file := os.environ.get("WORKBENCH_PROGRESS"):
        _append(Path(file), event)


def _append(file: Path, record: Mapping[str, Any]) -> None:
    with file.open("ab") as lines:
        lines.write(orjson.dumps(record) + b"\n")


def previewed() -> int:
    """The number of questions of a preview; 0 if this is none."""
    return int(os.environ.get("WORKBENCH_PREVIEW") or 0)


def stand_in(request: Request, key: str, url: str, seconds: float) -> Reply:
    """The embedded parser's reply instead of the requested model's, and for a text's vector its letters."""
    if request.model == STAND_IN:
        return send(request, key, url, seconds)
    if request.parameters.get(EMBEDDING):
        text = str(request.messages[0]["content"])
        counts = Counter(text.lower().encode())
        vector = array("f", [counts[letter] for letter in range(256)])
        message = {"role": "assistant", "content": b64encode(vector.tobytes()).decode()}
        return {
            "choices": [{"message": message, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": len(text) // 4, "completion_tokens": 0},
        }
    temperature = request.parameters.get("temperature", 1.0)
    asked = replace(request, model=STAND_IN, parameters={"temperature": temperature})
    reply = send(asked, "", "", seconds)
    reply["usage"] = {  # a language model's token has about four letters
        "prompt_tokens": sum(len(str(m["content"])) for m in request.messages) // 4,
        "completion_tokens": len(reply["choices"][0]["message"]["content"]) // 4,
    }
    return reply


def tell_estimates(ledger: Ledger, weight: float) -> None:
    """Report the new calls, scaled from the few questions to all questions."""
    for (prompt, model), tally in ledger.pairs().items():
        if tally.calls:
            tell(
                prompt=prompt,
                model=model,
                expected=round(tally.calls * weight),
                tokens=round(tally.input_tokens / tally.calls),
                limit=ledger.limits[prompt, model],
            )
