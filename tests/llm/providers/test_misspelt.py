"""A model, a provider and a key that are not there are named, with what to do."""

import pytest

from workbench.errors import ProviderError
from workbench.llm.client import Client
from workbench.llm.remote.refusals import UnknownModel
from workbench.llm.remote.suggestions import suggestion
from workbench.llm.scripted import Scripted
from workbench.store import Store
from workbench.types import Request


@pytest.mark.parametrize(
    ("model", "meant"),
    [
        ("openai/gpt-4o-mni", "openai/gpt-4o-mini"),
        ("opnai/gpt-4o-mini", "openai/gpt-4o-mini"),
        ("anthropic/claude-sonet-4-5", "anthropic/claude-sonnet-4-5"),
    ],
)
def test_a_misspelt_model_is_answered_with_names_that_are_like_it(model: str, meant: str) -> None:
    assert meant in suggestion(model)


def test_a_model_unlike_any_other_gets_no_suggestion() -> None:
    assert suggestion("openai/zzzzzzzz") == ""


def test_an_unknown_model_ends_the_run_with_names_that_are_like_it(store: Store) -> None:
    send = Scripted([UnknownModel("no such model")])
    with pytest.raises(ProviderError, match=r"no such model \(did you mean openai/gpt-4o-mini"):
        Client(store, send=send).complete(Request("p", "openai/gpt-4o-mni", ()))


def test_an_unknown_provider_and_a_missing_key_are_told_in_a_few_words(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    message = ({"role": "user", "content": "x"},)
    for model, words in {
        "opnai/gpt-4o": "LiteLLM knows no such provider (did you mean openai/gpt-4o",
        "openai/gpt-4o": "there is no key: set the environment variable OPENAI_API_KEY",
        "anthropic/claude-sonnet-4-5": "there is no key: set the environment variable ANTHROPIC_",
    }.items():
        with pytest.raises(ProviderError) as ended:
            Client(store).complete(Request("p", model, message))
        assert f"{model} refused: {words}" in str(ended.value)
