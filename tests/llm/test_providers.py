"""Three providers' protocols x what they may answer, by LiteLLM against a server on loopback."""

import base64
import json
import re
import struct
import subprocess
import sys
import traceback

import pytest

import workbench as wb
from tests.llm.conftest import CANARY
from tests.llm.server import FAULTS, Server, error, reply_to
from workbench.errors import ProviderError
from workbench.llm import send

MODELS = {
    "OpenAI": "openai/gpt-4o-mini",
    "vLLM": "hosted_vllm/qwen",
    "Anthropic": "anthropic/claude-sonnet-4-5",
    "Gemini": "gemini/gemini-2.5-flash",
}


def anthropic(text, stop="end_turn"):
    content = [{"type": "text", "text": text}] if text is not None else []
    return {"id": "m", "type": "message", "role": "assistant", "model": "m", "content": content,
            "stop_reason": stop, "stop_sequence": None,
            "usage": {"input_tokens": 100, "output_tokens": 20}}  # fmt: skip


def gemini(text, stop="STOP"):
    content = (
        {"content": {"role": "model", "parts": [{"text": text}]}}
        if text is not None
        else {}
    )
    candidates = (
        [] if stop == "none" else [{**content, "finishReason": stop, "index": 0}]
    )
    return {"candidates": candidates, "modelVersion": "m",
            "usageMetadata": {"promptTokenCount": 100, "candidatesTokenCount": 20, "totalTokenCount": 120}}  # fmt: skip


def openai(text, stop="stop"):
    reply = reply_to({}, stop)
    reply["choices"][0]["message"]["content"] = text
    return reply if stop != "none" else reply | {"choices": []}


def claude_error(status, kind, text, **headers):
    found = error(status, kind, text, **headers)
    return (
        status,
        {"type": "error", "error": {"type": kind, "message": text}},
        found[2],
    )


