"""Replies and errors in the providers' protocols, from their public documentation."""

from collections.abc import Mapping
from threading import Lock
from typing import Any

from workbench.embedded.provider import reply
from workbench.types import Request

MODELS = {
    "OpenAI": "openai/gpt-5",
    "OpenAI, Responses": "openai/gpt-5-pro",
    "Azure": "azure/gpt-4o",
    "Anthropic": "anthropic/claude-opus-4-6",
    "Gemini": "gemini/gemini-2.5-pro",
    "Mistral": "mistral/magistral-medium-latest",
    "Ollama": "ollama/qwen3",
    "vLLM": "hosted_vllm/qwen3",
    "llama.cpp": "openai/local",
}
KEYS = {
    "OPENAI_API_KEY": "sk-conformance-openai",
    "ANTHROPIC_API_KEY": "sk-ant-conformance",
    "GEMINI_API_KEY": "AIza-conformance-gemini",
    "MISTRAL_API_KEY": "conformance-mistral",
    "AZURE_API_KEY": "0123456789abcdef0123456789abcdef",
    "AZURE_API_VERSION": "2024-10-21",
}


def base(provider: str, root: str) -> str:
    """The address to give for a provider: some paths begin with a version, and some have none."""
    return root if provider in {"Azure", "Ollama", "Anthropic"} else f"{root}/v1"


# OpenAI's chat completions, which Azure, Mistral, vLLM and llama.cpp speak too.
def chat(message: Mapping[str, Any], finish: str = "stop", **usage: Any) -> dict[str, Any]:
    choice = {"index": 0, "finish_reason": finish, "message": {"role": "assistant", **message}}
    reply = {"id": "c", "object": "chat.completion", "created": 1, "model": "m"}
    return reply | {"choices": [choice]} | ({"usage": usage} if usage else {})


def chat_usage(read: int, written: int, cached: int = 0, reasoning: int = 0) -> dict[str, Any]:
    return {
        "prompt_tokens": read,
        "completion_tokens": written,
        "total_tokens": read + written,
        "prompt_tokens_details": {"cached_tokens": cached},
        "completion_tokens_details": {"reasoning_tokens": reasoning},
    }


def error(message: str, code: str, kind: str = "invalid_request_error") -> dict[str, Any]:
    return {"error": {"message": message, "type": kind, "param": None, "code": code}}


def response(output: list[Any], stopped: str = "") -> dict[str, Any]:
    """A reply of OpenAI's Responses API."""
    return {
        "id": "r",
        "object": "response",
        "created_at": 1,
        "model": "m",
        "status": "incomplete" if stopped else "completed",
        "incomplete_details": {"reason": stopped} if stopped else None,
        "output": output,
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "usage": {
            "input_tokens": 100,
            "input_tokens_details": {"cached_tokens": 40},
            "output_tokens": 84,
            "output_tokens_details": {"reasoning_tokens": 64},
            "total_tokens": 184,
        },
    }


def said(text: str) -> dict[str, Any]:
    part = {"type": "output_text", "text": text, "annotations": []}
    return {
        "type": "message",
        "id": "m",
        "status": "completed",
        "role": "assistant",
        "content": [part],
    }


REASONED = {
    "type": "reasoning",
    "id": "t",
    "summary": [{"type": "summary_text", "text": "There is one row."}],
}


def message(content: list[Any], stop: str = "end_turn", **usage: int) -> dict[str, Any]:
    """A reply of Anthropic's messages."""
    counts = {"input_tokens": 100, "output_tokens": 84} | usage
    reply = {"id": "m", "type": "message", "role": "assistant", "model": "m"}
    return reply | {
        "content": content,
        "stop_reason": stop,
        "stop_sequence": None,
        "usage": counts,
    }


def anthropic_error(kind: str, text: str) -> dict[str, Any]:
    return {"type": "error", "error": {"type": kind, "message": text}}


def gemini(candidate: Mapping[str, Any] | None, **more: Any) -> dict[str, Any]:
    """A reply of Gemini's generateContent."""
    usage = {
        "promptTokenCount": 100,
        "candidatesTokenCount": 20,
        "thoughtsTokenCount": 64,
        "cachedContentTokenCount": 40,
        "totalTokenCount": 184,
    }
    found = {} if candidate is None else {"candidates": [{"index": 0, **candidate}]}
    return found | {"usageMetadata": usage, "modelVersion": "m", "responseId": "r"} | more


def parts(*texts: Any) -> dict[str, Any]:
    return {"role": "model", "parts": list(texts)}


def gemini_error(code: int, status: str, text: str, *details: Any) -> dict[str, Any]:
    told = {"code": code, "status": status, "message": text, "details": list(details)}
    return {"error": told}


def quota(period: str, delay: str) -> dict[str, Any]:
    kind = "type.googleapis.com/google.rpc."
    violation = {"quotaId": f"GenerateRequestsPer{period}PerProjectPerModel-FreeTier"}
    return gemini_error(
        429,
        "RESOURCE_EXHAUSTED",
        "You exceeded your current quota, please check your plan and billing details.",
        {"@type": f"{kind}QuotaFailure", "violations": [violation]},
        {"@type": f"{kind}RetryInfo", "retryDelay": delay},
    )


def ollama(message: Mapping[str, Any], reason: str = "stop") -> dict[str, Any]:
    """A reply of Ollama's /api/chat."""
    return {
        "model": "m",
        "created_at": "2026-01-01T00:00:00Z",
        "message": {"role": "assistant", **message},
        "done": True,
        "done_reason": reason,
        "prompt_eval_count": 100,
        "eval_count": 84,
    }


def speak(path: str, text: str) -> dict[str, Any]:
    """A reply with this text in the protocol of a request's path."""
    if path.endswith("/messages"):
        return message([{"type": "text", "text": text}])
    if path.endswith(":generateContent"):
        return gemini({"content": parts({"text": text}), "finishReason": "STOP"})
    if path.endswith("/responses"):
        return response([REASONED, said(text)])
    if path.endswith("/api/chat"):
        return ollama({"content": text})
    return chat({"content": text}, **chat_usage(100, 20))


def hear(body: Mapping[str, Any]) -> list[dict[str, str]]:
    """The messages of a request, in OpenAI's form, whatever its protocol."""
    system = body.get("system") or body.get("system_instruction") or body.get("instructions")
    given = body.get("messages") or body.get("contents") or body.get("input")
    turns = [{"role": "system", "content": system}] if system else []
    for turn in [*turns, *(given or [])]:
        turn["content"] = _text(turn.get("content") or turn.get("parts") or "")
    return [*turns, *(given or [])]


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    if isinstance(content, Mapping):
        return _text(content.get("text") or content.get("parts") or "")
    return "".join(map(_text, content))


_answering = Lock()


def answer(path: str, body: dict[str, Any]) -> tuple[int, Any, Mapping[str, str]]:
    """The embedded parser's answer, one at a time, in the protocol of the request. It thinks of nothing."""
    if path.endswith("/api/show"):
        return 404, {}, {}
    request = Request("", "embedded/parser", hear(body), {"temperature": 0.0})
    with _answering:
        found = reply(request, "")
    return 200, speak(path, found["choices"][0]["message"]["content"]), {}
