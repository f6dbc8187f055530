"""A case of a provider's behaviour, and what is read in most of them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.llm.providers.protocols import chat, chat_usage, error

TEXT, THOUGHT = "SELECT 1", "There is one row."


@dataclass(frozen=True, slots=True)
class Case:
    """The server's `body`, `status` and `headers`, and what is read from them, by name."""

    body: Mapping[str, Any]
    read: Mapping[str, Any]
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)


TOLD = {"text": TEXT, "finish_reason": "stop", "fault": ""}
READ = TOLD | {"reasoning": THOUGHT, "usage": [100, 84, 40]}
SHORT = {"text": "SELECT", "finish_reason": "length", "fault": ""}
NOTHING = {"text": "", "finish_reason": "length", "fault": "", "usage": [100, 84, 40]}
FILTERED = {"fault": "filtered"}
STOPS = {"fault": "rejected", "fatal": True}
WAITS = {"fault": "rate_limit", "fatal": False, "again": True, "wait": 7.0}
AGAIN = {"fault": "server", "fatal": False, "again": True}

USAGE = chat_usage(100, 84, 40, 64)
CHAT = chat({"content": TEXT, "reasoning_content": THOUGHT}, **USAGE)
RATE = error("Rate limit reached for requests per min (RPM): Limit 3", "rate_limit_exceeded")
