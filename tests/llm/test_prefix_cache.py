"""What the stand-in for a provider's cache says that is read and written, as providers document it."""

import pytest

from workbench.llm.remote.prefix_cache import PrefixCache, prefixes
from workbench.types import Request

CLAUDE, GPT, GEMINI = "anthropic/claude-sonnet-4-5", "openai/gpt-4.1", "gemini/gemini-2.5-pro"


def prompt(model, shared, own="", *, letters=4):
    """The prefixes of a prompt with so many tokens that others share, and text of its own."""
    content = "a" * letters * shared + own
    message = {"role": "user", "content": content}
    return prefixes(Request("p", model, (message,), shared=(letters * shared,)))


def test_what_repeats_is_read_in_steps_of_128_tokens():
    cache = PrefixCache(GPT)
    assert cache.counts(prompt(GPT, 1300, "one of its own")) == (0, 0)
    assert cache.counts(prompt(GPT, 1300, "another ending")) == (1280, 0)


@pytest.mark.parametrize(
    ("model", "tokens", "read"),
    [(GPT, 1000, 0), (GPT, 1024, 1024), (GEMINI, 1500, 0), (GEMINI, 2048, 2048)],
)
def test_a_prefix_that_is_shorter_than_the_model_s_shortest_is_not_cached(model, tokens, read):
    cache = PrefixCache(model)
    cache.counts(prompt(model, tokens, "one"))
    assert cache.counts(prompt(model, tokens, "two")) == (read, 0)


def test_anthropic_is_paid_for_writing_up_to_a_mark_and_reads_up_to_it():
    cache = PrefixCache(CLAUDE)
    assert cache.counts(prompt(CLAUDE, 1300, "one of its own")) == (0, 1300)
    assert cache.counts(prompt(CLAUDE, 1300, "another ending")) == (1300, 0)


def test_a_change_at_the_beginning_leaves_nothing_to_read():
    cache = PrefixCache(GPT)
    cache.counts(prompt(GPT, 1300))
    changed = prefixes(Request("p", GPT, ({"role": "user", "content": "b" + "a" * 5200},)))
    assert cache.counts(changed) == (0, 0)


def test_a_model_without_a_cache_reads_nothing():
    cache = PrefixCache("hosted_vllm/x")
    cache.counts(prompt("hosted_vllm/x", 2000))
    assert cache.counts(prompt("hosted_vllm/x", 2000)) == (0, 0)
