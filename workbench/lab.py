"""The lab: the models, databases and prompts that a step can use. Steps reach nothing else.

A step asks its model in one line:

    reply = lab.ask(self, "generate/direct", context, think=True)
"""

import os
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, TypeVar

from workbench.llm.client import Client
from workbench.llm.parameters import (
    call_parameters,
    check_given,
    given_for,
    limits_output,
    with_more_room,
)
from workbench.parallel import cached_once, each
from workbench.prompts.prompt import load
from workbench.replies.text import answer_text
from workbench.sql.catalog import describe
from workbench.sql.context_text import context_data
from workbench.sql.executor import Executor
from workbench.sql.schema import read_schema, with_examples
from workbench.sql.schema_text import create_table_text
from workbench.types import (
    Completion,
    Context,
    Execution,
    Limits,
    Question,
    Request,
    Schema,
)

T = TypeVar("T")
R = TypeVar("R")


class Step(Protocol):
    """A step that asks a model: any object with these two attributes."""

    @property
    def model(self) -> str: ...

    @property
    def temperature(self) -> float: ...


@dataclass(frozen=True, slots=True)
class Lab:
    """Everything that the steps of a system share.

    client: sends model calls; shares its cache file with the executor.
    executor: runs SQL in sandboxed workers.
    database: the path of a database file, by db_id.
    prompts: a folder of prompts that replace the package's prompts of the same names.
    system: the name under which the cache counts the calls.
    parameters: for a model or a role, parameters of all its calls, such as {"reasoning_effort": "low"}; None
        removes one, and a role's win over a model's. The roles are generation, filtering, judge and rest.
    limits: the limits of each query that a step runs.
    at_once: whether `each` works on its items in threads, which gain nothing if all models run in this process.
    watch: called with each request before it is sent, and with the data that its prompt shows.
    """

    client: Client
    executor: Executor
    database: Callable[[str], Path]
    prompts: Path | None = None
    system: str = ""
    parameters: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    limits: Limits = field(default_factory=Limits)
    at_once: bool = True
    watch: Callable[[Request, Mapping[str, Any]], object] | None = None

    def __post_init__(self) -> None:
        check_given(self.parameters)

    def ask(
        self, step: Step, prompt: str, about: Context | Question, sample: int = 0, /, **data: Any
    ) -> Completion:
        """The reply to one call. The arguments are those of `request`."""
        return self.ask_many([self.request(step, prompt, about, sample, **data)])[0]

    def ask_many(self, requests: Iterable[Request]) -> list[Completion]:
        """The replies to requests that are sent at the same time, in the order of the requests.

        A request whose reply is cut off is sent once more with a higher output limit, unless a user set the
        limit. If the second request fails, the first reply stays.
        """
        sent = list(requests)
        replies = self.client.complete_many(sent)
        cut_off = {
            index: longer
            for index, (request, reply) in enumerate(zip(sent, replies, strict=True))
            if (longer := self.longer(request, reply))
        }
        second = self.client.complete_many(list(cut_off.values())) if cut_off else []
        for index, reply in zip(cut_off, second, strict=True):
            if not reply.fault or replies[index].fault:
                replies[index] = reply
        return replies

    def longer(self, request: Request, reply: Completion) -> Request | None:
        """The request with a higher output limit, if this lab's own limit cut the reply off; else None."""
        given = given_for(request.model, request.prompt, self.parameters)
        ours = "max_tokens" in request.parameters and not limits_output(given)
        if reply.finish_reason != "length" or not ours:
            return None
        return with_more_room(request, thought=not answer_text(reply.text))

    def each(self, do: Callable[[T], R], items: Sequence[T]) -> list[R]:
        """The results of `do`, which asks models or runs queries, for all items, in their order.

        The items run in threads. They run one after another with `watch`, which sees the calls in order, and
        without `at_once`.
        """
        if len(items) < 2 or self.watch or not self.at_once:  # one item needs no thread
            return [do(item) for item in items]
        # Ctrl-C reaches the main thread alone, so only the main thread stops the calls of all threads.
        is_main = threading.current_thread() is threading.main_thread()
        ending = self.client.stopped if is_main else nullcontext
        return each(do, items, at_once=len(items), ending=ending)

    def request(
        self,
        step: Step,
        prompt: str,
        about: Context | Question,
        sample: int = 0,
        /,
        *,
        schema_text: Callable[[Schema], str] = create_table_text,
        **data: Any,
    ) -> Request:
        """A request to the step's model: the rendered prompt, the step's temperature, and the prompt's output limit.

        The lab's `parameters` for the model and for the prompt's role override temperature and limit.

        If `about` is a context, the prompt gets the context's five variables (question, hint, schema, values,
        descriptions) and `data`; if it is a question, only `data`. `sample` numbers repeated calls of the same
        prompt, so that each gets its own reply. `schema_text` turns the schema into text.
        """
        question = about.question if isinstance(about, Context) else about
        if isinstance(about, Context):
            data = context_data(about, schema_text) | data
        template = load(prompt, self.prompts)
        parameters = call_parameters(
            step.model,
            step.temperature,
            template.output_limit,
            given_for(step.model, prompt, self.parameters),
        )
        request = Request(
            prompt,
            step.model,
            template.messages(**data),
            parameters,
            sample,
            question.id,
            self.system,
        )
        if self.watch:
            self.watch(request, data)
        return request

    def schema(self, db_id: str) -> Schema:
        """The database's schema with the catalog's descriptions and example values, as prompts show it."""
        path = self.database(db_id)
        files = [str(path), f"{path}-wal"]
        return _schema(path, tuple(map(_changed, files)))

    def run(self, question: Question, sql: str) -> Execution:
        """The result of a query on the question's database."""
        return self.run_many(question, [sql])[0]

    def run_many(self, question: Question, queries: Sequence[str]) -> list[Execution]:
        """The results of queries on the question's database."""
        path = self.database(question.db_id)
        return self.executor.execute_many([(path, sql) for sql in queries], self.limits)


def _changed(file: str) -> int:
    """The time of a file's last change, in nanoseconds; 0 if the file is missing."""
    try:
        return os.stat(file).st_ctime_ns  # noqa: PTH116  each call asks, and a text is faster than a path
    except FileNotFoundError:
        return 0


@cached_once(maxsize=64)
def _schema(path: Path, changed: tuple[int, ...]) -> Schema:
    """The schema of a file, cached until the database file or its write-ahead log changes."""
    del changed
    schema = with_examples(read_schema(path), path)
    folder = path.parent / "database_description"
    return describe(schema, folder) if folder.is_dir() else schema
