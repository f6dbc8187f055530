"""The parameters of calls: which there are, what a user gives to models and roles, and how long a reply may be.

A limit on the output, `max_tokens`, is the number of tokens into which the answer fits, as the prompt's file states it,
and more for a model that thinks before it answers. A user's own limit takes its place. A parameter that a model does not
take is left out when the call is sent, and stays in its key.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from difflib import get_close_matches
from types import NoneType
from typing import Any

from workbench.errors import BadInputError
from workbench.llm.money import listed
from workbench.store import Store
from workbench.types import Request

ROLES = ("generation", "filtering", "judge", "rest")
LIMITS = ("max_tokens", "max_completion_tokens")  # two names of the limit on a reply's tokens
_THOUGHT = 8_192  # tokens of thinking where no parameter limits them
_EFFORTS = {
    "none": 0,
    "disable": 0,
    "minimal": 1_024,
    "low": 4_096,
    "high": 32_768,
    "xhigh": 65_536,
}
# Parameters that a request may have. What only one server knows goes into `extra_body`.
_NUMBERS = {
    "temperature", "top_p", "top_k", "min_p", "max_tokens", "max_completion_tokens", "seed",
    "frequency_penalty", "presence_penalty", "repetition_penalty", "top_logprobs", "dimensions", "num_ctx",
}  # fmt: skip
_KNOWN = _NUMBERS | {
    "embedding", "encoding_format", "extra_body", "keep_alive", "logit_bias", "logprobs", "modalities",
    "prediction", "prompt_cache_key", "reasoning_effort", "response_format", "safety_settings",
    "service_tier", "stop", "store", "thinking", "tool_choice", "tools", "user", "verbosity",
}  # fmt: skip
# Parameters that a request may not have, since the client sets them.
_RESERVED = {
    "api_base", "api_key", "api_version", "base_url", "cache", "caching", "client", "extra_headers", "fallbacks",
    "headers", "max_retries", "messages", "mock_response", "model", "model_list", "n", "num_retries",
    "request_timeout", "stream", "timeout",
}  # fmt: skip
_SECRET = ("_key", "_token", "secret", "password", "credentials")


def check(request: Request) -> None:
    """Raise BadInputError for a model without a provider, and for parameters that `check_parameters` refuses."""
    check_model(request.model)
    check_parameters(request.parameters)


def check_model(name: str) -> None:
    provider, _, model = name.partition("/")
    if not provider or not model:
        raise BadInputError(
            f"model {name!r} names no provider: write PROVIDER/MODEL, like openai/gpt-4o"
        )


def check_parameters(parameters: Mapping[str, Any]) -> None:
    """Raise BadInputError for a parameter that is unknown, that the client sets, or that would store a secret."""
    for name in _names(parameters):
        if name in _RESERVED or (name.endswith(_SECRET) and name not in _KNOWN):
            raise BadInputError(
                f"parameter {name!r} is not a generation parameter: keys come from the environment, "
                "samples from Request.sample, addresses and time-outs from the client"
            )
    for name, value in parameters.items():
        if name not in _KNOWN:
            near = get_close_matches(name, _KNOWN, 1) or sorted(_KNOWN - {"embedding"})
            raise BadInputError(
                f"there is no parameter {name!r}; there is {', '.join(near)}, and what only one server knows goes into "
                f'extra_body, as extra_body={{"{name}": ...}}'
            )
        if name in _NUMBERS and (
            isinstance(value, bool) or not isinstance(value, (int, float, NoneType))
        ):
            raise BadInputError(
                f"parameter {name} is {value!r}, and should be a number; null leaves it out"
            )


def _names(parameters: Mapping[str, Any]) -> Iterator[str]:
    for name, value in parameters.items():
        yield name
        if isinstance(value, Mapping) and name != "response_format":  # a schema has its own names
            yield from _names(value)


def role(prompt: str) -> str:
    """The role of a prompt's calls, by the names that an experiment gives to the models of roles."""
    if prompt.startswith("prune/filter_column"):
        return "filtering"
    return {"generate": "generation", "select": "judge"}.get(prompt.partition("/")[0], "rest")


def given_for(model: str, prompt: str, given: Mapping[str, Mapping[str, Any]]) -> Mapping[str, Any]:
    """A user's parameters of a call: those of its model, and over them those of its role."""
    return {**given.get(model, {}), **given.get(role(prompt), {})}


def check_given(given: Mapping[str, Mapping[str, Any]]) -> None:
    """Raise BadInputError for parameters of neither a model nor a role, or with a name that is no parameter."""
    for owner, parameters in given.items():
        if "/" not in owner and owner not in ROLES:
            raise BadInputError(
                f"parameters of {owner!r}, which is neither PROVIDER/MODEL nor a role: give them by a model, like "
                f"openai/gpt-4o, or by a role: {', '.join(ROLES)}"
            )
        if not isinstance(parameters, Mapping):
            raise BadInputError(
                f"parameters of {owner!r} are {parameters!r:.60}: give values by name, as {{'temperature': 0}}"
            )
        check_parameters(parameters)


def left_out(store: Store, model: str) -> list[str]:
    """The parameters that the model does not take, which its cached calls were sent without."""
    select = "SELECT DISTINCT dropped FROM calls WHERE model = ? AND dropped <> ''"
    return sorted({name for (names,) in store.read(select, [model]) for name in names.split(", ")})


def call_parameters(
    model: str, temperature: float, answer: int | None, given: Mapping[str, Any]
) -> dict[str, Any]:
    """The parameters of a step's call: its temperature, its output limit, and a user's, which win.

    `answer` is the number of tokens into which the answer fits, None for no limit. A user's value of None
    leaves a parameter out.
    """
    own: dict[str, Any] = {"temperature": temperature}
    if answer and not limits_output(given):
        own["max_tokens"] = output_limit(model, answer, given)
    return {name: value for name, value in (own | dict(given)).items() if value is not None}


def limits_output(given: Mapping[str, Any]) -> bool:
    """Whether a user's parameters say how long a reply may be, by a number or by None for no limit."""
    return any(name in given for name in LIMITS)


def output_limit(model: str, answer: int, given: Mapping[str, Any]) -> int:
    """The tokens that a reply may have: those of the answer and of the thought before it, as the model allows."""
    thinking, effort = given.get("thinking"), given.get("reasoning_effort")
    if isinstance(thinking, Mapping) and isinstance(budget := thinking.get("budget_tokens"), int):
        thought = budget
    elif effort is not None:
        thought = _EFFORTS.get(str(effort), _THOUGHT)
    else:
        thought = _THOUGHT if listed(model).get("supports_reasoning") else 0
    return _allowed(model, answer + thought)


def _allowed(model: str, tokens: int) -> int:
    most = listed(model).get("max_output_tokens")
    return min(tokens, most) if isinstance(most, int) else tokens


def with_more_room(request: Request, *, thought: bool) -> Request:
    """The request with twice its output limit, and room for a thought if that is where its reply was cut off."""
    limit = 2 * request.parameters["max_tokens"] + (_THOUGHT if thought else 0)
    limit = _allowed(request.model, limit)
    return replace(request, parameters={**request.parameters, "max_tokens": limit})
