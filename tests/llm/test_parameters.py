"""A request is fitted to its model: what LiteLLM or the server refuses is left out and remembered."""

import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from tests.llm.server import Server
from tests.llm.wire import ROOT, ask
from workbench.errors import BadInputError, ProviderError
from workbench.llm import provider
from workbench.llm.cache.keys import request_key
from workbench.llm.cache.transfer import merge, verify
from workbench.llm.client import Client
from workbench.llm.parameters import check_given, given_for, left_out, refused_name
from workbench.llm.provider import Refusal
from workbench.llm.scripted import Scripted
from workbench.store import Store
from workbench.types import Request

DEFAULT_ONLY = (
    "Unsupported value: 'temperature' does not support 0.2 with this model. "
    "Only the default (1) value is supported."
)


def to(model: str, text: str = "hello", **parameters: object) -> Request:
    return replace(ask(text), model=model, parameters=parameters)


@pytest.mark.parametrize(
    ("reason", "name"),
    [
        (DEFAULT_ONLY, "temperature"),
        ("temperature is deprecated for this model.", "temperature"),
        ("`temperature` and `top_p` cannot both be specified for this model", "temperature"),
        ("Unknown parameter: 'seed'.", "seed"),
        ("seed: Extra inputs are not permitted", "seed"),
        ('Invalid JSON payload received. Unknown name "top_p": Cannot find field.', "top_p"),
        ("Unrecognized request argument supplied: reasoning_effort", "reasoning_effort"),
        ("openai does not support parameters: ['top_p', 'logprobs'], for model=o3.", "top_p"),
        ("'max_tokens' is too large: 99999. The model takes at most 8192 tokens.", ""),
        ("Invalid value: 'lo'. Supported values of reasoning_effort are: 'low', 'high'.", ""),
        ("The model `seedling` does not exist or is not supported", ""),
    ],
)
def test_a_refusal_names_a_parameter_or_is_about_something_else(reason: str, name: str) -> None:
    sent = {"top_p": 0.9, "temperature": 0.2, "seed": 1, "max_tokens": 99999, "logprobs": True}
    assert refused_name(reason, sent | {"reasoning_effort": "lo"}) == name


@pytest.mark.usefixtures("litellm")
def test_a_parameter_that_litellm_refuses_is_left_out_before_anything_is_sent(
    store: Store, server: Server, capsys: pytest.CaptureFixture[str]
) -> None:
    server.reasoning_tokens = 64
    client = Client(store, api_base=server.url)
    answer = client.complete(to("openai/gpt-5", temperature=0.8, top_p=0.5, max_tokens=50))
    assert (answer.text, answer.usage.output) == ("answer to: hello", 84)
    assert [sorted(body) for body in server.bodies] == [
        ["max_completion_tokens", "messages", "model"]
    ]
    assert answer.key == request_key(to("openai/gpt-5", max_tokens=50), server.url)
    assert verify(store) == []
    line = (
        "openai/gpt-5 takes no temperature 0.8: left out; "
        "its samples differ only by its own randomness and the order of the schema"
    )
    assert line in str(client.ledger)
    assert line in capsys.readouterr().err.splitlines()
    assert left_out(store, "openai/gpt-5") == ["temperature", "top_p"]


@pytest.mark.usefixtures("litellm")
def test_a_value_that_the_model_takes_is_sent(store: Store, server: Server) -> None:
    client = Client(store, api_base=server.url, at_once=1)
    client.complete_many([to("openai/gpt-5", temperature=1), to("openai/gpt-5.1", temperature=0.8)])
    assert sorted(body["temperature"] for body in server.bodies) == [0.8, 1]


@pytest.mark.usefixtures("litellm")
def test_a_parameter_that_is_refused_beside_another_is_sent_without_it(
    store: Store, server: Server
) -> None:
    client = Client(store, api_base=server.url)
    client.complete(to("openai/gpt-5.1", temperature=0.8, reasoning_effort="low"))
    alone = to("openai/gpt-5.1", temperature=0.8)
    assert client.complete(alone).key == request_key(alone, server.url)
    assert [body.get("temperature") for body in server.bodies] == [None, 0.8]


