"""What the other providers do, and servers of one's own."""

from tests.llm.providers.case import (
    AGAIN,
    CHAT,
    FILTERED,
    NOTHING,
    READ,
    SHORT,
    STOPS,
    TEXT,
    THOUGHT,
    TOLD,
    USAGE,
    WAITS,
    Case,
)
from tests.llm.providers.protocols import (
    anthropic_error,
    chat,
    error,
    gemini,
    gemini_error,
    message,
    ollama,
    parts,
    quota,
)

_THINKING = {"type": "thinking", "thinking": THOUGHT, "signature": "s"}
_TEXT_BLOCK = {"type": "text", "text": TEXT}
OTHERS: dict[tuple[str, str], Case] = {
    ("Anthropic", "answer"): Case(message([_TEXT_BLOCK]), TOLD | {"usage": [100, 84, 0]}),
    ("Anthropic", "reasoning"): Case(
        message([_THINKING, _TEXT_BLOCK]), TOLD | {"reasoning": THOUGHT}
    ),
    ("Anthropic", "cost"): Case(
        message([_TEXT_BLOCK], cache_read_input_tokens=40, cache_creation_input_tokens=20),
        {"usage": [160, 84, 40], "cost": 100 * 5e-6 + 40 * 5e-7 + 20 * 6.25e-6 + 84 * 2.5e-5},
    ),
    ("Anthropic", "cut off"): Case(
        message([{"type": "text", "text": "SELECT"}], "max_tokens"), SHORT
    ),
    ("Anthropic", "no text left"): Case(
        message([_THINKING], "max_tokens"), NOTHING | {"usage": [100, 84, 0]}
    ),
    ("Anthropic", "refusal"): Case(message([], "refusal"), FILTERED),
    ("Anthropic", "rate limit"): Case(
        anthropic_error("rate_limit_error", "This request would exceed your rate limit."),
        WAITS,
        429,
        {"retry-after": "7"},
    ),
    ("Anthropic", "out of credit"): Case(
        anthropic_error("invalid_request_error", "Your credit balance is too low to access it."),
        STOPS,
        400,
    ),
    ("Anthropic", "no such model"): Case(
        anthropic_error("not_found_error", "model: claude-opus-4-6"), STOPS, 404
    ),
    ("Anthropic", "wrong key"): Case(
        anthropic_error("authentication_error", "invalid x-api-key"), STOPS, 401
    ),
    ("Anthropic", "overloaded"): Case(
        anthropic_error("overloaded_error", "Overloaded"), AGAIN, 529
    ),
    ("Gemini", "answer"): Case(
        gemini({"content": parts({"text": TEXT}), "finishReason": "STOP"}),
        TOLD | {"usage": [100, 84, 40]},
    ),
    ("Gemini", "reasoning"): Case(
        gemini(
            {
                "content": parts({"text": THOUGHT, "thought": True}, {"text": TEXT}),
                "finishReason": "STOP",
            }
        ),
        READ,
    ),
    ("Gemini", "cost"): Case(
        gemini({"content": parts({"text": TEXT}), "finishReason": "STOP"}),
        {"cost": 60 * 1.25e-6 + 40 * 1.25e-7 + 84 * 1e-5},
    ),
    ("Gemini", "cut off"): Case(
        gemini({"content": parts({"text": "SELECT"}), "finishReason": "MAX_TOKENS"}), SHORT
    ),
    ("Gemini", "no text left"): Case(
        gemini({"content": {"role": "model"}, "finishReason": "MAX_TOKENS"}), NOTHING
    ),
    ("Gemini", "filtered"): Case(
        gemini({"finishReason": "SAFETY"}), FILTERED | {"usage": [100, 84, 0]}
    ),
    ("Gemini", "filtered prompt"): Case(
        gemini(None, promptFeedback={"blockReason": "PROHIBITED_CONTENT"}), FILTERED
    ),
    ("Gemini", "rate limit"): Case(quota("Minute", "7s"), WAITS, 429),
    ("Gemini", "rate limit, with 403 in a number"): Case(
        quota("Minute", "40.403s"), WAITS | {"wait": 40.403}, 429
    ),
    ("Gemini", "overloaded, with 403 in a number"): Case(
        gemini_error(503, "UNAVAILABLE", "Overloaded: request 14032."), AGAIN, 503
    ),
    ("Gemini", "no answer in time, with 403 in a number"): Case(
        gemini_error(504, "DEADLINE_EXCEEDED", "Request 14032 took too long."),
        AGAIN | {"fault": "timeout"},
        504,
    ),
    ("Gemini", "too long, with 403 in a number"): Case(
        gemini_error(400, "INVALID_ARGUMENT", "1403200 tokens exceed the maximum of 1048576."),
        STOPS | {"fatal": False},
        400,
    ),
    ("Gemini", "quota used up"): Case(quota("Day", "7s"), STOPS, 429),
    ("Gemini", "no such model"): Case(
        gemini_error(404, "NOT_FOUND", "models/gemini-2.5-pro is not found for API version v1beta"),
        STOPS,
        404,
    ),
    ("Gemini", "wrong key"): Case(
        gemini_error(400, "INVALID_ARGUMENT", "API key not valid. Please pass a valid API key."),
        STOPS,
        400,
    ),
    ("Gemini", "overloaded"): Case(
        gemini_error(503, "UNAVAILABLE", "The model is overloaded."), AGAIN, 503
    ),
    ("Mistral", "answer"): Case(chat({"content": TEXT}, **USAGE), TOLD | {"usage": [100, 84, 40]}),
    ("Mistral", "reasoning"): Case(
        chat(
            {
                "content": [
                    {"type": "thinking", "thinking": [{"type": "text", "text": THOUGHT}]},
                    _TEXT_BLOCK,
                ]
            },
            **USAGE,
        ),
        READ,
    ),
    ("Mistral", "cut off"): Case(chat({"content": "SELECT"}, "length", **USAGE), SHORT),
    ("Mistral", "no such model"): Case(
        {
            "object": "error",
            "message": "Invalid model: magistral",
            "type": "invalid_model",
            "code": "1500",
        },
        STOPS,
        400,
    ),
    ("Ollama", "answer"): Case(ollama({"content": TEXT}), TOLD | {"usage": [100, 84, 0]}),
    ("Ollama", "reasoning"): Case(
        ollama({"content": TEXT, "thinking": THOUGHT}), TOLD | {"reasoning": THOUGHT}
    ),
    ("Ollama", "cut off"): Case(ollama({"content": "SELECT"}, "length"), SHORT),
    ("Ollama", "no such model"): Case({"error": "model 'qwen3' not found"}, STOPS, 404),
    ("vLLM", "answer"): Case(CHAT, READ),
    ("vLLM", "reasoning"): Case(chat({"content": TEXT, "reasoning": THOUGHT}, **USAGE), READ),
    ("vLLM", "cut off"): Case(chat({"content": "SELECT"}, "length", **USAGE), SHORT),
    ("vLLM", "no text left"): Case(
        chat({"content": None, "reasoning_content": THOUGHT}, "length", **USAGE), NOTHING
    ),
    ("vLLM", "no usage"): Case(chat({"content": TEXT}), TOLD | {"usage": [0, 0, 0], "cost": None}),
    ("vLLM", "no such model"): Case(
        {
            "object": "error",
            "message": "The model `qwen3` does not exist.",
            "type": "NotFoundError",
            "code": 404,
        },
        STOPS,
        404,
    ),
    ("llama.cpp", "answer"): Case(
        chat({"content": TEXT}, **USAGE), TOLD | {"usage": [100, 84, 40]}
    ),
    ("llama.cpp", "reasoning"): Case(CHAT, READ),
    ("llama.cpp", "cut off"): Case(chat({"content": "SELECT"}, "length", **USAGE), SHORT),
    ("llama.cpp", "no usage"): Case(
        chat({"content": TEXT}), TOLD | {"usage": [0, 0, 0], "cost": None}
    ),
    ("llama.cpp", "answer in parts"): Case(
        chat(
            {"content": [{"type": "text", "text": "SELECT"}, {"type": "text", "text": " 1"}]},
            **USAGE,
        ),
        TOLD,
    ),
    ("llama.cpp", "overloaded"): Case(error("Loading model", "", "unavailable_error"), AGAIN, 503),
}
