"""A causal language model in a folder: found, fingerprinted, loaded, and what it reads of a conversation.

Nothing is fetched unless that is asked for: a model is a folder that transformers can read, or a name that
the Hugging Face cache on this computer already holds. torch, transformers and peft are an extra and take
seconds to import, so they come in with the first call that needs them. Code that a model's folder brings
along is not run.
"""

import hashlib
import importlib
import re
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jinja2

from workbench.canonical import content_hash
from workbench.errors import BadInputError
from workbench.types import Message

# What a model is made of; other files in its folder are the same in another format, or not read at all.
_PARTS = {".json", ".safetensors", ".bin", ".model", ".txt", ".jinja"}


def libraries() -> tuple[Any, Any, Any]:
    """torch, transformers and peft."""
    try:
        torch, transformers, peft = map(importlib.import_module, ("torch", "transformers", "peft"))
    except ImportError as error:
        raise BadInputError(
            f"to tune a language model takes the extra `train`: pip install 'workbench[train]' ({error})"
        ) from error
    return torch, transformers, peft


@contextmanager
def unwarned() -> Iterator[None]:
    """Without the warnings of names that will change: one call serves several releases of the libraries."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        yield


def find(model: str | Path, *, download: bool = False) -> Path:
    """The folder of a model, given as a folder or by its name on Hugging Face."""
    folder = Path(model)
    if not folder.is_dir():
        libraries()
        try:
            fetch = importlib.import_module("huggingface_hub").snapshot_download
            patterns = sorted(f"*{suffix}" for suffix in _PARTS)
            folder = Path(fetch(str(model), local_files_only=not download, allow_patterns=patterns))
        except (OSError, ValueError) as error:
            missing = "it could not be downloaded" if download else "none is downloaded unasked"
            raise BadInputError(
                f"model {str(model)!r}: no such folder, no such model in the Hugging Face cache, and "
                f"{missing} ({str(error).strip().splitlines()[0]})"
            ) from error
    if not (folder / "config.json").is_file():
        raise BadInputError(f"{folder}: no config.json, so no model that transformers can read")
    return folder.resolve()


def fingerprint(folder: Path) -> str:
    """A hash of all that the model in a folder is made of. Reads every byte: a second or so per GB."""
    hashes = {}
    for path in folder.iterdir():
        if path.is_file() and path.suffix in _PARTS:
            with path.open("rb") as file:
                hashes[path.name] = hashlib.file_digest(file, "sha256").hexdigest()
    return content_hash("model", hashes)


@dataclass(frozen=True, slots=True)
class Causal:
    """A model with its tokenizer, on the GPU where there is one."""

    tokenizer: Any
    model: Any
    window: int  # the most tokens it can read and write

    def read(self, conversation: Sequence[Message]) -> list[int]:
        """The tokens of a conversation up to where the assistant begins to speak.

        They come from the tokenizer's chat template. A template that knows no system gets its words at the
        head of the user's. Where there is no template, each message is its role, a colon and a line break,
        its text, and an empty line; last comes `assistant:` and a line break. A control token spelled out
        in a message, say in a cell of a database, is broken up, so that no data can end a message.
        """
        tokenizer = self.tokenizer
        messages = [{**m, "content": self._plain(m["content"])} for m in conversation]
        if not tokenizer.chat_template:
            text = "".join(f"{m['role']}:\n{m['content']}\n\n" for m in messages) + "assistant:\n"
            first = [] if tokenizer.bos_token_id is None else [tokenizer.bos_token_id]
            return first + self.tokens(text)
        try:
            text = self.tokenizer.apply_chat_template(
                messages, tokenize=False, add_generation_prompt=True
            )
        except jinja2.TemplateError as error:
            if len(messages) < 2 or messages[0]["role"] != "system":
                raise BadInputError(f"the model's chat template refuses this: {error}") from error
            (system, user, *rest) = conversation
            user = {**user, "content": f"{system['content']}\n\n{user['content']}"}
            return self.read([user, *rest])
        return self.tokens(text)

    def reply(self, text: str) -> list[int]:
        """The tokens of a reply, with the one that ends it."""
        return [*self.tokens(self._plain(text)), self.tokenizer.eos_token_id]

    def tokens(self, text: str) -> list[int]:
        ids: list[int] = self.tokenizer(text, add_special_tokens=False)["input_ids"]
        if not ids:  # as when a tokenizer of another kind of model lies in the folder
            raise BadInputError(
                f"{self.tokenizer.name_or_path}: its tokenizer reads nothing in {text!r}"
            )
        return ids

    def _plain(self, text: str) -> str:
        added = self.tokenizer.added_tokens_decoder.values()
        control = [re.escape(t.content) for t in added if t.special and len(t.content) > 1]
        if not control:
            return text
        return re.sub("|".join(control), lambda found: f"{found[0][0]} {found[0][1:]}", text)


def load(folder: Path) -> Causal:
    """The model of a folder: bfloat16 on a GPU that has it, else float32."""
    torch, transformers, _ = libraries()
    gpu = torch.cuda.is_available()
    dtype = torch.bfloat16 if gpu and torch.cuda.is_bf16_supported() else torch.float32
    try:
        tokenizer = transformers.AutoTokenizer.from_pretrained(folder, local_files_only=True)
        model = transformers.AutoModelForCausalLM.from_pretrained(
            folder, local_files_only=True, dtype=dtype
        )
    except (OSError, ValueError, ImportError) as error:
        raise BadInputError(
            f"{folder}: no causal language model that can be loaded: {str(error).strip().splitlines()[0]}"
        ) from error
    if tokenizer.eos_token_id is None:
        raise BadInputError(f"{folder}: its tokenizer names no token that ends a reply (eos_token)")
    window = getattr(model.config, "max_position_embeddings", None) or 1 << 30
    return Causal(tokenizer, model.to("cuda" if gpu else "cpu"), window)
