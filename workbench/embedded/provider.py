"""`embedded/parser` as LiteLLM's custom provider: reached through the client and the cache like any model.

Its version is a hash of this folder, and part of every call's key: another grammar or other weights never
answer from what this one said. It counts as a token each word and each sign, whatever a tokenizer of a
language model would say.
"""

import hashlib
import importlib
import re
from pathlib import Path
from typing import Any

from workbench.errors import BadInputError
from workbench.llm import provider

_TOKEN = re.compile(r"\w+|[^\w\s]")
MODEL = "embedded/parser"


def version() -> str:
    """A hash of the model's code and weights."""
    folder = Path(__file__).parent
    digest = hashlib.sha256()
    for path in sorted([*folder.rglob("*.py"), *folder.rglob("*.json")]):
        digest.update(path.relative_to(folder).as_posix().encode() + b"\0" + path.read_bytes())
    return f"{MODEL}@{digest.hexdigest()[:16]}"


def make() -> Any:
    """The handler that LiteLLM calls; with it the parser is loaded, weights and all."""
    litellm: Any = importlib.import_module("litellm")
    answer = importlib.import_module("workbench.embedded.answer").answer

    def completion(*_: Any, **given: Any) -> Any:
        if (model := given["model"]) not in {"parser", MODEL}:
            raise BadInputError(f"there is no model embedded/{model}; there is {MODEL}")
        options = given["optional_params"]
        messages = given["messages"]
        text = answer(
            messages, temperature=float(options.get("temperature", 1.0)), seed=options["call_key"]
        )
        asked = sum(len(_TOKEN.findall(str(message["content"]))) for message in messages)
        said = len(_TOKEN.findall(text))
        return litellm.ModelResponse(
            model=MODEL,
            choices=[
                litellm.Choices(
                    message=litellm.Message(content=text, role="assistant"), finish_reason="stop"
                )
            ],
            usage=litellm.Usage(
                prompt_tokens=asked, completion_tokens=said, total_tokens=asked + said
            ),
        )

    # LiteLLM wants an instance of its class, which cannot be named before it is imported.
    return type("Parser", (litellm.CustomLLM,), {"completion": staticmethod(completion)})()


provider.register("embedded", make, version())
