"""A model of ours stands beside a paper's engine only if it is that engine."""

from pathlib import Path

import pytest
import yaml

from workbench.report.engines import same_engine
from workbench.report.published import all_published

EXPERIMENTS = Path(__file__).parents[2] / "experiments"
# What the experiments name and papers used, too.
ENGINES_OF_EXPERIMENTS = {
    "openai/gpt-3.5-turbo": {"ChatGPT", "GPT-3.5-Turbo", "GPT-3.5-turbo"},
    "openai/gpt-4-turbo": {"GPT-4-turbo"},
    "openai/gpt-4": {"GPT-4"},
    "together_ai/meta-llama/Meta-Llama-3-70B-Instruct-Turbo": {"Llama-3-70B"},
}
ENGINES = {
    "anthropic/claude-3-5-sonnet-20240620": {"Claude 3.5 Sonnet"},
    "bedrock/anthropic.claude-3-5-sonnet-20240620-v1:0": {"Claude 3.5 Sonnet"},
    "anthropic/claude-3-7-sonnet-20250219": set(),
    "anthropic/claude-sonnet-4-20250514": set(),
    "anthropic/claude-2": {"Claude-2"},
    "openai/gpt-4-0613": {"GPT-4"},
    "openai/gpt-4-32k": set(),
    "openai/gpt-4-1106-preview": set(),
    "openai/gpt-4.1": set(),
    "openai/gpt-4o-2024-08-06": {"GPT-4o"},
    "openai/gpt-4o-mini": set(),
    "openai/gpt-3.5-turbo-0125": {"ChatGPT", "GPT-3.5-Turbo", "GPT-3.5-turbo"},
    "openai/gpt-3.5-turbo-16k": set(),
    "gemini/gemini-1.5-pro-002": {"Gemini 1.5 Pro"},
    "vertex_ai/gemini-1.5-flash": set(),
    "mistral/mistral-large-2407": {"Mistral Large"},
    "mistral/mistral-large-latest": set(),
    "groq/llama-3.3-70b-versatile": set(),
    "together_ai/meta-llama/Llama-3-70b-chat-hf": {"Llama-3-70B"},
    "hosted_vllm/SQL-Llama-7B": {"SQL-Llama 7B"},
    "embedded/parser": set(),
}


def models_of(value: object) -> set[str]:
    """Every model name in an experiment."""
    if isinstance(value, dict):
        return set().union(*map(models_of, value.values()))
    if isinstance(value, list):
        return set().union(*map(models_of, value))
    is_model = (
        isinstance(value, str)
        and "/" in value
        and " " not in value
        and value[0] not in "$./"
    )
    return {value} if is_model else set()


def named() -> set[str]:
    models = set()
    for path in EXPERIMENTS.glob("*.yaml"):
        experiment = yaml.safe_load(path.read_text())
        shown = {
            key: experiment.get(key)
            for key in ("model", "models", "judges", "retrieval")
        }
        models |= models_of(shown)
    return models


def printed() -> set[str]:
    names = set()
    for table in all_published():
        names.update(table.model.split(", "))
        if "model" in table.columns:
            names.update(", ".join(table.frame()["model"].dropna()).split(", "))
    return names - {""}


@pytest.mark.parametrize("model", sorted(named() | ENGINES.keys()))
def test_a_model_is_the_engines_that_it_is_listed_with_and_no_other(model):
    expected = (ENGINES | ENGINES_OF_EXPERIMENTS).get(model, set())
    assert {
        engine for engine in printed() if same_engine(engine, model)
    } == expected & printed()


def test_the_experiments_name_models():
    assert {
        "gemini/gemini-2.5-pro",
        "anthropic/claude-sonnet-4-5",
        "embedded/parser",
    } <= named()


@pytest.mark.parametrize(
    ("printed", "model"),
    [
        ("Llama-3-70B", "bedrock/meta.llama3-70b-instruct-v1:0"),
        ("Mistral Large", "bedrock/mistral.mistral-large-2402-v1:0"),
        ("gpt-4-0613", "openai/gpt-4-0613"),
    ],
)
def test_an_engine_is_known_under_a_providers_name(printed, model):
    assert same_engine(printed, model)
