"""A key comes from the environment and is found nowhere else."""

import logging
from dataclasses import replace
from pathlib import Path

import pytest

from tests.llm.conftest import CANARY
from tests.llm.providers.protocols import chat, speak
from tests.llm.server import Server
from tests.llm.wire import ask
from workbench.errors import ProviderError, redact
from workbench.llm.cache import transfer
from workbench.llm.client import Client
from workbench.llm.provider import Refusal
from workbench.llm.scripted import Scripted
from workbench.store import Store


@pytest.mark.usefixtures("litellm")
def test_a_key_reaches_the_provider_and_no_file_log_or_error(
    store: Store,
    tmp_path: Path,
    server: Server,
    caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
) -> None:
    caplog.set_level(logging.DEBUG)
    address = server.url.replace("//", f"//user:{CANARY}@") + f"?api_key={CANARY}"
    server.plan.extend(["ok", "400", "500", "ok", "401"])
    client = Client(store, api_base=server.url, retries=1)
    answers = [client.complete(ask(f"question {i}")) for i in range(3)]
    with pytest.raises(ProviderError) as raised:
        client.complete(ask("the last"))
    Client(store, send=Scripted(["x"]), api_base=address).complete(ask())
    transfer.export(store, tmp_path / "bundle.jsonl")
    store.backup(tmp_path / "copy.sqlite")
    assert server.headers[0]["Authorization"] == f"Bearer {CANARY}"
    files = [file for file in tmp_path.rglob("*") if file.is_file()]
    assert {"lab.sqlite", "lab.sqlite-wal", "bundle.jsonl"} <= {file.name for file in files}
    assert [file.name for file in files if CANARY.encode() in file.read_bytes()] == []
    assert CANARY not in f"{answers} {raised.value!r} {client.ledger}"
    captured = capfd.readouterr()
    assert CANARY not in captured.out + captured.err


def test_keys_in_a_providers_message_are_masked(store: Store) -> None:
    said = f"Incorrect API key provided: {CANARY}"
    answer = Client(store, send=Scripted([Refusal("rejected", said)])).complete(ask())
    assert answer.error == "Incorrect API key provided: ***"


@pytest.mark.parametrize(
    "text",
    [
        f"key {CANARY}.",
        "Authorization: Bearer abcdef.ghijkl",
        "http://user:pa55word@example.org/v1",
        "https://example.org/v1?api_key=abcdefgh123",
        "x-api-key: abcdefgh123",
    ],
)
def test_keys_are_recognised_in_any_text(text: str) -> None:
    for secret in (CANARY, "abcdef.ghijkl", "pa55word", "abcdefgh123"):
        assert secret not in redact(text)
    assert "***" in redact(text)


def test_text_that_holds_no_key_is_not_masked() -> None:
    text = "no such column: task_key-value; SELECT sk FROM t WHERE a = 'sk-1'"
    assert redact(text) == text


@pytest.mark.usefixtures("litellm")
def test_a_key_that_a_server_repeats_in_its_answer_is_not_kept(
    store: Store, server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AZURE_API_KEY", "0123456789abcdef0123456789abcdef")
    url = server.url.replace("//", "//me:pa55word@")
    basic = "bWU6cGE1NXdvcmQ="  # me:pa55word
    told = f"{CANARY} 0123456789abcdef0123456789abcdef {basic} pa55word"
    server.respond = lambda _path, _body: (200, chat({"content": told}), {})
    answer = Client(store, api_base=url).complete(ask())
    transfer.export(store, tmp_path / "bundle.jsonl")
    assert answer.text == "*** *** *** ***"
    kept = b"".join(file.read_bytes() for file in tmp_path.rglob("*") if file.is_file())
    assert not any(secret.encode() in kept for secret in told.split())


def test_a_key_that_changes_in_the_environment_is_masked_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for key in ("the-first-key", "the-second-key"):
        monkeypatch.setenv("EXAMPLE_API_KEY", key)
        assert redact(key) == "***"
    assert redact("the-first-key") == "the-first-key"


@pytest.mark.usefixtures("litellm")
@pytest.mark.parametrize(
    ("model", "header", "words"),
    [
        ("openai/gpt-4o-mini", "authorization", "Bearer "),
        ("anthropic/claude-opus-4-6", "x-api-key", ""),
        ("gemini/gemini-2.5-pro", "x-goog-api-key", ""),
    ],
)
def test_a_key_that_changes_in_the_environment_is_sent_from_then_on(
    store: Store,
    server: Server,
    monkeypatch: pytest.MonkeyPatch,
    model: str,
    header: str,
    words: str,
) -> None:
    server.respond = lambda path, _body: (200, speak(path, "hello"), {})
    client = Client(store, api_base=server.url)
    for number, key in enumerate(
        (CANARY, CANARY, "sk-another-0123456789", "sk-another-0123456789")
    ):
        monkeypatch.setenv(f"{model.split('/', maxsplit=1)[0].upper()}_API_KEY", key)
        client.complete(replace(ask(f"question {number}"), model=model))
        sent = {name.lower(): value for name, value in server.headers[-1].items()}
        assert sent[header] == f"{words}{key}"
    files = [store.path, store.path.with_name(store.path.name + "-wal")]
    assert not any(CANARY.encode() in file.read_bytes() for file in files)


def test_secrets_of_the_environment_and_keys_of_any_provider_are_masked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("WATSONX_APIKEY", "an-odd/secret+form")
    hidden = redact("an-odd/secret+form, 0123456789abcdef0123456789abcdef, Basic bWU6cGE1NXdvcmQ=")
    assert hidden == "***, ***, Basic ***"
