"""What each provider does, case by case: what its server sends, and what must be read from that.

A provider without a case for a behaviour does not behave so, as far as its documentation says.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.llm.providers.protocols import (
    MODELS,
    REASONED,
    anthropic_error,
    chat,
    chat_usage,
    error,
    gemini,
    gemini_error,
    message,
    ollama,
    parts,
    quota,
    response,
    said,
)  # fmt: skip

TEXT, THOUGHT = "SELECT 1", "There is one row."


@dataclass(frozen=True, slots=True)
class Case:
    """The server's `body`, `status` and `headers`, and what is read from them, by name."""

    body: Mapping[str, Any]
    read: Mapping[str, Any]
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)


_TOLD = {"text": TEXT, "finish_reason": "stop", "fault": ""}
_READ = _TOLD | {"reasoning": THOUGHT, "usage": [100, 84, 40]}
_SHORT = {"text": "SELECT", "finish_reason": "length", "fault": ""}
_NOTHING = {"text": "", "finish_reason": "length", "fault": "", "usage": [100, 84, 40]}
_FILTERED = {"fault": "filtered"}
_STOPS = {"fault": "rejected", "fatal": True}
_WAITS = {"fault": "rate_limit", "fatal": False, "again": True, "wait": 7.0}
_AGAIN = {"fault": "server", "fatal": False, "again": True}

_USAGE = chat_usage(100, 84, 40, 64)
_CHAT = chat({"content": TEXT, "reasoning_content": THOUGHT}, **_USAGE)
_RATE = error("Rate limit reached for requests per min (RPM): Limit 3", "rate_limit_exceeded")
_THINKING = {"type": "thinking", "thinking": THOUGHT, "signature": "s"}
_TEXT_BLOCK = {"type": "text", "text": TEXT}
_FILTERED_PROMPT = {
    "message": "The response was filtered due to the prompt triggering Azure OpenAI's content "
    "management policy.",
    "type": None,
    "param": "prompt",
    "code": "content_filter",
    "status": 400,
    "innererror": {"code": "ResponsibleAIPolicyViolation"},
}

