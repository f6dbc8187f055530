"""A tiny model learns the replies of a file by LoRA, and goes on where it was stopped."""

import json

import pytest

from workbench.errors import BadInputError
from workbench.train import lora
from workbench.train.lora import Lora

TALKS = [
    [{"role": "user", "content": f"{'B A'[i % 2 * 2]} or not? {i}"}, {"role": "assistant", "content": "AB"[i % 2]}]
    for i in range(8)
]  # fmt: skip


@pytest.fixture
def talks(tmp_path):
    path = tmp_path / "talks.jsonl"
    path.write_text("".join(json.dumps({"messages": talk}) + "\n" for talk in TALKS))
    return path


@pytest.mark.filterwarnings("default")
def test_a_model_learns_and_a_stopped_training_goes_on(model, talks, tmp_path):
    out = tmp_path / "adapter"
    first = Lora(rank=4, epochs=2, batch=4, rate=0.05)(talks, model, out)
    losses = Lora(rank=4, epochs=6, batch=4, rate=0.05)(talks, model, out)
    assert (losses[:2], len(losses)) == (first, 6)
    assert losses[-1] < losses[0]
    config = json.loads((out / "adapter_config.json").read_text())
    assert (config["r"], config["lora_alpha"]) == (4, 32.0)
    assert (out / "adapter_model.safetensors").stat().st_size > 1000


def test_a_file_without_a_short_conversation_is_refused(model, talks, tmp_path):
    with pytest.raises(BadInputError, match="at most 5 tokens"):
        Lora(longest=5)(talks, model, tmp_path / "adapter")


def test_without_the_extra_the_error_says_what_to_install(monkeypatch, talks, tmp_path):
    def missing(name):
        raise ImportError(name=name)

    monkeypatch.setattr(lora, "import_module", missing)
    with pytest.raises(BadInputError, match=r"workbench\[train\]"):
        Lora()(talks, "any", tmp_path)
