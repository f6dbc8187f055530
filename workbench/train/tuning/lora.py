"""LoRA fine-tuning of a language model on this computer, on the replies of a file of conversations.

CHASE-SQL tunes the model that picks one of two queries with an adapter of rank 16 over 10 epochs (section
2.5, appendix A.3), at a provider that does not say how. Here, any causal model that transformers can load is
tuned: every linear layer except the output gets an adapter, AdamW warms up over a twentieth of the steps and
decays linearly to 0, and the loss is the mean over the tokens of the last replies alone.

Training continues when it is called again: the state after each epoch is saved, and an epoch depends only on
that state, the seed and its number. On one CPU with the same number of threads, an interrupted training ends
in the same bytes as an uninterrupted one; on a GPU the two agree up to the order of floating-point sums.
"""

import math
import random
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from workbench.canonical import content_hash
from workbench.errors import BadInputError
from workbench.train.tuning.causal import Causal, find, fingerprint, libraries, load, unwarned
from workbench.train.tuning.checkpoint import Tuning, earlier, finish, keep, restore
from workbench.train.tuning.conversations import read_conversations
from workbench.train.tuning.loss import Row, loss_of
from workbench.types import Message


@dataclass(frozen=True, slots=True)
class Lora:
    """Fine-tunes a model by low-rank adapters."""

    rank: int = 16
    epochs: int = 10
    alpha: float = 32.0
    dropout: float = 0.05
    learning_rate: float = 2e-4
    batch: int = 16  # conversations in a step
    # Conversations in the model at once, to save memory; the result differs by rounding and dropout.
    micro_batch: int = 1
    max_tokens: int = 4096
    checkpointing: bool = False  # recomputes activations: less memory, more time
    # QLoRA: the base model's weights in 4 bits; needs a GPU and bitsandbytes.
    four_bits: bool = False
    seed: int = 0

    def __post_init__(self) -> None:
        counts = (self.rank, self.epochs, self.batch, self.micro_batch, self.max_tokens)
        rates = (self.alpha, self.learning_rate)
        if min(counts) < 1 or min(rates) <= 0 or not 0 <= self.dropout < 1:
            raise BadInputError(
                f"{self}: counts are 1 or more, alpha and learning_rate above 0, dropout from 0 to below 1"
            )

    def __call__(
        self,
        data: Path,
        model: str | Path,
        out: Path,
        *,
        download: bool = False,
        progress: Callable[[int, int], None] | None = None,
    ) -> Tuning:
        """Tune a model, given by its folder or name, on a file of conversations; write the adapter to `out`."""
        torch, transformers, peft = libraries()
        conversations = read_conversations(data)
        folder = find(model, download=download)
        tuning = Tuning(
            asdict(self),
            str(folder if Path(model).exists() else model),
            fingerprint(folder),
            content_hash("conversations", conversations),
            {m.__name__: m.__version__ for m in (torch, transformers, peft)},
        )
        old = earlier(out, tuning)
        if old and old.adapter:
            return old
        with torch.random.fork_rng(range(min(1, torch.cuda.device_count()))):
            torch.manual_seed(self.seed)
            causal = load(folder, four_bits=self.four_bits)
            longest = min(self.max_tokens, causal.window)
            rows = [row for c in conversations if len((row := _row(causal, c))[0]) <= longest]
            if not rows:
                raise BadInputError(
                    f"{data}: every conversation is longer than {longest} tokens; raise max_tokens"
                )
            tuning = replace(
                tuning,
                examples=len(rows),
                left_out=len(conversations) - len(rows),
                losses=old.losses if old else (),
            )
            tuned = self._adapted(causal)
            tuning = self._train(tuned, rows, tuning, out, progress)
        return finish(out, tuned, tuning)

    def _adapted(self, causal: Causal) -> Any:
        """The model with a fresh adapter; only the adapter is trained."""
        _, _, peft = libraries()
        config = peft.LoraConfig(
            task_type="CAUSAL_LM",
            r=self.rank,
            lora_alpha=self.alpha,
            lora_dropout=self.dropout,
            target_modules="all-linear",
        )
        try:
            with unwarned():
                if self.four_bits:
                    peft.prepare_model_for_kbit_training(
                        causal.model, use_gradient_checkpointing=False
                    )
                if self.checkpointing:
                    causal.model.gradient_checkpointing_enable({"use_reentrant": False})
                return peft.get_peft_model(causal.model, config)
        except ValueError as error:
            raise BadInputError(f"no adapter can be put on this model: {error}") from error

    def _train(
        self,
        model: Any,
        rows: list[Row],
        tuning: Tuning,
        out: Path,
        progress: Callable[[int, int], None] | None,
    ) -> Tuning:
        """Train the remaining epochs and save the state after each."""
        torch, _, _ = libraries()
        weights = {name: p for name, p in model.named_parameters() if p.requires_grad}
        optimizer = torch.optim.AdamW(weights.values(), weight_decay=0.0)
        if tuning.losses:
            restore(out, weights, optimizer)
        per_epoch = math.ceil(len(rows) / self.batch)
        steps = self.epochs * per_epoch
        warm = max(1, steps // 20)
        model.train()
        for epoch in range(len(tuning.losses), self.epochs):
            # Seeded by the epoch, so that a continued training draws the same order and dropout.
            rng = random.Random(f"{self.seed} {epoch}")  # noqa: S311  an order, not a secret
            torch.manual_seed(rng.getrandbits(63))
            order = rng.sample(rows, len(rows))
            total = 0.0
            for step in range(per_epoch):
                done = epoch * per_epoch + step
                rate = min((done + 1) / warm, (steps - done) / (steps - warm + 1))
                optimizer.param_groups[0]["lr"] = self.learning_rate * rate
                total += self._step(model, order[step * self.batch :][: self.batch])
                torch.nn.utils.clip_grad_norm_(weights.values(), 1.0)
                optimizer.step()
                optimizer.zero_grad()
                if progress:
                    progress(done + 1, steps)
            mean = total / sum(len(tokens) - start for tokens, start in rows)
            if not math.isfinite(mean):
                raise BadInputError(f"the loss is {mean} in epoch {epoch + 1}: lower learning_rate")
            tuning = replace(tuning, losses=(*tuning.losses, mean))
            keep(out, weights, optimizer, tuning)
        return tuning

    def _step(self, model: Any, rows: Sequence[Row]) -> float:
        """Accumulate the gradient of one step; return its summed loss.

        Conversations of similar length share a micro-batch, since shorter ones are padded to the longest.
        """
        count = sum(len(tokens) - start for tokens, start in rows)
        ordered = sorted(rows, key=lambda row: len(row[0]))
        total = 0.0
        for first in range(0, len(ordered), self.micro_batch):
            loss = loss_of(model, ordered[first : first + self.micro_batch])
            (loss / count).backward()
            total += loss.item()
        return total


def _row(causal: Causal, conversation: Sequence[Message]) -> Row:
    read = causal.read(conversation[:-1])
    return read + causal.reply(conversation[-1]["content"]), len(read)
