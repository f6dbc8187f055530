"""The parameters of calls: those of models and roles, and how long a reply may be.

`max_tokens` is the output limit in the prompt's file, and more for a model that thinks before it
answers. A parameter that a model does not take is not sent with the call, but stays in its key.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from workbench.errors import BadInputError
from workbench.llm.money import listed
from workbench.store import Store
from workbench.types import Request

ROLES = ("generation", "filtering", "judge", "rest")
LIMITS = {"max_tokens", "max_completion_tokens"}  # two names of the limit on a reply's tokens
_THOUGHT = 8_192  # tokens of thinking where no parameter limits them
_KNOWN = {
    "dimensions", "embedding", "encoding_format", "extra_body", "frequency_penalty", "keep_alive",
    "logit_bias", "logprobs", "max_completion_tokens", "max_tokens", "min_p", "modalities",
    "num_ctx", "prediction", "presence_penalty", "prompt_cache_key", "reasoning_effort",
    "repetition_penalty", "response_format", "safety_settings", "seed", "service_tier", "stop",
    "store", "temperature", "thinking", "tool_choice", "tools", "top_k", "top_logprobs", "top_p",
    "user", "verbosity",
}  # fmt: skip
_SECRET = ("key", "secret", "password", "credentials", "headers", "_token")


def check_model(name: str) -> None:
    provider, _, model = name.partition("/")
    if not provider or not model:
        form = "write PROVIDER/MODEL, like openai/gpt-4o"
        raise BadInputError(f"model {name!r} names no provider: {form}")


def check_parameters(parameters: Mapping[str, Any]) -> None:
    for name in parameters:
        if name not in _KNOWN:
            raise BadInputError(
                f"there is no parameter {name!r} among {', '.join(sorted(_KNOWN))}; what only "
                f'one server knows goes into extra_body, as extra_body={{"{name}": ...}}'
            )
    if secret := next((n for n in parameters.get("extra_body") or () if n.endswith(_SECRET)), ""):
        raise BadInputError(f"{secret!r} may be a secret: keys come from the environment")


def check_given(given: Mapping[str, Mapping[str, Any]]) -> None:
    """Raise BadInputError for parameters of neither a model nor a role, and for unknown ones."""
    for owner, parameters in given.items():
        if "/" not in owner and owner not in ROLES:
            form = "give them by a model, like openai/gpt-4o, or by a role"
            raise BadInputError(f"parameters of {owner!r}: {form}: {', '.join(ROLES)}")
        check_parameters(parameters)


def left_out(store: Store, model: str) -> list[str]:
    """The parameters that the model does not take: its cached calls were sent without them."""
    select = "SELECT DISTINCT dropped FROM calls WHERE model = ? AND dropped <> ''"
    return sorted({name for (names,) in store.read(select, [model]) for name in names.split(", ")})


def given_for(model: str, prompt: str, given: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """A user's parameters of a call: those of its model and its role; the role's win."""
    roles = {"generate": "generation", "select": "judge"}
    role = roles.get(prompt.partition("/")[0], "rest")
    role = "filtering" if prompt.startswith("prune/filter_column") else role
    return {**given.get(model, {}), **given.get(role, {})}


def call_parameters(model: str, temperature: float, answer: int | None,
                    given: Mapping[str, Any]) -> dict[str, Any]:  # fmt: skip
    """The parameters of a step's call: its temperature, its output limit, and a user's, which win.

    `answer` is the prompt's output limit in tokens. A user's None leaves a parameter out.
    """
    own: dict[str, Any] = {"temperature": temperature}
    if answer and not LIMITS & given.keys():
        thinks = "reasoning_effort" in given or listed(model).get("supports_reasoning")
        thought = (given.get("thinking") or {}).get("budget_tokens") or _THOUGHT * bool(thinks)
        own["max_tokens"] = _allowed(model, answer + int(thought))
    return {name: value for name, value in (own | dict(given)).items() if value is not None}


def with_more_room(request: Request, *, thought: bool) -> Request:
    """The request with twice its output limit, and room for the thought that was cut off."""
    room = 2 * request.parameters["max_tokens"] + _THOUGHT * thought
    limit = {"max_tokens": _allowed(request.model, room)}
    return replace(request, parameters={**request.parameters, **limit})


def _allowed(model: str, tokens: int) -> int:
    most = listed(model).get("max_output_tokens")
    return min(tokens, most) if isinstance(most, int) else tokens
