"""What OpenAI's two protocols do, and Azure's."""

from tests.llm.providers.case import (
    AGAIN,
    FILTERED,
    NOTHING,
    RATE,
    READ,
    SHORT,
    STOPS,
    TEXT,
    TOLD,
    USAGE,
    WAITS,
    Case,
)
from tests.llm.providers.protocols import REASONED, chat, error, response, said

_FILTERED_PROMPT = {
    "message": "The response was filtered due to the prompt triggering Azure OpenAI's content "
    "management policy.",
    "type": None,
    "param": "prompt",
    "code": "content_filter",
    "status": 400,
    "innererror": {"code": "ResponsibleAIPolicyViolation"},
}

OPENAI: dict[tuple[str, str], Case] = {
    ("OpenAI", "answer"): Case(chat({"content": TEXT}, **USAGE), TOLD | {"usage": [100, 84, 40]}),
    ("OpenAI", "cost"): Case(
        chat({"content": TEXT}, **USAGE), {"cost": 60 * 1.25e-6 + 40 * 1.25e-7 + 84 * 1e-5}
    ),
    ("OpenAI", "cut off"): Case(chat({"content": "SELECT"}, "length", **USAGE), SHORT),
    ("OpenAI", "no text left"): Case(chat({"content": ""}, "length", **USAGE), NOTHING),
    ("OpenAI", "filtered"): Case(chat({"content": None}, "content_filter", **USAGE), FILTERED),
    ("OpenAI", "refusal"): Case(
        chat({"content": None, "refusal": "I cannot help."}, **USAGE),
        FILTERED | {"text": "I cannot help."},
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
            **USAGE,
        ),
        {"text": "", "finish_reason": "tool_calls", "fault": ""},
    ),
    ("OpenAI", "rate limit"): Case(RATE, WAITS, 429, {"retry-after": "7"}),
    ("OpenAI", "quota used up"): Case(
        error("You exceeded your current quota, please check your plan.", "insufficient_quota"),
        STOPS,
        429,
    ),
    ("OpenAI", "no such model"): Case(
        error("The model `gpt-5` does not exist or you do not have access.", "model_not_found"),
        STOPS,
        404,
    ),
    ("OpenAI", "wrong key"): Case(
        error("Incorrect API key provided: sk-conf***", "invalid_api_key"), STOPS, 401
    ),
    ("OpenAI", "overloaded"): Case(error("overloaded", "server_error"), AGAIN, 503),
    ("OpenAI, Responses", "answer"): Case(
        response([REASONED, said(TEXT)]), TOLD | {"usage": [100, 84, 40]}
    ),
    ("OpenAI, Responses", "reasoning"): Case(response([REASONED, said(TEXT)]), READ),
    ("OpenAI, Responses", "cost"): Case(
        response([REASONED, said(TEXT)]), {"cost": 100 * 1.5e-5 + 84 * 1.2e-4}
    ),
    ("OpenAI, Responses", "cut off"): Case(response([said("SELECT")], "max_output_tokens"), SHORT),
    ("OpenAI, Responses", "no text left"): Case(response([REASONED], "max_output_tokens"), NOTHING),
    ("OpenAI, Responses", "rate limit"): Case(RATE, WAITS, 429, {"retry-after": "7"}),
    ("OpenAI, Responses", "no such model"): Case(
        error("The model `gpt-5-pro` does not exist.", "model_not_found"), STOPS, 404
    ),
    ("Azure", "answer"): Case(
        chat({"content": TEXT}, **USAGE) | {"prompt_filter_results": [{"prompt_index": 0}]},
        TOLD | {"usage": [100, 84, 40]},
    ),
    ("Azure", "cost"): Case(
        chat({"content": TEXT}, **USAGE), {"cost": 60 * 2.5e-6 + 40 * 1.25e-6 + 84 * 1e-5}
    ),
    ("Azure", "cut off"): Case(chat({"content": "SELECT"}, "length", **USAGE), SHORT),
    ("Azure", "filtered"): Case(chat({"content": ""}, "content_filter", **USAGE), FILTERED),
    ("Azure", "filtered prompt"): Case({"error": _FILTERED_PROMPT}, FILTERED, 400),
    ("Azure", "rate limit"): Case(RATE, WAITS, 429, {"retry-after": "7"}),
    ("Azure", "no such model"): Case(
        {
            "error": {
                "code": "DeploymentNotFound",
                "message": "The API deployment for this resource does not exist.",
            }
        },
        STOPS,
        404,
    ),
    ("Azure", "wrong key"): Case(
        {"error": {"code": "401", "message": "Access denied due to invalid subscription key."}},
        STOPS,
        401,
    ),
}
