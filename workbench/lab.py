"""The lab: the models, databases and prompts that a step can use. Steps reach nothing else.

A step asks its model in one line, with the reader of its prompt's form:

    read = partial(replies.ranking, count=3)
    order = lab.ask(self, "select/ranker", context, read, candidates=shown).value
"""

import threading
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, wait
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import count
from pathlib import Path
from typing import Any, Generic, Literal, Protocol, TypeVar

from workbench.errors import one_of
from workbench.llm import calls
from workbench.llm.client import Client
from workbench.prompts import Prompt, load
from workbench.replies import CUT, Unread, answer, response_format
from workbench.sql.executor import Executor
from workbench.sql.schema import describe, read_schema, with_examples
from workbench.sql.texts import context_data, create_table_text
from workbench.types import (
    Candidate,
    Completion,
    Context,
    Execution,
    Limits,
    Question,
    Request,
    Schema,
    Trial,
)

T = TypeVar("T")
R = TypeVar("R")
Reader = Callable[[str], T]
_COUNTING = threading.Lock()
_UNREAD = "unread; asked for "


class Step(Protocol):
    """A step that asks a model: any object with these two attributes."""

    @property
    def model(self) -> str: ...

    @property
    def temperature(self) -> float: ...


@dataclass(frozen=True)
class Answer(Generic[T]):
    """The value that a reader found in a model's reply, or else the `problem`.

    `completion` is the last reply, and `keys` are the cache keys of all calls made for it.
    """

    value: T | None
    completion: Completion
    keys: tuple[str, ...]
    problem: str = ""
    asked_again: bool = False


