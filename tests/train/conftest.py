"""A tiny model that TRL and transformers train in seconds, where the extra `train` is installed."""

import pytest

TEMPLATE = (
    "{% for m in messages %}<{{ m.role }}>{{ m.content }}<end>{% endfor %}"
    "{% if add_generation_prompt %}<assistant>{% endif %}"
)


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
    letters = {
        letter: len(marks) + n for n, letter in enumerate(map(chr, range(32, 127)))
    }
    vocabulary = {mark: n for n, mark in enumerate(marks)} | letters
    names = dict(
        zip(
            ("pad_token", "eos_token", "unk_token"),
            ("<pad>", "<end>", "<?>"),
            strict=True,
        )
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
