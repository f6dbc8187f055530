"""The files of a training: its state after each epoch, and at the end the adapter and its record.

Tensors are stored as safetensors, everything else as JSON. Each file is written under a temporary name and
renamed, so a stopped training has either all of an epoch or nothing of it.
"""

import importlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Any, Self

import orjson

from workbench.errors import BadInputError, naming

RECORD = "lora.json"
WEIGHTS = "adapter_model.safetensors"
_STATE = "resume.safetensors"
_PARTS = {f"{RECORD}.part", f"{_STATE}.part"}


@dataclass(frozen=True, slots=True)
class Tuning:
    """The record beside an adapter: what it was trained from and how."""

    settings: dict[str, Any]  # the fields of `Lora`
    model: str
    model_hash: str
    data_hash: str
    versions: dict[str, str]  # of the libraries
    examples: int = 0
    left_out: int = 0  # conversations longer than `max_tokens` or the model's window
    losses: tuple[float, ...] = ()  # the mean of each epoch
    adapter: str = ""  # the hash of the weights; empty until the last epoch is done

    @classmethod
    def of(cls, text: str | bytes) -> Self:
        """A record from its JSON."""
        record = orjson.loads(text)
        return cls(**record | {"losses": tuple(record["losses"])})

    def json(self) -> str:
        return orjson.dumps(asdict(self), option=orjson.OPT_INDENT_2).decode()


def earlier(out: Path, new: Tuning) -> Tuning | None:
    """The record in `out` of the same training. Files of another training are never overwritten."""
    with naming(out):
        out.mkdir(parents=True, exist_ok=True)
        names = {path.name for path in out.iterdir()} - _PARTS
    if not names:
        return None
    if RECORD in names:
        old = Tuning.of((out / RECORD).read_bytes())
    elif _STATE in names:
        with importlib.import_module("safetensors").safe_open(out / _STATE, "pt") as state:
            old = Tuning.of(state.metadata()["tuning"])
    else:
        raise BadInputError(f"{out}: contains {min(names)} and no training: name a new folder")
    was, now = ({**asdict(t), **t.settings, "micro_batch": 0} for t in (old, new))
    differs = [n for n in (*new.settings, "model_hash", "data_hash") if was.get(n) != now[n]]
    if differs:
        raise BadInputError(
            f"{out}: contains a training with other {', '.join(differs)}: name a new folder, or remove it"
        )
    return old


def keep(out: Path, weights: Mapping[str, Any], optimizer: Any, tuning: Tuning) -> None:
    """Save the trained weights, AdamW's state of each, and the record so far."""
    tensors = {f"weight {name}": p.detach() for name, p in weights.items()}
    for name, p in weights.items():
        tensors |= {f"{kind} {name}": value for kind, value in optimizer.state[p].items()}
    part = out / f"{_STATE}.part"
    save = importlib.import_module("safetensors.torch").save_file
    save(tensors, part, metadata={"tuning": tuning.json()})
    part.replace(out / _STATE)


def restore(out: Path, weights: Mapping[str, Any], optimizer: Any) -> None:
    """Load the weights and AdamW's state that `keep` saved."""
    tensors = importlib.import_module("safetensors.torch").load_file(out / _STATE)
    for key, tensor in tensors.items():
        kind, name = key.split(" ")
        p = weights[name]
        if kind == "weight":
            p.data.copy_(tensor)
        else:
            optimizer.state[p][kind] = tensor if kind == "step" else tensor.to(p.device)


def finish(out: Path, model: Any, tuning: Tuning) -> Tuning:
    """Save the adapter in peft's own form, and last of all its record."""
    model.save_pretrained(out, save_embedding_layers=False)
    (out / "README.md").unlink()  # peft's form for a model card, not filled in
    tuning = replace(tuning, adapter=weights_hash(out))
    part = out / f"{RECORD}.part"
    part.write_text(tuning.json())
    part.replace(out / RECORD)
    (out / _STATE).unlink()
    return tuning


def weights_hash(out: Path) -> str:
    """The hash of an adapter."""
    return f"sha256:{sha256((out / WEIGHTS).read_bytes()).hexdigest()}"
