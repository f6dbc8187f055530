"""Calls, replies and 429s of many forms, each of which is asked for in two ways (`ask_both_ways`)."""

import copy
from collections.abc import Callable, Mapping
from typing import Any

from tests.llm.providers.protocols import (
    anthropic_error,
    gemini,
    gemini_error,
    hear,
    message,
    parts,
    quota,
)
from workbench.types import Request

# Models whose protocols put the texts of messages at different places.
SPOKEN = {
    "OpenAI": "openai/gpt-4o",
    "OpenAI, Responses": "openai/gpt-5-pro",
    "Anthropic": "anthropic/claude-opus-4-6",
    "Gemini": "gemini/gemini-2.5-pro",
}
_TASK = "## Task\n" + "b " * 10000


def _request(*turns: tuple[str, Any], **parameters: Any) -> Request:
    messages = tuple({"role": role, "content": content} for role, content in turns)
    return Request("p", "", messages, {"max_tokens": 2000, **parameters})


def _part(text: str, **mark: Any) -> dict[str, Any]:
    return {"type": "text", "text": text, **mark}


_MARK = {"cache_control": {"type": "ephemeral"}}
_S = ("system", "Answer.")
CALLS: dict[str, Callable[[str], Request]] = {
    "no system message": lambda asked: _request(("user", asked)),
    "a conversation": lambda asked: _request(_S, ("user", asked), ("assistant", "SELECT"), ("user", f"no: {asked}")),
    "the start of an answer": lambda asked: _request(_S, ("user", asked), ("assistant", f"SELECT {asked}")),
    "two system messages": lambda asked: _request(_S, ("system", f"Briefly, {asked}."), ("user", asked)),
    "two messages in a row": lambda asked: _request(_S, ("user", f"Hello {asked}"), ("user", asked)),
    "white space around": lambda asked: _request(_S, ("user", f"\n {asked}\t\n\n")),
    "odd characters": lambda asked: _request(_S, ("user", f'{asked} "ü\\n" \u2028 \0 \x7f 😀 <b> \\u0041 é e\u0301')),
    "parameters": lambda asked: _request(_S, ("user", asked), temperature=0.5, top_p=0.9, stop=["###", ";"]),
    "an answer in JSON": lambda asked: _request(_S, ("user", asked), response_format={"type": "json_object"}),
    "parts": lambda asked: _request(_S, ("user", [_part(f"Hello {asked}"), _part(asked)])),
    "a mark after the system message": lambda asked: _request(("system", [_part("Answer.", **_MARK)]), ("user", asked)),
    "marks on long texts": lambda asked: _request(_S, ("user", [_part(f"{asked} {_TASK}", **_MARK), _part(asked)])),
    "a mark of an hour": lambda asked: _request(_S, ("user", [_part(f"{asked}: ", cache_control={"type": "ephemeral", "ttl": "1h"}), _part(asked)])),
    "thinking": lambda asked: _request(_S, ("user", asked), thinking={"type": "enabled", "budget_tokens": 1024}),
    "effort": lambda asked: _request(_S, ("user", asked), reasoning_effort="low"),
    "a late system message": lambda asked: _request(_S, ("user", asked), ("system", f"Briefly, {asked}."), ("assistant", "A"), ("user", "More.")),
    "parts of a system message": lambda asked: _request(("system", [_part("Answer."), _part(f"Briefly, {asked}.")]), ("user", asked)),
    "equal texts": lambda asked: _request(("user", asked), ("assistant", "A"), ("user", asked)),
    "a word of the protocol": lambda asked: _request(("system", "user"), ("user", asked)),
    "the start of an answer with a blank": lambda asked: _request(_S, ("user", asked), ("assistant", f"SELECT {asked} \n")),
    "an answer with a blank": lambda asked: _request(_S, ("user", asked), ("assistant", f"A {asked} \n"), ("user", "More.")),
    "an empty system message": lambda asked: _request(("system", ""), ("user", asked)),
    "a blank system message": lambda asked: _request(("system", " \n"), ("user", asked)),
    "a blank message": lambda asked: _request(_S, ("user", asked), ("assistant", "A"), ("user", "\n")),
    "an empty part": lambda asked: _request(_S, ("user", [_part(asked), _part("")])),
    "no parts": lambda asked: _request(_S, ("user", asked), ("user", [])),
    "a name": lambda asked: Request("p", "", ({"role": "user", "content": asked, "name": "me"},), {"max_tokens": 2000}),
    "half a character": lambda asked: _request(_S, ("user", f"{asked} \ud800")),
}  # fmt: skip
PLAIN = CALLS["no system message"]
# The calls that LiteLLM makes itself, or refuses.
_LEFT = {"an empty system message", "a blank system message", "a blank message", "an empty part", "no parts",
         "a name", "half a character"}  # fmt: skip
