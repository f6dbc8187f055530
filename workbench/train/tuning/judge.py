"""A tuned model as a judge: a provider of its own, called through the client and its cache like any other.

The model's name contains a hash of the adapter and of the base model. So a cached call is found wherever the
two folders are, even if they are gone, and never after either has changed. The model is loaded by the first
call that is not cached. It answers one call at a time; a call that waits too long gets a rate-limit error, as
from other providers, and the client then sends fewer at once.
"""

import random
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from workbench.canonical import content_hash
from workbench.errors import BadInputError
from workbench.llm import provider
from workbench.train.tuning.causal import Causal, find, fingerprint, libraries, load, unwarned
from workbench.train.tuning.checkpoint import RECORD, Tuning, weights_hash
from workbench.types import Request

LONGEST = 1024  # tokens of a reply if the request sets no `max_tokens`
PATIENCE = 10.0  # seconds to wait for a turn

# For each judge the adapter's folder, the base model, and the base model's hash.
_known: dict[str, tuple[Path, str | Path, str]] = {}
_loaded: dict[str, Causal] = {}
_turn = threading.Lock()


def load_judge(folder: Path, model: str | Path = "") -> str:
    """The model name of the judge that `Lora` wrote to `folder`: `Pairwise(model=load_judge(...))`.

    `model` is the folder of the base model if it has moved.
    """
    try:
        tuning = Tuning.of((folder / RECORD).read_bytes())
        adapter = weights_hash(folder)
    except OSError as error:
        raise BadInputError(
            f"{folder}: no finished training ({error.strerror}: {error.filename}); "
            "`workbench train lora` makes one"
        ) from error
    if adapter != tuning.adapter:
        raise BadInputError(f"{folder}: the adapter is not the one that its {RECORD} tells of")
    digest = content_hash("judge", (adapter, tuning.model_hash)).partition(":")[2]
    name = f"{folder.resolve().name}@{digest[:16]}"
    _known[name] = (folder.resolve(), model or tuning.model, tuning.model_hash)
    provider.register("local", _reply)
    return f"local/{name}"


def _judge(name: str) -> Causal:
    """The model behind a name, loaded onto exactly the base model that it was tuned from."""
    if name not in _loaded:
        if name not in _known:
            raise BadInputError(f"there is no model local/{name} here: load_judge(FOLDER) names it")
        folder, model, model_hash = _known[name]
        base = find(model)
        if fingerprint(base) != model_hash:
            raise BadInputError(f"the model in {base} is not the one that {folder} was tuned from")
        _, transformers, peft = libraries()
        causal = load(base)
        # The base model's own settings, say a penalty on repeating the prompt, had no part in training.
        ends = causal.model.generation_config.eos_token_id or []
        ends = {causal.tokenizer.eos_token_id, *(ends if isinstance(ends, list) else [ends])}
        causal.model.generation_config = transformers.GenerationConfig(
            eos_token_id=sorted(ends), pad_token_id=causal.tokenizer.eos_token_id
        )
        with unwarned():
            tuned = peft.PeftModel.from_pretrained(causal.model, folder).eval()
        _loaded[name] = Causal(causal.tokenizer, tuned, causal.window)
    return _loaded[name]


def _generate(causal: Causal, read: list[int], options: Mapping[str, Any], seed: str) -> list[int]:
    """The reply's tokens, including the end token if it was reached."""
    torch, _, _ = libraries()
    if others := options.keys() - {"temperature", "top_p", "max_tokens"}:
        raise BadInputError(
            f"a local model knows temperature, top_p and max_tokens, not {', '.join(sorted(others))}"
        )
    temperature = float(options.get("temperature", 1.0))
    how: dict[str, Any] = {"do_sample": False}
    if temperature > 0:
        how = {"do_sample": True, "temperature": temperature, "top_p": options.get("top_p", 1.0)}
        how["top_k"] = 0  # no limit; the default is 50
    with torch.random.fork_rng(range(min(1, torch.cuda.device_count()))), torch.inference_mode():
        torch.manual_seed(random.Random(seed).getrandbits(63))  # noqa: S311
        tokens = torch.tensor([read], device=causal.model.device)
        written = causal.model.generate(
            input_ids=tokens,
            attention_mask=torch.ones_like(tokens),
            max_new_tokens=min(options.get("max_tokens", LONGEST), causal.window - len(read)),
            **how,
        )
    ids: list[int] = written[0, len(read) :].tolist()
    return ids


def _reply(request: Request, seed: str) -> provider.Reply:
    name = request.model.removeprefix("local/")
    if not _turn.acquire(timeout=PATIENCE):
        raise provider.Refusal("rate_limit", "other calls are before this one", again=True)
    try:
        causal = _judge(name)
        read = causal.read(request.messages)
        if len(read) >= causal.window:
            raise provider.Refusal(
                "rejected", f"{len(read)} tokens, and the model reads {causal.window}"
            )
        wrote = _generate(causal, read, request.parameters, seed)
    finally:
        _turn.release()
    ended = wrote[-1] in causal.model.generation_config.eos_token_id
    message = {
        "role": "assistant",
        "content": causal.tokenizer.decode(wrote, skip_special_tokens=True),
    }
    return {
        "model": name,
        "choices": [{"message": message, "finish_reason": "stop" if ended else "length"}],
        "usage": {"prompt_tokens": len(read), "completion_tokens": len(wrote)},
    }
