"""LiteLLM, imported with the first call of a remote model, as that takes seconds and 170 MB.

It reads its bundled price list and sends no telemetry. Three functions are wrapped. The first looks for tools behind
MCP in every call of OpenAI's Responses API and needs a package that calls without tools do not need. The second reads
an answer, and fails on an answer in parts. The third is httpx's `send`, whose requests `posting` notes.
"""

import gc
import importlib
import os
import threading
import warnings
from functools import reduce
from typing import Any

from workbench.llm.remote.replies import split_parts
from workbench.llm.remote.sending.posting import listening

_loaded: list[Any] = []
_loading = threading.Lock()


def load() -> Any:
    """LiteLLM, set up. Warnings of its dependencies are silenced."""
    with _loading:
        if not _loaded:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                _loaded.append(_import())
            warnings.filterwarnings("ignore", message="Pydantic serializer|Items? .* on TypedDict")
            gc.freeze()  # LiteLLM stays loaded: garbage collections that walk through it halve our speed
        return _loaded[0]


def _import() -> Any:
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
    litellm: Any = importlib.import_module("litellm")
    litellm.telemetry = False
    litellm.suppress_debug_info = True
    # LiteLLM answers this call itself, and imports its other modules to do so.
    hello = [{"role": "user", "content": "hello"}]
    litellm.completion(model="openai/none", messages=hello, api_key="-", mock_response="hello")
    # No call of ours has tools, so none needs an MCP gateway.
    gateway = "_responses_try_dispatch_mcp_gateway"
    _replace("litellm.responses.main", gateway, lambda _: lambda **_: None)
    parsing = "litellm.litellm_core_utils.llm_response_utils.convert_dict_to_response"
    _replace(parsing, "extract_reasoning_content", _reading_parts)
    _replace("httpx", "Client.send", listening)
    return litellm


def _replace(module: str, path: str, wrapped: Any) -> None:
    """Wrap a function that LiteLLM uses, if this version of LiteLLM has it."""
    *owners, name = path.split(".")
    inside = reduce(getattr, owners, importlib.import_module(module))
    if function := getattr(inside, name, None):
        setattr(inside, name, wrapped(function))


def _reading_parts(read: Any) -> Any:
    def read_message(message: dict[str, Any]) -> tuple[str | None, str | None]:
        reasoning, content = read(message)
        if not isinstance(content, list):
            return reasoning, content
        text, thought = split_parts(content)
        return reasoning or thought or None, text

    return read_message