CASES: dict[tuple[str, str], Case] = {
    ("OpenAI", "answer"): Case(chat({"content": TEXT}, **_USAGE), _TOLD | {"usage": [100, 84, 40]}),
    ("OpenAI", "cost"): Case(
        chat({"content": TEXT}, **_USAGE), {"cost": 60 * 1.25e-6 + 40 * 1.25e-7 + 84 * 1e-5}
    ),
    ("OpenAI", "cut off"): Case(chat({"content": "SELECT"}, "length", **_USAGE), _SHORT),
    ("OpenAI", "no text left"): Case(chat({"content": ""}, "length", **_USAGE), _NOTHING),
    ("OpenAI", "filtered"): Case(chat({"content": None}, "content_filter", **_USAGE), _FILTERED),
    ("OpenAI", "refusal"): Case(
        chat({"content": None, "refusal": "I cannot help."}, **_USAGE),
        _FILTERED | {"text": "I cannot help."},
    ),
    ("OpenAI", "tool calls"): Case(
        chat(
            {
                "content": None,
                "tool_calls": [
                    {"id": "1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
                ],
            },
            "tool_calls",
            **_USAGE,
        ),
        {"text": "", "finish_reason": "tool_calls", "fault": ""},
    ),
    ("OpenAI", "rate limit"): Case(_RATE, _WAITS, 429, {"retry-after": "7"}),
    ("OpenAI", "quota used up"): Case(
        error("You exceeded your current quota, please check your plan.", "insufficient_quota"),
        _STOPS,
        429,
    ),
    ("OpenAI", "no such model"): Case(
        error("The model `gpt-5` does not exist or you do not have access.", "model_not_found"),
        _STOPS,
        404,
    ),
    ("OpenAI", "wrong key"): Case(
        error("Incorrect API key provided: sk-conf***", "invalid_api_key"), _STOPS, 401
    ),
    ("OpenAI", "overloaded"): Case(error("overloaded", "server_error"), _AGAIN, 503),
    ("OpenAI, Responses", "answer"): Case(
        response([REASONED, said(TEXT)]), _TOLD | {"usage": [100, 84, 40]}
    ),
    ("OpenAI, Responses", "reasoning"): Case(response([REASONED, said(TEXT)]), _READ),
    ("OpenAI, Responses", "cost"): Case(
        response([REASONED, said(TEXT)]), {"cost": 100 * 1.5e-5 + 84 * 1.2e-4}
    ),
    ("OpenAI, Responses", "cut off"): Case(response([said("SELECT")], "max_output_tokens"), _SHORT),
    ("OpenAI, Responses", "no text left"): Case(
        response([REASONED], "max_output_tokens"), _NOTHING
    ),
    ("OpenAI, Responses", "rate limit"): Case(_RATE, _WAITS, 429, {"retry-after": "7"}),
    ("OpenAI, Responses", "no such model"): Case(
        error("The model `gpt-5-pro` does not exist.", "model_not_found"), _STOPS, 404
    ),
    ("Azure", "answer"): Case(
        chat({"content": TEXT}, **_USAGE) | {"prompt_filter_results": [{"prompt_index": 0}]},
        _TOLD | {"usage": [100, 84, 40]},
    ),
    ("Azure", "cost"): Case(
        chat({"content": TEXT}, **_USAGE), {"cost": 60 * 2.5e-6 + 40 * 1.25e-6 + 84 * 1e-5}
    ),
    ("Azure", "cut off"): Case(chat({"content": "SELECT"}, "length", **_USAGE), _SHORT),
    ("Azure", "filtered"): Case(chat({"content": ""}, "content_filter", **_USAGE), _FILTERED),
    ("Azure", "filtered prompt"): Case({"error": _FILTERED_PROMPT}, _FILTERED, 400),
    ("Azure", "rate limit"): Case(_RATE, _WAITS, 429, {"retry-after": "7"}),
    ("Azure", "no such model"): Case(
        {
            "error": {
                "code": "DeploymentNotFound",
                "message": "The API deployment for this resource does not exist.",
            }
        },
        _STOPS,
        404,
    ),
    ("Azure", "wrong key"): Case(
        {"error": {"code": "401", "message": "Access denied due to invalid subscription key."}},
        _STOPS,
        401,
    ),
    ("Anthropic", "answer"): Case(message([_TEXT_BLOCK]), _TOLD | {"usage": [100, 84, 0]}),
    ("Anthropic", "reasoning"): Case(
        message([_THINKING, _TEXT_BLOCK]), _TOLD | {"reasoning": THOUGHT}
    ),
    ("Anthropic", "cost"): Case(
        message([_TEXT_BLOCK], cache_read_input_tokens=40, cache_creation_input_tokens=20),
        {"usage": [160, 84, 40], "cost": 100 * 5e-6 + 40 * 5e-7 + 20 * 6.25e-6 + 84 * 2.5e-5},
    ),
    ("Anthropic", "cut off"): Case(
        message([{"type": "text", "text": "SELECT"}], "max_tokens"), _SHORT
    ),
    ("Anthropic", "no text left"): Case(
        message([_THINKING], "max_tokens"), _NOTHING | {"usage": [100, 84, 0]}
    ),
    ("Anthropic", "refusal"): Case(message([], "refusal"), _FILTERED),
    ("Anthropic", "rate limit"): Case(
        anthropic_error("rate_limit_error", "This request would exceed your rate limit."),
        _WAITS,
        429,
        {"retry-after": "7"},
    ),
    ("Anthropic", "out of credit"): Case(
        anthropic_error("invalid_request_error", "Your credit balance is too low to access it."),
        _STOPS,
        400,
    ),
    ("Anthropic", "no such model"): Case(
        anthropic_error("not_found_error", "model: claude-opus-4-6"), _STOPS, 404
    ),
    ("Anthropic", "wrong key"): Case(
        anthropic_error("authentication_error", "invalid x-api-key"), _STOPS, 401
    ),
    ("Anthropic", "overloaded"): Case(
        anthropic_error("overloaded_error", "Overloaded"), _AGAIN, 529
    ),
    ("Gemini", "answer"): Case(
        gemini({"content": parts({"text": TEXT}), "finishReason": "STOP"}),
        _TOLD | {"usage": [100, 84, 40]},
    ),
    ("Gemini", "reasoning"): Case(
        gemini(
            {
                "content": parts({"text": THOUGHT, "thought": True}, {"text": TEXT}),
                "finishReason": "STOP",
            }
        ),
        _READ,
    ),
    ("Gemini", "cost"): Case(
        gemini({"content": parts({"text": TEXT}), "finishReason": "STOP"}),
        {"cost": 60 * 1.25e-6 + 40 * 1.25e-7 + 84 * 1e-5},
    ),
    ("Gemini", "cut off"): Case(
        gemini({"content": parts({"text": "SELECT"}), "finishReason": "MAX_TOKENS"}), _SHORT
    ),
    ("Gemini", "no text left"): Case(
        gemini({"content": {"role": "model"}, "finishReason": "MAX_TOKENS"}), _NOTHING
    ),
    ("Gemini", "filtered"): Case(
        gemini({"finishReason": "SAFETY"}), _FILTERED | {"usage": [100, 84, 0]}
    ),
    ("Gemini", "filtered prompt"): Case(
        gemini(None, promptFeedback={"blockReason": "PROHIBITED_CONTENT"}), _FILTERED
    ),
    ("Gemini", "rate limit"): Case(quota("Minute", "7s"), _WAITS, 429),
    ("Gemini", "quota used up"): Case(quota("Day", "7s"), _STOPS, 429),
    ("Gemini", "no such model"): Case(
        gemini_error(404, "NOT_FOUND", "models/gemini-2.5-pro is not found for API version v1beta"),
        _STOPS,
        404,
    ),
    ("Gemini", "wrong key"): Case(
        gemini_error(400, "INVALID_ARGUMENT", "API key not valid. Please pass a valid API key."),
        _STOPS,
        400,
    ),
    ("Gemini", "overloaded"): Case(
        gemini_error(503, "UNAVAILABLE", "The model is overloaded."), _AGAIN, 503
    ),
    ("Mistral", "answer"): Case(
        chat({"content": TEXT}, **_USAGE), _TOLD | {"usage": [100, 84, 40]}
    ),
    ("Mistral", "reasoning"): Case(
        chat(
            {
                "content": [
                    {"type": "thinking", "thinking": [{"type": "text", "text": THOUGHT}]},
                    _TEXT_BLOCK,
                ]
            },
            **_USAGE,
        ),
        _READ,
    ),
    ("Mistral", "cut off"): Case(chat({"content": "SELECT"}, "length", **_USAGE), _SHORT),
    ("Mistral", "no such model"): Case(
        {
            "object": "error",
            "message": "Invalid model: magistral",
            "type": "invalid_model",
            "code": "1500",
        },
        _STOPS,
        400,
    ),
    ("Ollama", "answer"): Case(ollama({"content": TEXT}), _TOLD | {"usage": [100, 84, 0]}),
    ("Ollama", "reasoning"): Case(
        ollama({"content": TEXT, "thinking": THOUGHT}), _TOLD | {"reasoning": THOUGHT}
    ),
    ("Ollama", "cut off"): Case(ollama({"content": "SELECT"}, "length"), _SHORT),
    ("Ollama", "no such model"): Case({"error": "model 'qwen3' not found"}, _STOPS, 404),
    ("vLLM", "answer"): Case(_CHAT, _READ),
    ("vLLM", "reasoning"): Case(chat({"content": TEXT, "reasoning": THOUGHT}, **_USAGE), _READ),
    ("vLLM", "cut off"): Case(chat({"content": "SELECT"}, "length", **_USAGE), _SHORT),
    ("vLLM", "no text left"): Case(
        chat({"content": None, "reasoning_content": THOUGHT}, "length", **_USAGE), _NOTHING
    ),
    ("vLLM", "no usage"): Case(chat({"content": TEXT}), _TOLD | {"usage": [0, 0, 0], "cost": None}),
    ("vLLM", "no such model"): Case(
        {
            "object": "error",
            "message": "The model `qwen3` does not exist.",
            "type": "NotFoundError",
            "code": 404,
        },
        _STOPS,
        404,
    ),
    ("llama.cpp", "answer"): Case(
        chat({"content": TEXT}, **_USAGE), _TOLD | {"usage": [100, 84, 40]}
    ),
    ("llama.cpp", "reasoning"): Case(_CHAT, _READ),
    ("llama.cpp", "cut off"): Case(chat({"content": "SELECT"}, "length", **_USAGE), _SHORT),
    ("llama.cpp", "no usage"): Case(
        chat({"content": TEXT}), _TOLD | {"usage": [0, 0, 0], "cost": None}
    ),
    ("llama.cpp", "answer in parts"): Case(
        chat(
            {"content": [{"type": "text", "text": "SELECT"}, {"type": "text", "text": " 1"}]},
            **_USAGE,
        ),
        _TOLD,
    ),
    ("llama.cpp", "overloaded"): Case(error("Loading model", "", "unavailable_error"), _AGAIN, 503),
}


def table() -> str:
    """The cases as a Markdown table: a row for each behaviour, a column for each provider."""
    rows = list(dict.fromkeys(behaviour for _, behaviour in CASES))
    head = ["", *MODELS]
    lines = [head, ["---"] * len(head)]
    lines += [[row, *("✓" if (name, row) in CASES else "" for name in MODELS)] for row in rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
