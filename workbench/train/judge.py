"""A tuned model as a judge: a provider of our own, asked through the client and its cache like any other.

Its name says which adapter on which model it is, by a hash of both: a call is found again wherever the
folders lie, also where neither is, and never after either has changed. The model is loaded with the first
call that is not in the cache. It answers one call at a time; who waits long for a turn is told so in the
way of providers, and the client then sends fewer at once.
"""

import importlib
import random
import threading
from pathlib import Path
from typing import Any

from workbench.canonical import content_hash
from workbench.errors import BadInputError
from workbench.llm import provider
from workbench.train.causal import Causal, find, fingerprint, libraries, load, unwarned
from workbench.train.checkpoint import RECORD, Tuning, weights_hash

LONGEST = 1024  # tokens of a reply, where the request sets no `max_tokens`
PATIENCE = 10.0  # seconds to wait for a turn

# The folder of each judge's adapter, the model that it goes on, and that one's hash.
_known: dict[str, tuple[Path, str | Path, str]] = {}
_loaded: dict[str, Causal] = {}
_turn = threading.Lock()


def load_judge(folder: Path, model: str | Path = "") -> str:
    """The name by which to ask the model that `Lora` tuned into `folder`: `Pairwise(model=load_judge(...))`.

    `model` is the folder of the model that was tuned, where it is no longer at its place.
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
    provider.register("local", _make)
    return f"local/{name}"


def _judge(name: str) -> Causal:
    """The model behind a name, on the model that it was tuned from and no other."""
    if name not in _loaded:
        if name not in _known:
            raise BadInputError(f"there is no model local/{name} here: load_judge(FOLDER) names it")
        folder, model, model_hash = _known[name]
        base = find(model)
        if fingerprint(base) != model_hash:
            raise BadInputError(f"the model in {base} is not the one that {folder} was tuned from")
        _, transformers, peft = libraries()
        causal = load(base)
        # The model's own habits of generation, say a penalty on words of the prompt, were not trained with.
        ends = causal.model.generation_config.eos_token_id or []
        ends = {causal.tokenizer.eos_token_id, *(ends if isinstance(ends, list) else [ends])}
        causal.model.generation_config = transformers.GenerationConfig(
            eos_token_id=sorted(ends), pad_token_id=causal.tokenizer.eos_token_id
        )
        with unwarned():
            tuned = peft.PeftModel.from_pretrained(causal.model, folder).eval()
        _loaded[name] = Causal(causal.tokenizer, tuned, causal.window)
    return _loaded[name]


def _generate(causal: Causal, read: list[int], options: dict[str, Any]) -> list[int]:
    """The reply's tokens, with its end if it came to one."""
    torch, _, _ = libraries()
    ours = {"call_key", "max_retries"}
    if others := options.keys() - {*ours, "temperature", "top_p", "max_tokens"}:
        raise BadInputError(
            f"a local model knows temperature, top_p and max_tokens, not {', '.join(sorted(others))}"
        )
    temperature = float(options.get("temperature", 1.0))
    how: dict[str, Any] = {"do_sample": False}
    if temperature > 0:
        how = {"do_sample": True, "temperature": temperature, "top_p": options.get("top_p", 1.0)}
        how["top_k"] = 0  # all words; it is 50 where nothing is said
    with torch.random.fork_rng(range(min(1, torch.cuda.device_count()))), torch.inference_mode():
        torch.manual_seed(random.Random(options["call_key"]).getrandbits(63))  # noqa: S311
        tokens = torch.tensor([read], device=causal.model.device)
        written = causal.model.generate(
            input_ids=tokens,
            attention_mask=torch.ones_like(tokens),
            max_new_tokens=min(options.get("max_tokens", LONGEST), causal.window - len(read)),
            **how,
        )
    ids: list[int] = written[0, len(read) :].tolist()
    return ids


def _make() -> Any:
    """The handler that LiteLLM calls."""
    litellm: Any = importlib.import_module("litellm")

    def completion(*_: Any, **given: Any) -> Any:
        name = given["model"].removeprefix("local/")
        about = {"model": name, "llm_provider": "local"}
        if not _turn.acquire(timeout=PATIENCE):
            raise litellm.RateLimitError("other calls are before this one", **about)
        try:
            causal = _judge(name)
            read = causal.read(given["messages"])
            if len(read) >= causal.window:
                raise litellm.ContextWindowExceededError(
                    f"{len(read)} tokens, and the model reads {causal.window}", **about
                )
            wrote = _generate(causal, read, given["optional_params"])
        finally:
            _turn.release()
        ended = wrote[-1] in causal.model.generation_config.eos_token_id
        text = causal.tokenizer.decode(wrote, skip_special_tokens=True)
        return litellm.ModelResponse(
            model=name,
            choices=[
                litellm.Choices(
                    message=litellm.Message(content=text, role="assistant"),
                    finish_reason="stop" if ended else "length",
                )
            ],
            usage=litellm.Usage(
                prompt_tokens=len(read),
                completion_tokens=len(wrote),
                total_tokens=len(read) + len(wrote),
            ),
        )

    # LiteLLM wants an instance of its class, which cannot be named before it is imported.
    return type("Local", (litellm.CustomLLM,), {"completion": staticmethod(completion)})()
