import asyncio
import subprocess
import sys
from pathlib import Path

import pytest

from tests.llm.server import Server
from tests.llm.wire import ROOT, ask, send
from workbench.errors import BadInputError, CacheMissError
from workbench.llm.client import Client
from workbench.llm.provider import Refusal, public
from workbench.llm.scripted import Scripted
from workbench.store import Store
from workbench.types import Request


def test_a_request_is_sent_once_and_then_answered_from_the_cache(store: Store) -> None:
    model = Scripted(["SELECT 1"])
    client = Client(store, send=model)
    first, second = client.complete(ask()), client.complete(ask())
    assert (first.text, first.cached) == ("SELECT 1", False)
    assert (second.text, second.cached) == ("SELECT 1", True)
    assert model.history == [ask()]


def test_k_samples_are_k_calls_and_more_of_them_only_the_difference(store: Store) -> None:
    model = Scripted(otherwise="x")
    samples = [ask(temperature=1.0, sample=i) for i in range(40)]
    Client(store, send=model).complete_many(samples[:21])
    assert len(model.history) == 21
    assert store.read("SELECT count(*) FROM calls") == [(21,)]
    Client(store, send=model).complete_many(samples[:21])
    assert len(model.history) == 21
    Client(store, send=model).complete_many(samples)
    assert len(model.history) == 40


def test_answers_come_in_the_order_of_their_requests(store: Store, server: Server) -> None:
    server.seconds = 0.01
    client = Client(store, send=send, api_base=server.url)
    answers = client.complete_many([ask(f"question {i}") for i in range(30)])
    assert [answer.text for answer in answers] == [f"answer to: question {i}" for i in range(30)]


def test_the_same_request_twice_in_one_list_is_paid_once(store: Store) -> None:
    model = Scripted(["one", "two"])
    answers = Client(store, send=model).complete_many([ask("a"), ask("b"), ask("a")])
    assert [answer.cached for answer in answers] == [False, False, True]
    assert answers[0].text == answers[2].text
    assert len(model.history) == 2


def test_two_servers_with_the_same_model_never_share_an_answer(store: Store) -> None:
    model = Scripted(["from one", "from two"])
    one = Client(store, send=model, api_base="http://127.0.0.1:8001/v1")
    two = Client(store, send=model, api_base={ask().model: "http://127.0.0.1:8002/v1"})
    assert one.complete(ask()).text == "from one"
    assert two.complete(ask()).text == "from two"


@pytest.mark.parametrize("name", ["OPENAI_API_BASE", "OPENAI_BASE_URL"])
def test_an_address_in_the_environment_is_part_of_the_key(
    store: Store, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    without = Client(store).key(ask())
    monkeypatch.setenv(name, "http://127.0.0.1:8001/v1")
    assert Client(store).key(ask()) != without
    assert Client(store).key(ask()) == Client(store, api_base="http://127.0.0.1:8001/v1/").key(
        ask()
    )


def test_time_outs_retries_and_the_api_key_are_not_in_the_key(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = Client(store).key(ask())
    monkeypatch.setenv("OPENAI_API_KEY", "sk-another")
    assert Client(store, timeout=1, deadline=2, retries=0, at_once=1).key(ask()) == before


def test_a_url_loses_its_secrets() -> None:
    assert public("https://me:pw@Example.org:8080/v1/?api_key=x#y") == "https://example.org:8080/v1"


def test_offline_a_call_that_is_not_cached_is_an_error_that_names_prompt_question_and_key(
    store: Store,
) -> None:
    request = Request("generate/direct", "openai/m", ask().messages, {}, 0, "question 7")
    client = Client(store, send=Scripted(), offline=True)
    with pytest.raises(CacheMissError, match=r"1 of 1 .*'generate/direct'.*'question 7'.*call:"):
        client.complete(request)


def test_offline_a_cached_call_is_answered(store: Store) -> None:
    Client(store, send=Scripted(["x"])).complete(ask())
    assert Client(store, offline=True).complete(ask()).text == "x"


def test_refresh_asks_everything_once_more_and_replaces_it(store: Store) -> None:
    Client(store, send=Scripted(["old"])).complete(ask())
    client = Client(store, send=Scripted(["new"]), refresh=True)
    assert client.complete(ask()).text == "new"
    assert client.complete(ask()).cached
    assert Client(store).complete(ask()).text == "new"


def test_it_runs_inside_a_running_event_loop(store: Store) -> None:
    client = Client(store, send=Scripted(["x"]))

    async def cell() -> str:
        return client.complete(ask()).text

    assert asyncio.run(cell()) == "x"


@pytest.mark.parametrize("name", ["api_key", "n", "stream", "timeout", "aws_session_token"])
def test_a_parameter_that_is_ours_to_set_is_refused_before_anything_is_paid(
    store: Store, name: str
) -> None:
    model = Scripted()
    with pytest.raises(BadInputError, match=name):
        Client(store, send=model).complete(ask(**{name: "x"}))
    assert model.history == []


def test_a_secret_deep_in_a_parameter_is_refused_too(store: Store) -> None:
    request = ask(extra_body={"options": {"api_key": "x"}})
    with pytest.raises(BadInputError, match="api_key"):
        Client(store, send=Scripted()).complete(request)


def test_a_model_without_a_provider_is_refused(store: Store) -> None:
    with pytest.raises(BadInputError, match="PROVIDER/MODEL"):
        Client(store, send=Scripted()).complete(Request("p", "gpt-4o", ask().messages))


def test_a_failure_is_a_value_and_the_others_go_on(store: Store) -> None:
    model = Scripted([Refusal("rejected", "too long"), "x", "x"])
    first, *others = Client(store, send=model).complete_many([ask("a"), ask("b"), ask("c")])
    assert sorted([first.fault, *(o.fault for o in others)]) == ["", "", "rejected"]


def test_a_failure_is_not_kept(store: Store) -> None:
    client = Client(store, send=Scripted([Refusal("rejected", "no"), "yes"]))
    assert client.complete(ask()).fault == "rejected"
    assert client.complete(ask()).text == "yes"


def test_a_mistake_in_the_sender_is_raised_where_it_was_asked(store: Store) -> None:
    with pytest.raises(AssertionError, match="no reply is left"):
        Client(store, send=Scripted()).complete(ask())
    assert Client(store, send=Scripted(["x"])).complete(ask()).text == "x"


@pytest.mark.usefixtures("litellm")
def test_the_provider_receives_the_request_unchanged(store: Store, server: Server) -> None:
    request = ask("hello", temperature=0, seed=7, stop=["a"], top_k=3)
    Client(store, api_base=server.url).complete(request)
    assert server.bodies == [
        {
            "model": "gpt-4o-mini",
            "messages": [{"role": "user", "content": "hello"}],
            "temperature": 0,
            "seed": 7,
            "stop": ["a"],
            "top_k": 3,
        }
    ]


def test_a_cached_answer_imports_no_litellm(store: Store, tmp_path: Path) -> None:
    Client(store, send=Scripted(["x"])).complete(ask())
    script = (
        "import sys; from pathlib import Path\n"
        "from tests.llm.wire import ask; from workbench.llm.client import Client\n"
        "from workbench.store import Store\n"
        "with Store(Path(sys.argv[1])) as store: Client(store).complete(ask())\n"
        "print(sorted({'litellm', 'pandas', 'sqlite_utils', 'click', 'httpx'} & set(sys.modules)))"
    )
    command = [sys.executable, "-c", script, str(store.path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout == "[]\n"