_MARKED = {"a mark after the system message", "marks on long texts", "a mark of an hour"}
LEFT = {
    "OpenAI": {*_LEFT, "thinking", "effort"},
    "OpenAI, Responses": {*_LEFT, *_MARKED, "equal texts", "two system messages", "parameters", "thinking"},
    "Anthropic": {*_LEFT, "equal texts", "the start of an answer with a blank"},
    "Gemini": {*_LEFT, *_MARKED, "equal texts", "parts of a system message"},
}  # fmt: skip

_TEXT = {"type": "text", "text": "SELECT 1"}
_THOUGHT = {"type": "thinking", "thinking": "There is one row.", "signature": "EqQBCg"}
_TOOL = {"type": "tool_use", "id": "t", "name": "json_tool_call", "input": {"values": 1}}
_WRITTEN = {"cache_creation": {"ephemeral_5m_input_tokens": 20, "ephemeral_1h_input_tokens": 0}}
_STOP = {"finishReason": "STOP", "safetyRatings": [{"category": "HARM_CATEGORY_HARASSMENT", "probability": "NEGLIGIBLE"}]}  # fmt: skip
_TOKENS = [{"modality": "TEXT", "tokenCount": 100}]
# Bodies of status 200, and headers with them.
REPLIES: dict[str, dict[str, tuple[Any, Mapping[str, str]]]] = {
    "Anthropic": {
        "several parts": (message([_TEXT, {"type": "text", "text": " "}, _TEXT]), {}),
        "counts of thinking": (message([_THOUGHT, _TEXT], output_tokens_details={"thinking_tokens": 60}), {}),
        "withheld thinking": (message([{"type": "redacted_thinking", "data": "EmwKAhgB"}, _TEXT]), {}),
        "a tool": (message([_TEXT, _TOOL], "tool_use"), {}),
        "a stop sequence": (message([_TEXT], "stop_sequence") | {"stop_sequence": "###"}, {}),
        "an unknown reason": (message([_TEXT], "pause_turn"), {}),
        "no reason": (message([_TEXT]) | {"stop_reason": None}, {}),
        "all counts": (message([_TEXT], cache_read_input_tokens=0, cache_creation_input_tokens=20, service_tier="standard", **_WRITTEN), {}),
        "counts of zero": (message([_TEXT], input_tokens=0, output_tokens=0), {}),
        "impossible counts": (message([_TEXT], input_tokens=-100, output_tokens=10**30), {}),
        "headers": (message([_TEXT]), {"anthropic-ratelimit-requests-remaining": "9", "request-id": "q"}),
        "empty text": (message([{"type": "text", "text": ""}]), {}),
        "citations": (message([{**_TEXT, "citations": [{"type": "char_location", "cited_text": "a"}]}]), {}),
        "half a character": (message([{"type": "text", "text": "a\ud800b"}]), {}),
        "an error": (anthropic_error("overloaded_error", "Overloaded"), {}),
        "no counts": ({name: value for name, value in message([_TEXT]).items() if name != "usage"}, {}),
        "a list": ([], {}),
        "nothing": ({}, {}),
    },
    "Gemini": {
        "several parts": (gemini({"content": parts({"text": "A "}, {"text": "B"}), **_STOP}), {}),
        "signed": (gemini({"content": parts({"text": "A", "thoughtSignature": "CiQB"}), **_STOP}), {}),
        "all counts": (gemini({"content": parts({"text": "A"}), **_STOP, "avgLogprobs": -0.1}, usageMetadata={
            "promptTokenCount": 100, "candidatesTokenCount": 84, "totalTokenCount": 184, "thoughtsTokenCount": 10,
            "promptTokensDetails": _TOKENS, "candidatesTokensDetails": _TOKENS, "cacheTokensDetails": _TOKENS}), {}),
        "no thoughts": (gemini({"content": parts({"text": "A"}), **_STOP}, usageMetadata={"promptTokenCount": 9, "candidatesTokenCount": 1, "totalTokenCount": 10}), {}),
        "counts of zero": (gemini({"content": parts({"text": "A"}), **_STOP}, usageMetadata={}), {}),
        "no id": ({"candidates": [{"content": parts({"text": "A"}), **_STOP}], "usageMetadata": {"totalTokenCount": 1, "promptTokenCount": 1}, "modelVersion": "m"}, {}),
        "no model": ({"candidates": [{"content": parts({"text": "A"}), **_STOP}], "usageMetadata": {"totalTokenCount": 1, "promptTokenCount": 1}}, {}),
        "two answers": (gemini(None, candidates=[{"content": parts({"text": "A"}), **_STOP}] * 2), {}),
        "a picture": (gemini({"content": parts({"inlineData": {"mimeType": "image/png", "data": "aaaa"}}), **_STOP}), {}),
        "recitation": (gemini({"finishReason": "RECITATION"}), {}),
        "an unknown reason": (gemini({"content": parts({"text": "A"}), "finishReason": "LANGUAGE"}), {}),
        "no reason": (gemini({"content": parts({"text": "A"})}), {}),
        "citations": (gemini({"content": parts({"text": "A"}), **_STOP, "citationMetadata": {"citationSources": [{"uri": "u"}]}}), {}),
        "a tier": (gemini({"content": parts({"text": "A"}), **_STOP}), {"x-gemini-service-tier": "flex"}),
        "no parts": (gemini({"content": {"role": "model"}, **_STOP}), {}),
        "no answers": (gemini(None, candidates=[]), {}),
        "half a character": (gemini({"content": parts({"text": "a\ud800b"}), **_STOP}), {}),
        "an error": (gemini_error(503, "UNAVAILABLE", "The model is overloaded."), {}),
        "no counts": ({"candidates": [{"content": parts({"text": "A"}), **_STOP}]}, {}),
        "a list": ([], {}),
        "nothing": ({}, {}),
    },
}  # fmt: skip
# The bodies of 429s, which repeat the question.
THROTTLED: dict[str, dict[str, Callable[[str], Any]]] = {
    "Anthropic": {
        "429 in its words": lambda asked: anthropic_error("rate_limit_error", f"{asked}: too many requests."),
        "429 with signs": lambda asked: anthropic_error("rate_limit_error", f'"{asked}"\nä {asked}.') | {"request_id": f"req_011CSHoEeqs5C35K2 {asked}"},
    },
    "Gemini": {
        "429 in its words": lambda asked: gemini_error(429, "RESOURCE_EXHAUSTED", f"{asked}: try again in 7s."),
        "429 of a minute": lambda _: quota("Minute", "7s"),
    },
}  # fmt: skip
FATAL: dict[str, dict[str, Callable[[str], Any]]] = {
    "Anthropic": {"429 of an account": lambda _: anthropic_error("x", "Your credit balance is too low.")},
    "Gemini": {"429 of a day": lambda _: quota("Day", "7s")},
}  # fmt: skip


# The replies that the whole of LiteLLM reads, or refuses.
WHOLE = {
    "Anthropic": {"half a character", "an error", "no counts", "a list", "nothing"},
    "Gemini": {"no model", "half a character", "an error", "no counts", "a list", "nothing"},
}


def question(body: Mapping[str, Any]) -> str:
    """The last message of a request in any protocol."""
    return str(hear(copy.deepcopy(body))[-1]["content"])
