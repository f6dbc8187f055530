"""The lines of a batch's files: a request on each, and later its reply or its refusal.

A request is written as LiteLLM writes it for a live call, and an answer is read as LiteLLM reads a live one, so
both give the same reply.
"""

import json
from dataclasses import dataclass
from typing import Any

import orjson

from workbench.errors import secrets
from workbench.llm.provider import without_secrets
from workbench.llm.remote.refusals import Refusal, refusal
from workbench.llm.remote.replies import Reply, tidy
from workbench.llm.remote.sending.load import load
from workbench.types import Message, Request

_TAG = "call:"  # each key begins with it; ids in a batch leave it out, since a provider may refuse the colon


@dataclass(frozen=True, slots=True)
class Item:
    """The end of one request of a batch: the provider's reply, or its refusal."""

    key: str
    reply: Reply | Refusal


def write_line(request: Request, key: str) -> bytes:
    line = {"custom_id": key.removeprefix(_TAG), "method": "POST", "url": endpoint(request.model)}
    return orjson.dumps(line | {"body": body(request)}) + b"\n"


def endpoint(model: str) -> str:
    return "/chat/completions" if model.startswith("azure/") else "/v1/chat/completions"


def body(request: Request) -> dict[str, Any]:
    """The request as LiteLLM sends it to its provider; as OpenAI's where LiteLLM translates the whole file."""
    litellm = load()
    messages = [dict(message) for message in request.messages]
    name, company, _, _ = litellm.get_llm_provider(request.model)
    if company == "vertex_ai":
        return {"model": name, "messages": messages, **request.parameters}
    given = litellm.utils.get_optional_params(
        model=name, custom_llm_provider=company, **request.parameters
    )
    config = litellm.utils.ProviderConfigManager.get_provider_chat_config(
        name, litellm.types.utils.LlmProviders(company)
    )
    made: dict[str, Any] = config.transform_request(
        model=name, messages=messages, optional_params=given, litellm_params={}, headers={}
    )
    made.pop("stream", None)
    extra: dict[str, Any] = made.pop("extra_body", {})
    return made | extra


def read_line(line: bytes, url: str) -> Item | None:
    try:
        found = orjson.loads(line)
        key, response, error = _TAG + found["custom_id"], found.get("response"), found.get("error")
    except (ValueError, KeyError, TypeError):
        return None
    if response and response.get("status_code") == 200:
        return Item(key, reply_of(response["body"], url))
    return Item(key, _refused(response or {}, error or {}))


def reply_of(answer: dict[str, Any], url: str) -> Reply | Refusal:
    """A chat completion in the form that the cache stores, without secrets that a server repeats."""
    litellm = load()
    import httpx  # noqa: PLC0415  LiteLLM imports it

    messages: list[Message] = []
    try:
        read = litellm.OpenAIGPTConfig().transform_response(
            model="",
            raw_response=httpx.Response(200, json=answer),
            model_response=litellm.ModelResponse(),
            logging_obj=_Quiet(),
            request_data={},
            messages=messages,
            optional_params={},
            litellm_params={},
            encoding=None,
        )
    except Exception as error:  # noqa: BLE001  a provider's odd reply, in one of many forms
        return Refusal("malformed", f"the reply in the batch is not a chat completion: {error}")
    return tidy(without_secrets(secrets(url), read.model_dump()))


class _Quiet:
    """The part of LiteLLM's log that reading a reply needs."""

    model_call_details: dict[str, Any] = {}  # noqa: RUF012  LiteLLM only reads it

    def post_call(self, *_: object, **__: object) -> None:
        """Log nothing."""


class _ItemError(Exception):
    """An error of one request of a batch, with the attributes that `refusal` reads."""

    def __init__(self, status: int, code: str, text: str) -> None:
        super().__init__(text)
        self.status_code = status
        self.code = code


def _refused(response: dict[str, Any], error: dict[str, Any]) -> Refusal:
    answer = response.get("body") or {}
    reported = answer.get("error", answer) if isinstance(answer, dict) else answer
    details = {**(reported if isinstance(reported, dict) else {"message": str(reported)}), **error}
    status = int(response.get("status_code") or 500)  # without a status: expired or cancelled
    text = f"{details.get('code') or ''} {details.get('message') or json.dumps(details)}".strip()
    found = refusal(_ItemError(status, str(details.get("code") or ""), text))
    # A rate limit inside a batch is the provider's own matter: live calls need not slow down.
    return Refusal("server", str(found), again=True) if found.fault == "rate_limit" else found


def failure(text: str) -> Refusal:
    """The reason for which a whole batch failed."""
    return refusal(_ItemError(400, "", text))
