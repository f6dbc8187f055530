"""A run as a log of inspect_ai: its JSON form, EvalLog of version 2, which `inspect view` and `read_eval_log` read.

A question is a sample, its gold query the target, the chosen query the output, and the verdict the score `ex`: C for
correct, I for incorrect, N without an answer. A sample's metadata has all candidates. Its events are the model calls
that generated, repaired and selected the chosen candidate, or all candidates. Calls of retrieval and pruning are left
out: they are cached without their question. A prompt that calls of a sample share is written once, as an attachment.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any, Literal

import orjson

from workbench.benchmarks.benchmark import Benchmark
from workbench.benchmarks.predictions.inspect_log import ATTACHMENT
from workbench.canonical import content_hash
from workbench.errors import redact, secrets
from workbench.evaluate.stats import mean_interval
from workbench.exchange.stored_run import Answered, StoredRun
from workbench.llm.cache.rows import Call
from workbench.llm.cache.transfer import Select, calls
from workbench.llm.provider import without_secrets
from workbench.store import Store

Which = Literal["chosen", "all", "none"]
Json = dict[str, Any]
_SHORT = 200  # characters: a longer text of a prompt becomes an attachment
_STOPS = {"stop": "stop", "length": "max_tokens", "content_filter": "content_filter"}
_PARAMETERS = {
    "temperature", "top_p", "top_k", "max_tokens", "seed", "frequency_penalty", "presence_penalty",
}  # fmt: skip


def write_inspect_log(
    path: Path,
    run: StoredRun,
    benchmark: Benchmark,
    answered: Sequence[Answered],
    store: Store,
    which: Which = "chosen",
) -> int:
    """Write the log, sample by sample; returns the number of calls in it."""
    known = secrets()
    number = 0
    usage: dict[str, Json] = {}
    for one in answered:
        for model, used in _used(store, _keys(one, which)).items():
            usage[model] = _sum(usage.get(model), used)
    head = orjson.dumps(without_secrets(known, _head(run, benchmark, answered, usage)))
    with path.open("wb") as file:
        file.write(head[:-1] + b',"samples":[\n')
        for index, one in enumerate(answered):
            made = list(calls(store, Select(keys=_keys(one, which))))
            number += len(made)
            sample = orjson.dumps(without_secrets(known, _sample(one, made, run)))
            file.write((b",\n" if index else b"") + sample)
        file.write(b"\n]}\n")
    return number


def _head(
    run: StoredRun, benchmark: Benchmark, answered: Sequence[Answered], usage: Mapping[str, Json]
) -> Json:
    """The log without its samples."""
    verdicts = [float(one.chosen is not None and one.correct[one.chosen]) for one in answered]
    accuracy = mean_interval(verdicts, [one.question.db_id for one in answered])
    values = {"accuracy": accuracy.mean, "low": accuracy.low, "high": accuracy.high}
    created = _time(run.created)
    ids = [one.question.id for one in answered]
    sense = "BIRD" if benchmark.sense == "bird" else "Spider"
    return {
        "version": 2,
        "status": "success",
        "eval": {
            "eval_id": run.id,
            "run_id": run.id,
            "task_id": run.benchmark,
            "created": created,
            "task": run.benchmark,
            "solver": run.name,
            "dataset": {"name": run.benchmark, "samples": len(ids), "sample_ids": ids},
            "model": next(iter(usage), "none/none"),
            "config": {},
            "packages": {"workbench": version("workbench")},
            "metadata": {"ex": f"execution accuracy as {sense} defines it, interval by database"},
        },
        "plan": {
            "name": run.name,
            "steps": [{"solver": run.name, "params": {"system": run.system}}],
        },
        "results": {
            "total_samples": len(ids),
            "completed_samples": len(ids),
            "scores": [
                {
                    "name": "ex",
                    "scorer": "ex",
                    "metrics": {name: {"name": name, "value": v} for name, v in values.items()},
                }
            ],
        },
        "stats": {"started_at": created, "completed_at": created, "model_usage": usage},
    }


def _sample(one: Answered, made: Sequence[Call], run: StoredRun) -> Json:
    question, index = one.question, one.chosen
    sql = "" if index is None else one.candidates[index].sql
    value = "N" if index is None else "C" if one.correct[index] else "I"
    attachments: dict[str, str] = {}
    asked = f"{question.text}\n\n{question.evidence}" if question.evidence else question.text
    models = list(dict.fromkeys(call.model for call in made))
    usage: dict[str, Json] = {}
    for call in made:
        usage[call.model] = _sum(usage.get(call.model), _usage(call))
    return {
        "id": question.id,
        "epoch": 1,
        "input": asked,
        "target": one.gold.sql,
        "messages": [
            {"role": "user", "content": asked},
            {"role": "assistant", "content": sql},
        ],
        "output": _output(models[0] if models else run.name, sql, "stop"),
        "scores": {"ex": {"value": value, "answer": sql}},
        "metadata": {
            "db_id": question.db_id,
            "hint": question.evidence,
            "difficulty": one.difficulty,
            "candidates": one.records(),
        },
        "model_usage": usage,
        "events": [_event(call, attachments) for call in sorted(made, key=lambda c: c.created)],
        "attachments": attachments,
    }


def _event(call: Call, attachments: dict[str, str]) -> Json:
    """A call as an event of the sample; long texts go into `attachments`."""
    given = {name: value for name, value in call.parameters.items() if name in _PARAMETERS}
    others = {name: value for name, value in call.parameters.items() if name not in _PARAMETERS}
    return {
        "event": "model",
        "timestamp": _time(call.created - call.seconds),
        "completed": _time(call.created),
        "working_start": 0.0,
        "working_time": call.seconds,
        "model": call.model,
        "input": [
            {"role": message["role"], "content": _attached(message.get("content"), attachments)}
            for message in call.messages
        ],
        "tools": [],
        "tool_choice": "none",
        "config": given,
        "output": _output(
            call.model, call.text, _STOPS.get(call.finish_reason, "unknown"), _usage(call)
        ),
        "metadata": {
            "prompt": call.prompt,
            "key": call.key,
            "sample": call.sample,
            "endpoint": redact(call.endpoint),
            "parameters": redact(orjson.dumps(others).decode()),
        },
    }


def _attached(content: Any, attachments: dict[str, str]) -> str:
    text = content if isinstance(content, str) else orjson.dumps(content).decode()
    if len(text) <= _SHORT:
        return text
    key = content_hash("text", text).rpartition(":")[2]
    attachments[key] = text
    return ATTACHMENT + key


def _output(model: str, text: str, stop: str, usage: Json | None = None) -> Json:
    message = {"role": "assistant", "content": text, "model": model, "source": "generate"}
    choices = [{"message": message, "stop_reason": stop}]
    return {"model": model, "choices": choices, "completion": text, "usage": usage}


def _keys(one: Answered, which: Which) -> list[str]:
    """The keys of a question's calls."""
    counted = [c for c in one.candidates if which == "all" or (which == "chosen" and c.chosen)]
    return list(dict.fromkeys(key for candidate in counted for key in candidate.calls))


def _used(store: Store, keys: Iterable[str]) -> dict[str, Json]:
    """The tokens and dollars of calls by model, read without their texts."""
    columns = "key, model, input_tokens, output_tokens, cached_tokens, cost"
    usage: dict[str, Json] = {}
    for _, model, *used in store.read_keys(
        f"SELECT {columns} FROM calls WHERE key IN", sorted(keys)
    ):
        usage[model] = _sum(usage.get(model), _tokens(*used))
    return usage


def _usage(call: Call) -> Json:
    return _tokens(call.usage.input, call.usage.output, call.usage.cached, call.cost)


def _tokens(read: int, written: int, cached: int, cost: float | None) -> Json:
    return {
        "input_tokens": read,
        "output_tokens": written,
        "total_tokens": read + written,
        "input_tokens_cache_read": cached,
        "total_cost": cost,  # None if the price is unknown
    }


def _sum(one: Json | None, other: Json) -> Json:
    """The sums; a sum of costs is None if one of them is."""
    pairs = {name: ((one or {}).get(name, 0), value) for name, value in other.items()}
    return {name: None if None in pair else sum(pair) for name, pair in pairs.items()}


def _time(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat()
