"""Models on this computer as a provider: `local/NAME` is called through the client and its cache like any other.

NAME is what `workbench train lora --name NAME` tuned, or a model as `find` takes it: `local/smollm2`, the path of
a folder or a GGUF file (`local//data/qwen`), or a name in the Hugging Face cache (`local/Qwen/Qwen2.5-0.5B`).

A call's key has a hash of the model's files, and of the adapter where there is one, and not their place: a cached
call is found wherever they are, and never after they have changed. The model is loaded by the first call that is
not cached, and answers one call at a time. Importing this module registers the provider; `pyproject.toml` names it
as an entry point.
"""

import random
import re
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from workbench.canonical import content_hash
from workbench.errors import BadInputError
from workbench.llm import provider
from workbench.llm.remote.replies import reply_with
from workbench.store import home
from workbench.train.tuning.causal import Causal, find, fingerprint, libraries, load, unwarned
from workbench.train.tuning.checkpoint import RECORD, Tuning, weights_hash
from workbench.train.tuning.prefixes import Prefixes
from workbench.types import Request

LONGEST = 1024  # tokens of a reply if the request sets no `max_tokens`

_loaded: dict[str, tuple[Causal, Prefixes]] = {}  # by the model's version


def adapter_folder(name: str) -> Path:
    """Where the adapter of that name is kept: the folder `models` in the workbench's home."""
    if not re.fullmatch(r"\w[\w.-]*", name):
        raise BadInputError(f"{name!r} is no name for a model: use letters, digits, _, - and .")
    return home() / "models" / name


def version(model: str) -> str:
    """The hash of a model's files that stands in the keys of its calls."""
    folder, tuning = _tuned(model)
    if tuning is None:
        return f"local@{_fingerprint(_find_or_list(model))}"
    adapter = weights_hash(folder)
    if adapter != tuning.adapter:
        raise BadInputError(
            f"{folder}: the adapter has changed since {RECORD} was written; tune it again under another name"
        )
    return f"local@{content_hash('judge', (adapter, tuning.model_hash))}"


def _tuned(model: str) -> tuple[Path, Tuning | None]:
    """The folder of an adapter and its record; no record for a model that was not tuned here."""
    name = model.removeprefix("local/")
    folder = home() / "models" / name
    if "/" in name or not folder.is_dir():
        return folder, None
    try:
        return folder, Tuning.of((folder / RECORD).read_bytes())
    except OSError as error:
        raise BadInputError(
            f"{folder}: no finished training ({error.strerror}: {error.filename}); "
            f"`workbench train lora --name {name}` finishes one"
        ) from error


def _find_or_list(model: str) -> Path:
    try:
        return find(model.removeprefix("local/"))
    except BadInputError as error:
        folder = home() / "models"
        names = sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []
        raise BadInputError(
            f"no model {model}: tuned here are {', '.join(names) or 'none'}; {error}"
        ) from error


def _fingerprint(model: Path) -> str:
    files = sorted(model.iterdir()) if model.is_dir() else [model]
    state = tuple((path.name, path.stat().st_size, path.stat().st_mtime_ns) for path in files)
    return _fingerprint_of(model, state)


@lru_cache(maxsize=64)
def _fingerprint_of(model: Path, state: tuple[tuple[str, int, int], ...]) -> str:
    del state  # only part of the cache key
    return fingerprint(model)


def _model(model: str) -> tuple[Causal, Prefixes]:
    """The model behind a name and the prompts that it read last.

    An adapter is put onto exactly the base model that it was tuned from.
    """
    key = version(model)
    if key in _loaded:
        return _loaded[key]
    folder, tuning = _tuned(model)
    if tuning is None:
        causal = load(_find_or_list(model))
    else:
        base = find(tuning.model)
        if _fingerprint(base) != tuning.model_hash:
            raise BadInputError(
                f"the model in {base} has changed since {folder} was tuned from it; put the old model back, or tune again"
            )
        causal = load(base, four_bits=tuning.settings.get("four_bits", False))
    _, transformers, peft = libraries()
    # The base model's own settings, say a penalty on repeating the prompt, had no part in training.
    ends = causal.model.generation_config.eos_token_id or []
    ends = {causal.tokenizer.eos_token_id, *(ends if isinstance(ends, list) else [ends])}
    causal.model.generation_config = transformers.GenerationConfig(
        eos_token_id=sorted(ends), pad_token_id=causal.tokenizer.eos_token_id
    )
    ready = causal.model.eval()
    if tuning is not None:
        with unwarned():
            ready = peft.PeftModel.from_pretrained(causal.model, folder).eval()
    _loaded[key] = Causal(causal.tokenizer, ready, causal.window), Prefixes()
    return _loaded[key]


def _generate(
    causal: Causal, prefixes: Prefixes, read: list[int], options: Mapping[str, Any], seed: str
) -> list[int]:
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
            past_key_values=prefixes.begin(read),
            return_dict_in_generate=True,
            max_new_tokens=min(options.get("max_tokens", LONGEST), causal.window - len(read)),
            **how,
        )
    prefixes.keep(read, written.past_key_values)
    ids: list[int] = written.sequences[0, len(read) :].tolist()
    return ids


def reply(request: Request, seed: str) -> provider.Reply:
    """The model's reply to a request."""
    causal, prefixes = _model(request.model)
    read = causal.read(request.messages)
    if len(read) >= causal.window:
        raise provider.Refusal(
            "rejected", f"{len(read)} tokens, and the model reads {causal.window}"
        )
    wrote = _generate(causal, prefixes, read, request.parameters, seed)
    ended = wrote[-1] in causal.model.generation_config.eos_token_id
    text = causal.tokenizer.decode(wrote, skip_special_tokens=True)
    found = reply_with(text, "stop" if ended else "length", len(read), len(wrote))
    return {"model": request.model, **found}


provider.register("local", reply, version)