@pytest.mark.usefixtures("litellm")
def test_requests_that_differ_in_refused_parameters_alone_are_one_call(
    store: Store, server: Server
) -> None:
    requests = [to("openai/o3", temperature=value) for value in (0.0, 0.5, 1.0, 0.8)]
    answers = Client(store, api_base=server.url, at_once=1).complete_many(requests)
    assert len({answer.key for answer in answers}) == 2  # o3 takes a temperature of 1
    assert server.calls == 2


SECOND = """
import sys
from pathlib import Path
from tests.llm.wire import ask
from workbench.llm.client import Client
from workbench.store import Store
from dataclasses import replace
with Store(Path(sys.argv[1])) as store:
    client = Client(store, api_base=sys.argv[2])
    request = replace(ask(), model="openai/gpt-5", parameters={"temperature": 0.8})
    print(client.complete(request).cached, "litellm" in sys.modules)
    print(client.ledger)
"""


@pytest.mark.usefixtures("litellm")
def test_a_second_run_asks_nothing_imports_no_litellm_and_says_what_was_left_out(
    store: Store, server: Server
) -> None:
    Client(store, api_base=server.url).complete(to("openai/gpt-5", temperature=0.8))
    command = [sys.executable, "-c", SECOND, str(store.path), server.url]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout.startswith("True False\n")
    assert "openai/gpt-5 takes no temperature 0.8: left out" in done.stdout
    assert done.stderr == ""
    assert server.asked.total() == 1


@pytest.mark.usefixtures("litellm")
def test_a_refusal_of_the_server_is_learned_once_and_the_request_asked_without_the_parameter(
    store: Store, server: Server
) -> None:
    server.refuses = {"temperature": DEFAULT_ONLY, "seed": "Unknown parameter: 'seed'."}
    client = Client(store, api_base=server.url, at_once=1)
    requests = [to("openai/thinker", f"q{n}", temperature=0.2, seed=7) for n in range(4)]
    answers = client.complete_many(requests)
    assert [answer.text for answer in answers] == [f"answer to: q{n}" for n in range(4)]
    assert server.asked.total() == 4 + 2
    assert client.ledger.retried == {"rejected": 2}
    assert client.ledger.failed == {}
    again = Client(store, api_base=server.url)
    assert all(answer.cached for answer in again.complete_many(requests))
    again.complete(to("openai/thinker", "new", temperature=0.2, seed=7))
    assert server.asked.total() == 7
    elsewhere = Client(store, api_base="http://127.0.0.1:1/v1")
    assert elsewhere.fit(requests[0]) is requests[0]


def test_calls_under_way_that_become_equal_are_paid_once(store: Store) -> None:
    paid = []

    def send(request: Request, *_: object) -> provider.Reply:
        threading.Event().wait(0.02)
        if "temperature" in request.parameters:
            raise Refusal("rejected", DEFAULT_ONLY)
        paid.append(request)
        return {"choices": [{"message": {"content": "x"}, "finish_reason": "stop"}]}

    requests = [to("openai/thinker", temperature=n / 10) for n in range(6)]
    answers = Client(store, send=send).complete_many(requests)
    assert [answer.text for answer in answers] == ["x"] * 6
    assert len(paid) == 1


def test_a_model_that_takes_all_parameters_keeps_its_requests_and_keys(store: Store) -> None:
    request = to("somewhere/model", temperature=0.8, top_p=0.5)
    client = Client(store, send=Scripted(["x"]))
    assert client.fit(request) is request
    assert client.complete(request).key == request_key(request, "")
    assert store.read("SELECT * FROM refused_parameters") == []


