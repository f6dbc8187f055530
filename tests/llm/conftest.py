"""A loopback provider, keys that are canaries, and a cache, for the tests of model calls."""

import pytest

import workbench as wb
from tests.llm.server import Server

CANARY = "sk-canary-0123456789abcdef"
KEYS = ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY", "MISTRAL_API_KEY")


@pytest.fixture(autouse=True)
def environment(monkeypatch):
    for name in (
        "HTTP_PROXY",
        "HTTPS_PROXY",
        "ALL_PROXY",
        "OPENAI_API_BASE",
        "OPENAI_BASE_URL",
    ):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)
    for name in KEYS:
        monkeypatch.setenv(name, CANARY)


@pytest.fixture
def cache(tmp_path):
    with wb.Cache(tmp_path / "lab.sqlite") as cache:
        yield cache


@pytest.fixture
def server():
    with Server() as running:
        yield running


@pytest.fixture
def ask():
    """Requests whose messages are `q 0`, `q 1`...: `ask(3, "openai/gpt-4o-mini", max_tokens=5)`."""

    def requests(number, model="openai/gpt-4o-mini", first=0, **parameters):
        texts = (f"q {n}" for n in range(first, first + number))
        return [
            wb.Request("direct", model, [{"role": "user", "content": text}], parameters)
            for text in texts
        ]

    return requests