def google_error(status, kind, text, delay="", **headers):
    details = [
        {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": delay}
    ]
    body = {
        "code": status,
        "status": kind,
        "message": text,
        "details": details if delay else [],
    }
    return (status, {"error": body}, error(status, kind, text, **headers)[2])


QUOTA = "You exceeded your current quota, please check your plan and billing details."
WORDS = {
    "OpenAI": {
        "text": (200, openai("SELECT 1"), {}), "cut off": (200, openai("SELECT", "length"), {}),
        "filtered": (200, openai(None, "content_filter"), {}), "no choices": (200, openai("", "none"), {}),
        "429": FAULTS["429"], "429 and a time": error(429, "rate_limit", "slow down", Retry_After="0.3"),
        "key": FAULTS["401"], "credit": FAULTS["quota"], "credit in a 400": FAULTS["credit"],
        "no model": FAULTS["404"], "bad request": FAULTS["400"], "server": FAULTS["503"],
    },
    "Anthropic": {
        "text": (200, anthropic("SELECT 1"), {}), "cut off": (200, anthropic("SELECT", "max_tokens"), {}),
        "filtered": (200, anthropic(None, "refusal"), {}), "no choices": (200, anthropic(None), {}),
        "429": claude_error(429, "rate_limit_error", "would exceed your rate limit"),
        "429 and a time": claude_error(429, "rate_limit_error", "slow down", retry_after="0.3"),
        "key": claude_error(401, "authentication_error", "invalid x-api-key"),
        "credit": claude_error(429, "rate_limit_error", "Your credit balance is too low."),
        "credit in a 400": claude_error(400, "invalid_request_error", "Your credit balance is too low."),
        "no model": claude_error(404, "not_found_error", "model: claude"),
        "bad request": claude_error(400, "invalid_request_error", "messages: roles must alternate"),
        "server": claude_error(529, "overloaded_error", "Overloaded"),
    },
    "Gemini": {
        "text": (200, gemini("SELECT 1"), {}), "cut off": (200, gemini("SELECT", "MAX_TOKENS"), {}),
        "filtered": (200, gemini(None, "SAFETY"), {}), "no choices": (200, gemini(None, "none"), {}),
        "429": google_error(429, "RESOURCE_EXHAUSTED", QUOTA, "1s"),
        "429 and a time": google_error(429, "RESOURCE_EXHAUSTED", "slow down", retry_after="0.3"),
        "key": google_error(400, "INVALID_ARGUMENT", "API key not valid. Please pass a valid API key."),
        "credit": google_error(429, "RESOURCE_EXHAUSTED", QUOTA),
        "credit in a 400": google_error(429, "RESOURCE_EXHAUSTED", f"{QUOTA} PerDay per day", "7s"),
        "no model": google_error(404, "NOT_FOUND", "models/gemini is not found"),
        "bad request": google_error(400, "INVALID_ARGUMENT", "contents is not specified"),
        "server": google_error(503, "UNAVAILABLE", "The model is overloaded."),
    },
}  # fmt: skip
WORDS["vLLM"] = WORDS["OpenAI"]
HTML = FAULTS["html"]
CASES = [(name, case) for name in MODELS for case in (*WORDS[name], "HTML")]


@pytest.mark.parametrize(("name", "case"), CASES)
def test_a_provider(cache, ask, name, case):
    good = WORDS[name]["text"]
    with Server([WORDS[name].get(case, HTML)], respond=lambda *_: good) as server:
        base = server.root if name == "Anthropic" else server.url
        client = wb.Client(cache, api_base=base, retries=1)
        (request,) = ask(1, MODELS[name], max_tokens=50)
        if case in {"key", "credit", "credit in a 400", "no model"}:
            with pytest.raises(ProviderError) as caught:
                client.complete(request)
            assert CANARY not in str(caught.value)
            assert server.requests == 1
            return
        answer = client.complete(request)
        repeated = case in {"429", "429 and a time", "server"}
        assert server.requests == 1 + repeated
    if case == "text" or repeated:
        assert (answer.text, answer.finish_reason, answer.fault) == (
            "SELECT 1",
            "stop",
            "",
        )
        assert (answer.input_tokens, answer.output_tokens) == (100, 20)
        assert (answer.cost is None) == (name == "vLLM")
    else:
        faults = {
            "cut off": "",
            "filtered": "filtered",
            "no choices": "empty",
            "HTML": "malformed",
        }
        assert answer.fault == faults.get(case, "rejected")
        assert (answer.finish_reason == "length") == (case == "cut off")
    if case == "429 and a time":
        assert server.times[1] - server.times[0] >= 0.3
    assert len(cache.read("SELECT key FROM calls")) == (
        answer.fault in {"", "filtered"}
    )


@pytest.mark.parametrize("name", MODELS)
def test_a_key_follows_no_redirect(cache, ask, name):
    with Server() as thief:
        moved = (307, {}, {"Location": f"{thief.root}/v1/chat/completions"})
        with Server([moved] * 9) as server:
            client = wb.Client(cache, api_base=server.url)
            with pytest.raises(ProviderError, match="redirects"):
                client.complete(ask(1, MODELS[name])[0])
        assert not thief.requests


@pytest.mark.parametrize("name", MODELS)
def test_an_error_object_in_a_200_keeps_its_reason_and_is_repeated(cache, ask, name):
    plan = [
        (200, {"error": "overloaded"}, {}),
        (200, {"error": {"message": "out of credits", "code": 402}}, {}),
    ]
    with Server(plan) as server:
        client = wb.Client(cache, api_base=server.url)
        with pytest.raises(ProviderError, match="out of credits"):
            client.complete(ask(1, MODELS[name])[0])
        assert server.requests == 2


@pytest.mark.parametrize(
    "given",
    ["999999999", "inf", "1e400", "Wed, 21 Oct 2099 07:28:00 GMT", "nan", "-5", "x"],
)
def test_an_absurd_wait_is_capped_and_said(cache, ask, given, monkeypatch, capsys):
    monkeypatch.setattr("workbench.llm.faults.LONGEST", 0.4)
    with Server([error(429, "rate_limit", "slow down", Retry_After=given)]) as server:
        assert wb.Client(cache, api_base=server.url).complete(ask(1)[0]).text
    assert ("asks to wait" in capsys.readouterr().err) == (
        given not in {"nan", "-5", "x"}
    )


def test_a_reply_that_never_ends_times_out_and_is_not_sent_again(cache, ask):
    with Server(["trickle"] * 2) as server:
        client = wb.Client(
            cache, api_base=server.url, timeout=1, budget=wb.Budget(calls=5)
        )
        assert client.complete(ask(1)[0]).fault == "timeout"
        assert (server.requests, client.budget.made) == (1, 1)


def test_a_server_that_is_not_there_is_asked_again_and_costs_nothing(cache, ask):
    budget = wb.Budget(calls=5)
    client = wb.Client(
        cache, api_base="http://127.0.0.1:9/v1", retries=1, budget=budget
    )
    answer = client.complete(ask(1)[0])
    assert answer.fault in {"server", "connection"}
    assert client.budget.made == 0


def test_a_server_that_takes_eight_at_once_is_soon_asked_so_many(cache, ask):
    with Server(seconds=0.1, capacity=8) as server:
        client = wb.Client(cache, api_base=server.url)
        assert all(answer.text for answer in client.complete_many(ask(200)))
        assert server.calls == 200
        assert server.requests <= 350


def test_a_parameter_that_a_model_does_not_take_is_left_out_and_said_once(
    cache, ask, capsys
):
    with Server() as server:
        client = wb.Client(cache, api_base=server.url)
        answers = client.complete_many(ask(3, "openai/gpt-5", temperature=0.3, seed=1))
        assert [answer.error for answer in answers] == [""] * 3
        assert not any("temperature" in body for body in server.bodies)
    assert len(re.findall("does not take temperature", capsys.readouterr().err)) == 1
    ((dropped, parameters),) = cache.read(
        "SELECT DISTINCT dropped, parameters FROM calls"
    )
    assert (dropped, json.loads(parameters)["temperature"]) == ("temperature", 0.3)


def test_an_embedding_is_a_text_of_floats(cache, ask):
    data = {"object": "list", "model": "m", "usage": {"prompt_tokens": 3, "total_tokens": 3},
            "data": [{"object": "embedding", "index": 0, "embedding": [0.5, -1.0]}]}  # fmt: skip
    with Server(respond=lambda *_: (200, data, {})) as server:
        client = wb.Client(cache, api_base=server.url)
        answer = client.complete(
            ask(1, "openai/text-embedding-3-small", embedding=True)[0]
        )
    assert struct.unpack("<2f", base64.b64decode(answer.text)) == (0.5, -1.0)
    assert json.loads(json.dumps(answer.cost)) > 0


@pytest.mark.parametrize(
    "model",
    [
        "gemini/gemini-embedding-001",
        "mistral/mistral-embed",
        "groq/m",
        "cohere/command-r",
    ],
)
def test_redirects_are_refused_for_every_provider(cache, ask, model, monkeypatch):
    monkeypatch.setenv("COHERE_API_KEY", CANARY)
    monkeypatch.setenv("GROQ_API_KEY", CANARY)
    parameters = {"embedding": True} if "embed" in model else {}
    with (
        Server() as thief,
        Server([(307, {}, {"Location": f"{thief.root}/v1"})] * 9) as server,
    ):
        with pytest.raises(ProviderError, match="redirects"):
            wb.Client(cache, api_base=server.url).complete(
                ask(1, model, **parameters)[0]
            )
        assert (server.requests, thief.requests) == (1, 0)


def test_a_provider_that_is_reached_by_another_http_client_is_refused(
    cache, ask, monkeypatch
):
    module = send.litellm()

    class Other(module.CustomLLM):
        async def acompletion(self, *_, **__):
            return module.completion(
                model="openai/gpt-4o", messages=[], mock_response="SELECT 1"
            )

    handler = {"provider": "other", "custom_handler": Other()}
    monkeypatch.setattr(module, "custom_provider_map", [handler])
    monkeypatch.setattr(module, "_custom_providers", ["other"])
    with pytest.raises(ProviderError, match="another HTTP client"):
        wb.Client(cache).complete(ask(1, "other/m")[0])


@pytest.mark.parametrize(("name", "variable"), [("OpenAI", "OPENAI_API_KEY"), ("Anthropic", "ANTHROPIC_API_KEY"),
                                                ("Gemini", "GEMINI_API_KEY")])  # fmt: skip
def test_a_missing_key_is_named_before_anything_is_asked(
    cache, server, ask, monkeypatch, name, variable
):
    monkeypatch.delenv(variable)
    with pytest.raises(ProviderError, match=f"{variable} is not set"):
        wb.Client(cache, api_base=server.url).complete(ask(1, MODELS[name])[0])
    assert not server.requests


@pytest.mark.parametrize("name", MODELS)
def test_no_connection_is_said_after_the_first_try(cache, ask, name, capsys):
    client = wb.Client(cache, api_base="http://127.0.0.1:9/v1", retries=1)
    answers = client.complete_many(ask(3, MODELS[name]))
    assert {answer.fault for answer in answers} == {"connection"}
    assert capsys.readouterr().err.count("no connection to http://127.0.0.1:9 ") == 1


@pytest.mark.parametrize("name", MODELS)
def test_an_echoed_key_is_in_no_traceback(cache, ask, name):
    echo = error(401, "invalid_api_key", f"Incorrect API key provided: {CANARY}")
    with Server([echo] * 9) as server, pytest.raises(ProviderError) as caught:
        wb.Client(cache, api_base=server.url).complete(ask(1, MODELS[name])[0])
    assert CANARY not in "".join(traceback.format_exception(caught.value))


@pytest.mark.parametrize("name", MODELS)
def test_a_process_ends_without_a_word(tmp_path, name):
    program = (
        "import sys, workbench as wb\n"
        "client = wb.Client(wb.Cache(sys.argv[1]), api_base=sys.argv[2])\n"
        "ask = [{'role': 'user', 'content': 'q'}]\n"
        "assert client.complete(wb.Request('p', sys.argv[3], ask)).text == 'SELECT 1'\n"
    )
    with Server(respond=lambda *_: WORDS[name]["text"]) as server:
        base = server.root if name == "Anthropic" else server.url
        command = [
            sys.executable,
            "-c",
            program,
            str(tmp_path / "a.sqlite"),
            base,
            MODELS[name],
        ]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_an_error_in_place_of_an_answer_is_not_cached(cache, ask):
    reply = {
        "choices": [
            {"message": {"content": ""}, "error": {"code": 502, "message": "upstream"}}
        ]
    }
    answer = wb.Client(cache, send=wb.scripted([reply]), retries=0).complete(ask(1)[0])
    assert (answer.fault, cache.read("SELECT key FROM calls")) == ("server", [])


def test_an_address_with_a_password_is_refused_and_costs_nothing(cache, server, ask):
    address = server.url.replace("://", "://user:pass-word@")
    client = wb.Client(cache, api_base=address, budget=wb.Budget(calls=5))
    with pytest.raises(ProviderError, match="password") as caught:
        client.complete(ask(1)[0])
    assert "pass-word" not in str(caught.value)
    assert (client.budget.made, server.requests) == (0, 0)
