"""The lab: the models, databases and prompts that a step can use. Steps reach nothing else.

A step asks its model in one line, with the reader of its prompt's form:

    read = partial(replies.ranking, count=3)
    order = lab.ask(self, "select/ranker", context, read, candidates=shown).value
"""

import threading
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, wait
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import count
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

from workbench.errors import BadInputError
from workbench.llm import calls
from workbench.llm.client import Client
from workbench.prompts import Prompt, load
from workbench.replies import CUT, Unread, answer
from workbench.sql.executor import Executor, file_state
from workbench.sql.schema import describe, read_schema, with_examples
from workbench.sql.texts import context_data, create_table_text
from workbench.types import (
    ROLES,
    Candidate,
    Completion,
    Context,
    Execution,
    Limits,
    Question,
    Request,
    Role,
    Schema,
    Trial,
)

T = TypeVar("T")
R = TypeVar("R")
Reader = Callable[[str], T]


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
    wanted: str = ""  # the form that was asked for, if the reply is in another one
    asked_again: str = ""  # the form that was asked for once more, if it was

    @property
    def problem(self) -> str:
        """Why there is no value; "" if there is one."""
        if self.wanted:
            return f"unread; asked for {self.wanted}"
        return self.completion.error or self.completion.fault


@dataclass(frozen=True)
class Lab:
    """Everything that the steps of a system share.

    parameters: by model or role (generation, filtering, judge, rest), the parameters of all its
        calls, such as {"reasoning_effort": "low"}. None removes one; a role's win over a model's.
    watch: called with each request before it is sent, and with the data that its prompt shows.
    heard: called with each request and its answer, once it is read; several threads may call it.

    >>> study = wb.open_study("bundled-dev", limit=1)
    >>> study.lab.run(study.benchmark.questions[0], "SELECT 1").rows
    ((1,),)
    """

    client: Client
    executor: Executor
    database: Callable[[str], Path]  # the path of a database file, by db_id
    # A folder of prompts that replace ours of the same names.
    prompts: Path | None = None
    system: str = ""  # the name under which the calls are counted
    parameters: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    limits: Limits = field(default_factory=Limits)  # of each query that a step runs
    # `each` works in threads, which gain nothing if models only compute.
    at_once: bool = True
    watch: Callable[[Request, Mapping[str, Any]], object] | None = None
    heard: Callable[[Request, Answer[Any]], object] | None = None

    def __post_init__(self) -> None:
        calls.check_given(self.parameters)

    def ask(
        self,
        step: Step,
        prompt: str | Prompt,
        about: Context | Question,
        read: Reader[T],
        sample: int = 0,
        /,
        **data: Any,
    ) -> Answer[T]:
        """Return the answer to one call, that of `request(step, prompt, about, sample, **data)`."""
        request = self.request(step, prompt, about, sample, **data)
        (answer,) = self.ask_many([request], read)
        return answer

    def ask_many(self, requests: Iterable[Request], read: Reader[T]) -> list[Answer[T]]:
        """Return the answers to requests that are sent at the same time, in their order.

        A model whose reply is unread is shown it and asked once more. One whose reply is cut off is
        asked once more with a higher output limit, unless a user set the limit.
        """
        asked = list(requests)
        replies = self._replies(asked)
        answers = [_answer(read, completions) for completions in replies]

        unread = [n for n in range(len(answers)) if answers[n].wanted]
        again = [_again(asked[n], answers[n]) for n in unread]
        if self.watch:
            for request in again:
                self.watch(request, {})
        for n, completions in zip(unread, self._replies(again), strict=True):
            first = answers[n]
            second = _answer(read, replies[n] + completions)
            answers[n] = replace(second, asked_again=first.wanted)
        if self.heard:
            for n, request in enumerate(asked):
                self.heard(request, answers[n])
        return answers

    def _replies(self, requests: Sequence[Request]) -> list[list[Completion]]:
        """Return the replies to each request, two where one is cut off; the last one counts."""
        replies = [[completion] for completion in self.client.complete_many(requests)]
        longer: dict[int, Request] = {}
        for n, request in enumerate(requests):
            with_more_room = self.longer(request, replies[n][0])
            if with_more_room:
                longer[n] = with_more_room
        completions = self.client.complete_many(list(longer.values()))
        for n, completion in zip(longer, completions, strict=True):
            if completion.fault:
                # The one that was cut off stays the last, which counts.
                replies[n].insert(0, completion)
            else:
                replies[n].append(completion)
        return replies

    def longer(self, request: Request, reply: Completion) -> Request | None:
        """Return the request with more room, if its reply was cut off at the prompt's limit."""
        if reply.finish_reason != "length" or not request.may_grow:
            return None
        return calls.with_more_room(request, thought=not answer(reply.text))

    def request(
        self,
        step: Step,
        prompt: str | Prompt,
        about: Context | Question,
        sample: int = 0,
        /,
        *,
        schema_text: Callable[[Schema], str] = create_table_text,
        **data: Any,
    ) -> Request:
        """Return a request to the step's model: the rendered prompt, with its output limit.

        The prompt is shown `data` and, if `about` is a context, question, hint, schema, values and
        descriptions. `sample` numbers repeated calls of the same prompt, so that each has a reply.
        """
        if isinstance(about, Context):
            question = about.question
            data = context_data(about, schema_text) | data
        else:
            question = about
        template = load(prompt, self.prompts)
        model = step.model
        chosen = calls.given_for(model, self._role(template), self.parameters)
        sent = calls.call_parameters(
            model, step.temperature, template.output_limit, chosen
        )
        request = Request(
            template.name,
            model,
            template.messages(**data),
            sent,
            sample,
            question=question.id,
            system=self.system,
            may_grow="max_tokens" in sent and chosen.keys().isdisjoint(calls.LIMITS),
        )
        if self.watch:
            self.watch(request, data)
        return request

    def _role(self, prompt: Prompt) -> Role | None:
        """Return the prompt's role, which it must have where parameters are set by role."""
        if not prompt.role and not self.parameters.keys().isdisjoint(ROLES):
            raise BadInputError(
                f"prompt {prompt.name} has no role, and parameters are set by role: begin it with "
                f"---, `role: ` and one of {', '.join(ROLES)}, and ---"
            )
        return prompt.role

    def each(
        self,
        do: Callable[[T], R],
        items: Iterable[T],
        threads: int = 0,
        progress: Callable[[int, int], object] | None = None,
    ) -> list[R]:
        """Return `do` of all items, in their order; `do` asks models or runs queries.

        `threads` is the number of threads, by default one for each item. After an error or Ctrl-C
        no item begins, and those that have begun are waited for until a second Ctrl-C; after
        Ctrl-C, or where `threads` is given, they send nothing more.
        """
        todo = list(items)
        one_after_another = not threads and (len(todo) < 2 or not self.at_once)
        if one_after_another or self.watch:  # which sees the calls in order
            return [do(item) for item in todo]
        results: list[Future[R]] = [Future() for _ in todo]
        waiting = deque(zip(todo, results, strict=True))

        def work() -> None:
            while True:
                try:
                    item, result = waiting.popleft()
                except IndexError:  # no item is waiting any more
                    return
                try:
                    result.set_result(do(item))
                except BaseException as error:  # noqa: BLE001  the caller's thread raises it
                    waiting.clear()
                    result.set_exception(error)

        # Not a ThreadPoolExecutor's threads: Python joins those at its end, so that a script would
        # still wait for the replies under way after a second Ctrl-C.
        number = min(threads or len(todo), len(todo))
        workers = [threading.Thread(target=work, daemon=True) for _ in range(number)]
        for worker in workers:
            worker.start()
        try:
            running = set(results)
            while running:
                done, running = wait(results, timeout=0.2, return_when=FIRST_EXCEPTION)
                for result in done:
                    result.result()  # raises the error of its item
                if progress:
                    progress(len(done), len(todo))
        except BaseException as error:  # Ctrl-C, too
            waiting.clear()
            halt = threads or isinstance(error, KeyboardInterrupt)
            with self.client.stopped() if halt else nullcontext():
                for worker in workers:
                    worker.join()
            raise
        return [result.result() for result in results]

    def schema(self, db_id: str) -> Schema:
        """Return the schema as prompts show it, with descriptions and example values."""
        path = self.database(db_id)
        return _schema(path, file_state(path))

    def run(self, question: Question, sql: str) -> Execution:
        return self.run_many(question, [sql])[0]

    def run_many(self, question: Question, queries: Sequence[str]) -> list[Execution]:
        path = self.database(question.db_id)
        return self.executor.execute_many([(path, sql) for sql in queries], self.limits)

    def run_candidates(
        self, question: Question, proposed: Iterable[Candidate]
    ) -> tuple[Trial, ...]:
        """Return a trial of each candidate, run if it has SQL, and numbered by its generator."""
        numbers: dict[str, count[int]] = defaultdict(count)
        candidates = []
        for candidate in proposed:
            sample = next(numbers[candidate.generator])
            candidates.append(replace(candidate, sample=sample))
        queries = list(dict.fromkeys(c.sql for c in candidates if c.sql))
        executions = dict(zip(queries, self.run_many(question, queries), strict=True))
        return tuple(Trial(c, executions.get(c.sql)) for c in candidates)


def _answer(read: Reader[T], replies: Sequence[Completion]) -> Answer[T]:
    last = replies[-1]
    keys = tuple(dict.fromkeys(reply.key for reply in replies))
    if last.fault:
        return Answer(None, last, keys)
    marked = last.text
    if last.finish_reason == "length":
        marked += CUT
    try:
        return Answer(read(marked), last, keys)
    except Unread as unread:
        return Answer(None, last, keys, wanted=str(unread))


def _again(request: Request, unread: Answer[Any]) -> Request:
    """Return the request with the unread reply, without its thought, and the wanted form."""
    text = unread.completion.text
    ask = f"That could not be read. Answer only with {unread.wanted}."
    reply = {"role": "assistant", "content": answer(text) or text}
    turns = (*request.messages, reply, {"role": "user", "content": ask})
    return replace(request, messages=turns, again=True)


@lru_cache(maxsize=64)
def _schema(path: Path, state: str) -> Schema:  # noqa: ARG001  a key of the cache
    """Return the schema of a file, read anew when its state has changed."""
    schema = with_examples(read_schema(path), path)
    folder = path.parent / "database_description"
    return describe(schema, folder) if folder.is_dir() else schema
