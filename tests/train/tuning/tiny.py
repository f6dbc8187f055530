"""A language model of two layers that knows a handful of words, and a rule that it can learn."""

import json
from pathlib import Path

WORDS = ["SELECT", "count", "name", "FROM", "zoo", "shop", "WHERE", "legs", "price"]
OTHERS = [
    "Choose",
    "one",
    "Candidate",
    "A",
    "B",
    "RIGHT",
    "Answer",
    "system:",
    "user:",
    "assistant:",
]
SPECIAL = {"unk_token": "<unk>", "bos_token": "<s>", "eos_token": "</s>"}


def write_model(folder, *, template=None, seed=0, window=512):
    """Write a randomly initialised model whose tokens are whole words, with or without a chat template."""
    import torch
    import transformers
    from tokenizers import Tokenizer, models, pre_tokenizers

    vocabulary = [*SPECIAL.values(), *WORDS, *OTHERS]
    tokenizer = Tokenizer(models.WordLevel({w: i for i, w in enumerate(vocabulary)}, "<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    fast = transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer, **SPECIAL)
    fast.chat_template = template
    fast.save_pretrained(folder)
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        config = transformers.LlamaConfig(
            vocab_size=len(vocabulary),
            hidden_size=32,
            intermediate_size=64,
            num_hidden_layers=2,
            num_attention_heads=2,
            num_key_value_heads=2,
            max_position_embeddings=window,
            bos_token_id=1,
            eos_token_id=2,
            initializer_range=0.2,  # the usual 0.02 says nothing in so few layers
        )
        transformers.LlamaForCausalLM(config).save_pretrained(folder)
    return folder


def talk(chance):
    """A conversation in which the right candidate is the one that has the word RIGHT."""
    letter = chance.choice("AB")
    queries = {name: chance.sample(WORDS, 4) for name in "AB"}
    queries[letter].insert(chance.randrange(5), "RIGHT")
    asked = "\n".join(f"Candidate {name} {' '.join(words)}" for name, words in queries.items())
    return [
        {"role": "system", "content": "Choose one"},
        {"role": "user", "content": f"{asked}\nAnswer"},
        {"role": "assistant", "content": letter},
    ]


def write_talks(path, talks):
    Path(path).write_text("".join(json.dumps({"messages": talk}) + "\n" for talk in talks))
    return path


def bare(model):
    """A model without an adapter as `loss_of` takes one."""
    model.get_base_model = lambda: model
    return model
