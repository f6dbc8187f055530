"""A tiny model learns the replies of a file by LoRA, and goes on where it was stopped."""

import json

import pytest

from workbench.errors import BadInputError
from workbench.train import lora
from workbench.train.lora import CHESS, Lora

TEMPLATE = (
    "{% for m in messages %}<{{ m.role }}>{{ m.content }}<end>{% endfor %}"
    "{% if add_generation_prompt %}<assistant>{% endif %}"
)
TALKS = [
    [{"role": "user", "content": f"{'B A'[i % 2 * 2]} or not? {i}"}, {"role": "assistant", "content": "AB"[i % 2]}]
    for i in range(8)
]  # fmt: skip


@pytest.fixture
def torch():
    for name in ("torch", "transformers", "peft", "trl"):
        pytest.importorskip(name, reason="needs the extra `train`: make test-extras")


@pytest.fixture
def model(torch, tmp_path):
    """A Llama with two layers of 16 numbers, and a tokenizer of single characters."""
    from tokenizers import Regex, Tokenizer, models, pre_tokenizers
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    marks = ["<pad>", "<end>", "<user>", "<assistant>", "<?>"]
    letters = {letter: len(marks) + n for n, letter in enumerate(map(chr, range(32, 127)))}
    vocabulary = {mark: n for n, mark in enumerate(marks)} | letters
    names = dict(
        zip(("pad_token", "eos_token", "unk_token"), ("<pad>", "<end>", "<?>"), strict=True)
    )
    raw = Tokenizer(models.WordLevel(vocabulary, unk_token=names["unk_token"]))
    raw.pre_tokenizer = pre_tokenizers.Split(Regex("."), "isolated")
    raw.add_special_tokens(marks)
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=raw, **names)
    tokenizer.chat_template = TEMPLATE
    config = LlamaConfig(
        vocab_size=len(vocabulary), hidden_size=16, intermediate_size=32, num_hidden_layers=2,
        num_attention_heads=2, max_position_embeddings=128, eos_token_id=1, pad_token_id=0,
    )  # fmt: skip
    folder = tmp_path / "model"
    LlamaForCausalLM(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return str(folder)


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
        CHESS(talks, "any", tmp_path)