@dataclass(frozen=True)
class Lab:
    """Everything that the steps of a system share.

    parameters: by model or role (generation, filtering, judge, rest), the parameters of all its
        calls, such as {"reasoning_effort": "low"}. None removes one; a role's win over a model's.
    structured: whether the schema of a JSON object is sent where a prompt asks for one; "auto"
        sends it to models that take schemas.
    watch: called with each request before it is sent, and with the data that its prompt shows.

    >>> study = wb.open_study("bundled-dev", limit=1)
    >>> study.lab.run(study.benchmark.questions[0], "SELECT 1").rows
    ((1,),)
    """

    client: Client
    executor: Executor
    database: Callable[[str], Path]  # the path of a database file, by db_id
    prompts: Path | None = None  # a folder of prompts that replace ours of the same names
    system: str = ""  # the name under which the calls are counted
    parameters: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    structured: Literal["on", "auto", "off"] = "off"
    limits: Limits = field(default_factory=Limits)  # of each query that a step runs
    at_once: bool = True  # `each` works in threads, which gain nothing if models only compute
    watch: Callable[[Request, Mapping[str, Any]], object] | None = None
    # By system, question and prompt: requests that were asked again, and those still unread then.
    asked_again: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    unread: Counter[tuple[str, str, str]] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        calls.check_given(self.parameters)
        one_of(("on", "auto", "off"), structured=self.structured)

    def ask(self, step: Step, prompt: str | Prompt, about: Context | Question, read: Reader[T],
            sample: int = 0, /, **data: Any) -> Answer[T]:  # fmt: skip
        """The answer to one call; its request is `request(step, prompt, about, sample, **data)`."""
        return self.ask_many([self.request(step, prompt, about, sample, **data)], read)[0]

    def ask_many(self, requests: Iterable[Request], read: Reader[T]) -> list[Answer[T]]:
        """The answers to requests that are sent at the same time, in their order.

        A model whose reply is unread is shown it and asked once more. One whose reply is cut off is
        asked once more with a higher output limit, unless a user set the limit.
        """
        asked = list(requests)
        first = self._replies(asked)
        answers = [_answer(read, replies) for replies in first]
        unread = [n for n, found in enumerate(answers) if found.problem.startswith(_UNREAD)]
        again = [_again(asked[n], answers[n]) for n in unread]
        for request in again:
            if self.watch:
                self.watch(request, {})
        for n, replies in zip(unread, self._replies(again), strict=True):
            answers[n] = replace(_answer(read, [*first[n], *replies]), asked_again=True)
            owner = (asked[n].system, asked[n].question, asked[n].prompt)
            with _COUNTING:
                self.asked_again[owner] += 1
                self.unread[owner] += answers[n].problem.startswith(_UNREAD)
        return answers

    def _replies(self, requests: Sequence[Request]) -> list[list[Completion]]:
        """The replies to each request: one, or two where the first is cut off. The last one counts."""
        found = [[reply] for reply in self.client.complete_many(requests)]
        more_room = {n: self.longer(request, found[n][0]) for n, request in enumerate(requests)}
        longer = {n: request for n, request in more_room.items() if request}
        more = self.client.complete_many(list(longer.values()))
        for n, reply in zip(longer, more, strict=True):
            found[n].insert(0 if reply.fault else 1, reply)
        return found

    def longer(self, request: Request, reply: Completion) -> Request | None:
        """The request with more room, if its reply was cut off at a limit that no user set."""
        given = calls.given_for(request.model, request.prompt, self.parameters)
        ours = "max_tokens" in request.parameters and not given.keys() & calls.LIMITS
        if reply.finish_reason != "length" or not ours:
            return None
        return calls.with_more_room(request, thought=not answer(reply.text))

    def request(self, step: Step, prompt: str | Prompt, about: Context | Question, sample: int = 0, /, *,
                schema_text: Callable[[Schema], str] = create_table_text, **data: Any) -> Request:  # fmt: skip
        """A request to the step's model: the rendered prompt, with its output limit.

        The prompt is shown `data` and, if `about` is a context, question, hint, schema, values and
        descriptions. `sample` numbers repeated calls of the same prompt, so that each has a reply.
        """
        question = about.question if isinstance(about, Context) else about
        if isinstance(about, Context):
            data = context_data(about, schema_text) | data
        template, model = load(prompt, self.prompts), step.model
        given = calls.given_for(model, template.name, self.parameters)
        sent = calls.call_parameters(model, step.temperature, template.output_limit, given)
        takes = self.structured == "auto" and calls.listed(model).get("supports_response_schema")
        if (self.structured == "on" or takes) and (form := response_format(template.name)):
            sent = {"response_format": form} | sent
        messages = template.messages(**data)
        request = Request(template.name, model, messages, sent, sample, question.id, self.system)
        if self.watch:
            self.watch(request, data)
        return request

    def each(self, do: Callable[[T], R], items: Iterable[T], threads: int = 0,
             progress: Callable[[int, int], object] | None = None) -> list[R]:  # fmt: skip
        """The results of `do` for all items, in their order; `do` asks models or runs queries.

        `threads` is the number of threads, by default one for each item. After an error or Ctrl-C no
        item begins, and those that have begun are waited for until a second Ctrl-C; after Ctrl-C, or
        where `threads` is given, they send nothing more.
        """
        todo = list(items)
        # `watch` sees the calls in order.
        if self.watch or (not threads and (len(todo) < 2 or not self.at_once)):
            return [do(item) for item in todo]
        made: list[Future[R]] = [Future() for _ in todo]
        jobs = zip(todo, made, strict=True)  # that have not begun

        def work() -> None:
            for item, future in jobs:
                try:
                    future.set_result(do(item))
                except BaseException as error:  # noqa: BLE001  it is raised below
                    list(jobs)  # no other item begins
                    future.set_exception(error)

        number = min(threads or len(todo), len(todo))
        workers = [threading.Thread(target=work, daemon=True) for _ in range(number)]
        for worker in workers:
            worker.start()
        try:
            left = set(made)
            while left:
                done, left = wait(made, timeout=0.2, return_when=FIRST_EXCEPTION)
                for future in done:
                    future.result()
                if progress:
                    progress(len(done), len(todo))
        except BaseException as error:
            list(jobs)
            halt = threads or isinstance(error, KeyboardInterrupt)
            with self.client.stopped() if halt else nullcontext():
                for worker in workers:
                    worker.join()
            raise
        return [future.result() for future in made]

    def schema(self, db_id: str) -> Schema:
        """The schema as prompts show it: with the catalog's descriptions and example values."""
        path = self.database(db_id)
        files = [file for file in (path, Path(f"{path}-wal")) if file.exists()]
        return _schema(path, tuple(file.stat().st_ctime_ns for file in files))

    def run(self, question: Question, sql: str) -> Execution:
        return self.run_many(question, [sql])[0]

    def run_many(self, question: Question, queries: Sequence[str]) -> list[Execution]:
        path = self.database(question.db_id)
        return self.executor.execute_many([(path, sql) for sql in queries], self.limits)

    def run_candidates(self, question: Question, made: Iterable[Candidate]) -> tuple[Trial, ...]:
        """A trial of each candidate, run if it has SQL; each generator's candidates are numbered."""
        places: dict[str, count[int]] = defaultdict(count)
        numbered = [replace(one, sample=next(places[one.generator])) for one in made]
        ran = iter(self.run_many(question, [one.sql for one in numbered if one.sql]))
        return tuple(Trial(one, next(ran) if one.sql else None) for one in numbered)


def _answer(read: Reader[T], replies: Sequence[Completion]) -> Answer[T]:
    reply, keys = replies[-1], tuple(dict.fromkeys(reply.key for reply in replies))
    if reply.fault:
        return Answer(None, reply, keys, reply.error or reply.fault)
    end = CUT if reply.finish_reason == "length" else ""
    try:
        return Answer(read(reply.text + end), reply, keys)
    except Unread as asked:
        return Answer(None, reply, keys, f"{_UNREAD}{asked}")


def _again(request: Request, unread: Answer[Any]) -> Request:
    """The request with the unread reply, without its thought, and what is asked for."""
    said, form = unread.completion.text, unread.problem.removeprefix(_UNREAD)
    told = f"That could not be read. Answer only with {form}."
    shown = {"role": "assistant", "content": answer(said) or said}
    more = (shown, {"role": "user", "content": told})
    return replace(request, messages=(*request.messages, *more), again=True)


@lru_cache(maxsize=64)
def _schema(path: Path, changed: tuple[int, ...]) -> Schema:
    """The schema of a file; `changed` holds the times at which it and its write-ahead log changed."""
    del changed  # a part of the key under which the schema is kept
    schema = with_examples(read_schema(path), path)
    folder = path.parent / "database_description"
    return describe(schema, folder) if folder.is_dir() else schema