def test_a_model_of_our_own_is_never_probed(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    def load() -> None:
        raise AssertionError("LiteLLM is imported")

    reply = {"choices": [{"message": {"content": "x"}, "finish_reason": "stop"}]}
    provider.register("inside", lambda _request, _seed: reply)
    monkeypatch.setattr(provider, "load", load)
    assert Client(store).complete(to("inside/one", temperature=0.8)).text == "x"


def test_refusals_are_merged_with_the_calls_that_they_belong_to(
    store: Store, tmp_path: Path
) -> None:
    request = to("openai/thinker", temperature=0.2)
    with Store(tmp_path / "theirs.sqlite") as theirs:
        Client(theirs, send=Scripted([Refusal("rejected", DEFAULT_ONLY), "x"])).complete(request)
    assert merge(store, tmp_path / "theirs.sqlite").new == 1
    assert Client(store, offline=True, send=Scripted()).complete(request).cached


def test_five_calls_rejected_alike_end_the_run_with_the_reason(store: Store) -> None:
    model = Scripted([Refusal("rejected", f"the account {n}7 may not use it") for n in range(20)])
    client = Client(store, send=model, at_once=1)
    with pytest.raises(ProviderError, match=r"may not use it\. If a parameter .*--parameter"):
        client.complete_many([ask(f"question {n}") for n in range(20)])
    assert len(model.history) == 5


def test_rejected_calls_of_a_prompt_that_has_answers_end_no_run(store: Store) -> None:
    refusals = [Refusal("rejected", "the question is too long")] * 9
    client = Client(store, send=Scripted(["x", *refusals, "y"]), at_once=1)
    answers = client.complete_many([ask(f"question {n}") for n in range(11)])
    assert [answer.fault for answer in answers] == ["", *["rejected"] * 9, ""]


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        ({"temprature": 0.2}, "no parameter 'temprature'; perhaps temperature: .*extra_body"),
        (
            {"zzz": 1},
            r"no parameter 'zzz'; there are .*top_p.*: what only one server knows goes into extra_body",
        ),
        ({"temperature": "hot"}, "temperature is 'hot', and should be a number"),
        ({"seed": True}, "seed is True, and should be a number"),
        ({"api_key": "x"}, "keys come from the environment"),
        ({"extra_body": {"my_token": "x"}}, "keys come from the environment"),
    ],
)
def test_a_parameter_that_is_none_is_one_clear_error_before_anything_is_asked(
    store: Store, given: dict[str, object], complaint: str
) -> None:
    model = Scripted()
    with pytest.raises(BadInputError, match=complaint):
        Client(store, send=model).complete(to("openai/gpt-4o", **given))
    with pytest.raises(BadInputError, match=complaint):
        check_given({"openai/gpt-4o": given})
    assert model.history == []


def test_parameters_for_an_unknown_role_are_an_error_that_names_the_roles() -> None:
    with pytest.raises(
        BadInputError, match=r"'judging'.* role: generation, filtering, judge, rest"
    ):
        check_given({"judging": {"temperature": 0}})


def test_a_roles_parameters_win_over_its_models() -> None:
    given = {"openai/a": {"seed": 1, "top_p": 0.5}, "judge": {"seed": 2}, "rest": {"seed": 3}}
    assert given_for("openai/a", "select/pairwise", given) == {"seed": 2, "top_p": 0.5}
    assert given_for("openai/a", "generate/direct", given) == {"seed": 1, "top_p": 0.5}
    assert given_for("openai/b", "fix/fixer", given) == {"seed": 3}


@pytest.mark.usefixtures("litellm")
def test_every_parameter_reaches_the_server(store: Store, server: Server) -> None:
    given = {
        "temperature": 1,
        "max_tokens": 50,
        "reasoning_effort": "low",
        "seed": 7,
        "extra_body": {"cache_salt": "a"},
    }
    Client(store, api_base=server.url).complete(to("openai/gpt-5", **given))
    Client(store, api_base=server.url).complete(to("hosted_vllm/a", top_p=0.5, **given))
    one, other = server.bodies
    assert (one["reasoning_effort"], one["max_completion_tokens"], one["seed"]) == ("low", 50, 7)
    assert (other["top_p"], other["max_tokens"], other["reasoning_effort"]) == (0.5, 50, "low")
    assert one["cache_salt"] == other["cache_salt"] == "a"
