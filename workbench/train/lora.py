"""Fine-tuning by LoRA.

TRL's SFTTrainer and peft, on the conversations that `export` writes for Hugging Face.

| | rank | alpha | length | batch | rate | bits |
| --- | --- | --- | --- | --- | --- | --- |
| CHASE-SQL's judge (A.3): the defaults | 16 | not said | 10 epochs | not said | not said | 16 |
| CHESS's generator (B.2) | 128 | 256 | 2 epochs | 32 | 1e-4, cosine | 4 |
| MAC-SQL's SQL-Llama | not said | not said | 1,000 steps | 32 | 2e-5 | 16 |

That SQL-Llama is tuned by LoRA is ours: its recipe names no rank. Only the last reply of a
conversation is learned. A stopped training goes on from its last epoch. vLLM, llama.cpp and
Ollama serve the adapter that the folder then has.
"""

import sys
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace

import orjson

from workbench.canonical import content_hash
from workbench.errors import BadInputError, at_least, naming


@dataclass(frozen=True)
class Lora:
    """The settings of a tuning.

    steps: updates in all, in place of epochs; 0 counts epochs.
    four_bits: QLoRA, which needs a GPU and bitsandbytes.
    longest: tokens of a conversation; longer ones are left out.
    """

    rank: int = 16
    alpha: float = 32.0
    epochs: int = 10
    batch: int = 16
    rate: float = 2e-4
    steps: int = 0
    four_bits: bool = False
    longest: int = 8192
    seed: int = 0

    def __post_init__(self) -> None:
        at_least(
            1,
            rank=self.rank,
            epochs=self.epochs,
            batch=self.batch,
            longest=self.longest,
        )
        at_least(0, steps=self.steps)

    def __call__(self, data: Path, model: str, out: Path) -> list[float]:
        """Tune a model, a folder or a name of Hugging Face, and write the adapter.

        Return the loss of each epoch.
        """
        extra = _libraries()
        tokenizer = extra.transformers.AutoTokenizer.from_pretrained(model)
        with naming(data):
            lines = data.read_bytes().splitlines()
            conversations = [orjson.loads(line)["messages"] for line in lines]
        fitting = []
        for messages in conversations:
            tokens = tokenizer.apply_chat_template(messages, return_dict=False)
            if len(tokens) <= self.longest:
                fitting.append(messages)
        if not fitting:
            raise BadInputError(
                f"{data}: no conversation has at most {self.longest} tokens"
            )
        prompted = [
            {"prompt": messages[:-1], "completion": messages[-1:]}
            for messages in fitting
        ]
        table = extra.datasets.table.InMemoryTable.from_pylist(prompted)
        # By its content, under which the tokenised rows are cached; it has at most 64 characters.
        fingerprint = content_hash("talks", fitting)[-16:]
        rows = extra.datasets.Dataset(table, fingerprint=fingerprint)
        on_gpu = extra.torch.cuda.is_available()
        settings = extra.trl.SFTConfig(
            str(out),
            num_train_epochs=self.epochs,
            max_steps=self.steps or -1,
            per_device_train_batch_size=1,
            gradient_accumulation_steps=min(self.batch, len(fitting)),
            learning_rate=self.rate,
            lr_scheduler_type="cosine",
            max_length=self.longest,
            seed=self.seed,
            bf16=on_gpu,
            use_cpu=not on_gpu,
            logging_strategy="epoch",
            save_strategy="epoch",
            save_total_limit=1,
            report_to="none",
            disable_tqdm=not sys.stderr.isatty(),
        )
        four_bits = extra.transformers.BitsAndBytesConfig(
            load_in_4bit=True, bnb_4bit_quant_type="nf4"
        )
        shape = extra.peft.LoraConfig(
            r=self.rank,
            lora_alpha=self.alpha,
            lora_dropout=0.05,
            target_modules="all-linear",
            task_type="CAUSAL_LM",
        )
        trainer = extra.trl.SFTTrainer(
            model,
            settings,
            train_dataset=rows,
            processing_class=tokenizer,
            peft_config=shape,
            quantization_config=four_bits if self.four_bits else None,
        )
        trainer.train(resume_from_checkpoint=any(out.glob("checkpoint-*")))
        trainer.save_model()
        return [entry["loss"] for entry in trainer.state.log_history if "loss" in entry]


def _libraries() -> SimpleNamespace:
    names = ("torch", "datasets", "peft", "transformers", "trl")
    try:
        return SimpleNamespace(**{name: import_module(name) for name in names})
    except ImportError as error:
        raise BadInputError(
            f"tuning needs the extra train ({error.name} is missing): "
            "pip install 'text2sql-workbench[train]'"
        ) from None
