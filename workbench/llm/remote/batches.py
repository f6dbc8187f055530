"""Batches of calls at a provider, by LiteLLM: half the price, and answers within a day.

A batch is a file of requests (`batch_lines`) that the provider answers when it has time.
"""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from workbench.llm.remote.batch_lines import Item, endpoint, read_line, write_line
from workbench.llm.remote.listed import listed
from workbench.llm.remote.refusals import Gone, Refusal, refusal
from workbench.llm.remote.sending.load import load
from workbench.types import Request

# The providers whose batches LiteLLM creates, lists and reads in OpenAI's form.
PROVIDERS = ("openai", "azure", "hosted_vllm", "vertex_ai", "mistral", "xai")
_UNLISTED = "mistral"  # LiteLLM cannot list its batches

State = Literal["running", "ended", "failed"]


@dataclass(frozen=True, slots=True)
class Status:
    """The progress of a batch.

    `files` are those of its answers and of its errors. `answers` counts both as the provider does, None if it
    does not. `errors` says why a batch failed, in which case nothing was paid: a reason and the number of the
    request that it is about, or 0.
    """

    state: State
    files: tuple[str, ...] = ()
    answers: int | None = None
    errors: tuple[tuple[str, int], ...] = ()


class BatchService:
    """The operations on batches of all providers that LiteLLM reaches; each raises `Refusal`."""

    def unable(self, model: str) -> str:
        """Why the model's calls cannot go into a batch, or ""."""
        provider, _, name = model.partition("/")
        if provider not in PROVIDERS:
            return f"LiteLLM creates no batches of {provider}"
        if name.startswith("responses/") or listed(model).get("mode") == "responses":
            return (
                "LiteLLM reaches it by the Responses API, and only chat completions go into a batch"
            )
        return ""

    def line(self, request: Request, key: str) -> bytes:
        """The request as a line of a batch's file."""
        return write_line(request, key)

    def upload(self, model: str, url: str, name: str, lines: Sequence[bytes]) -> str:
        """Store the lines at the provider; returns the file's id."""
        file = (f"{name}.jsonl", b"".join(lines), "application/jsonl")
        return str(_call("create_file", model, url, file=file, purpose="batch").id)

    def create(self, model: str, url: str, name: str, file: str) -> str:
        """Begin the batch of that file; returns its id."""
        given = {"completion_window": "24h", "endpoint": endpoint(model), "input_file_id": file}
        return str(_call("create_batch", model, url, metadata={"workbench": name}, **given).id)

    def find(self, model: str, url: str, name: str) -> str:
        """The id of the batch of that name; "" if there is none."""
        if model.startswith(_UNLISTED):
            return ""
        after = None
        while True:
            page = _call("list_batches", model, url, after=after, limit=100)
            batches = [
                one if isinstance(one, dict) else one.model_dump()
                for one in _field(page, "data") or []
            ]
            for batch in batches:
                if (batch.get("metadata") or {}).get("workbench") == name:
                    return str(batch["id"])
            if not batches or not _field(page, "has_more"):
                return ""
            after = batches[-1]["id"]

    def look(self, model: str, url: str, batch: str) -> Status:
        found = _call("retrieve_batch", model, url, batch_id=batch).model_dump()
        counts = found.get("request_counts") or {}
        errors = ((found.get("errors") or {}).get("data")) or []
        ends: dict[str, State] = {
            "completed": "ended", "expired": "ended", "cancelled": "ended", "failed": "failed",
        }  # fmt: skip
        return Status(
            ends.get(found["status"], "running"),
            tuple(filter(None, (found.get("output_file_id"), found.get("error_file_id")))),
            counts.get("completed"),
            tuple(
                (f"{e.get('code') or ''} {e.get('message')}", e.get("line") or 0) for e in errors
            ),
        )

    def read(self, model: str, url: str, file: str) -> Iterator[Item | None]:
        """The items of a file of results; None for a line that is not whole."""
        content = _call("file_content", model, url, file_id=file)
        return (read_line(line, url) for line in content.content.splitlines())


def _call(function: str, model: str, url: str, **given: Any) -> Any:
    """Call a function of LiteLLM for files or batches of the model's provider."""
    litellm = load()
    provider = model.split("/", maxsplit=1)[0]
    given |= {"api_base": url} if url else {}
    if provider == "hosted_vllm":  # by default LiteLLM takes OpenAI's key and address
        if not url:
            unset = "HOSTED_VLLM_API_BASE is not set: set it to the server's address"
            raise Refusal("rejected", unset, fatal=True)
        given["api_key"] = os.environ.get("HOSTED_VLLM_API_KEY") or "none"
    if provider == _UNLISTED and "batch" in function:
        given["model"] = model.partition("/")[2]
    try:
        return getattr(litellm, function)(
            custom_llm_provider=provider, timeout=600.0, max_retries=0, **given
        )
    except Exception as error:
        found = refusal(error)
        reads = function in {"retrieve_batch", "file_content"}
        if reads and getattr(error, "status_code", 0) == 404:
            raise Gone(found.fault, str(found)) from error
        raise found from error


def _field(page: Any, name: str) -> Any:
    return page.get(name) if isinstance(page, dict) else getattr(page, name, None)
