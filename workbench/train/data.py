"""Training data: few-shot examples for a prompt, and conversations to fine-tune a model on.

The steps themselves render a conversation's prompt, so a tuned model learns the prompts that it
will see. `Pairs` are for CHASE-SQL's judge (section 2.5), `NoisySchema` for CHESS's candidate
generator (appendix B), `instructions` for the model that acts as all agents of MAC-SQL (section
4).
"""

import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, product
from pathlib import Path
from typing import Any, Literal

import numpy as np
import orjson
from pydantic import BaseModel

from workbench.benchmarks.benchmark import Benchmark
from workbench.benchmarks.files import Filled, read_items
from workbench.errors import BadInputError, at_least, naming
from workbench.evaluate.ex import ex_verdicts
from workbench.lab import Lab
from workbench.retrieve.retrieval import Lexical, description, spaced
from workbench.sql.schema import union_schema
from workbench.systems.chase_sql import Pairwise, chase_sql
from workbench.systems.chess import chess_ir_ss_cg, proposing
from workbench.systems.select import representatives
from workbench.systems.system import Retrieve, System, prepare, solve
from workbench.types import (
    Candidate,
    Context,
    Example,
    Gold,
    Message,
    Question,
    Request,
    Schema,
    Trial,
)

Format = Literal["gemini", "openai", "huggingface"]


def training_examples(benchmark: Benchmark) -> tuple[Example, ...]:
    """Return every question of the split with the query that answers it.

    >>> wb.training_examples(wb.open_benchmark("bundled-train"))[0].question
    'How many of our present members hold the master certificate?'
    """
    return tuple(
        Example(question.text, benchmark.golds[question.id].sql, question.evidence)
        for question in benchmark.questions
    )


class _Example(BaseModel, strict=True):
    question_id: int | str
    question: Filled
    sql: Filled


def examples_of(
    path: str | Path, benchmark: Benchmark
) -> dict[str, tuple[Example, ...]]:
    """Return the examples that another system wrote for each question (CHASE-SQL, table 9).

    An item of the file has the `question_id` for which it was written, and a `question` and
    `sql` of its own.
    """
    known = {question.id for question in benchmark.questions}
    written: dict[str, list[Example]] = {}
    items = read_items(Path(path), _Example)
    for number, item in enumerate(items):
        key = str(item.question_id)
        if key not in known:
            raise BadInputError(
                f"{path}, item {number}: {benchmark.name} has no question {key}"
            )
        written.setdefault(key, []).append(Example(item.question, item.sql))
    return {key: tuple(examples) for key, examples in written.items()}


@dataclass(frozen=True)
class Conversation:
    """An agent's prompt about a question, and its answer as the last message.

    `agent` is the prompt's name.
    """

    question_id: str
    db_id: str
    agent: str
    messages: tuple[Message, ...]


def write(conversations: Iterable[Conversation], path: Path, form: Format) -> int:
    """Write the conversations as JSON lines, in order; return how many there are.

    OpenAI takes `messages`; Gemini takes `contents` and the system prompt apart. Both refuse
    other keys, so only Hugging Face's form says which question a conversation is from.
    """
    records: Iterable[Any]
    if form == "gemini":
        records = [_in_geminis_form(each.messages) for each in conversations]
    elif form == "openai":
        records = [{"messages": each.messages} for each in conversations]
    else:  # Hugging Face's form is that of a `Conversation`
        records = conversations
    return write_lines(records, path)


def write_lines(records: Iterable[Any], path: Path) -> int:
    """Write records as JSON lines; return how many there are."""
    lines = [orjson.dumps(record) + b"\n" for record in records]
    with naming(path):
        path.write_bytes(b"".join(lines))
    return len(lines)


def _in_geminis_form(messages: Sequence[Message]) -> dict[str, Any]:
    record: dict[str, Any] = {"contents": []}
    for message in messages:
        role = "model" if message["role"] == "assistant" else message["role"]
        content = {"role": role, "parts": [{"text": message["content"]}]}
        if role == "system":
            record["systemInstruction"] = content
        else:
            record["contents"].append(content)
    return record


def _conversation(question: Question, request: Request, reply: str) -> Conversation:
    messages = (*request.messages, {"role": "assistant", "content": reply})
    return Conversation(question.id, question.db_id, request.prompt, messages)


@dataclass(frozen=True)
class Pairs:
    """A conversation for each pair of a right and a wrong candidate.

    The judge's prompt, and the letter of the right one.

    The candidates of a question are grouped by result; the right group meets each wrong one, each
    represented by the query that most of its members wrote. The seed draws which of the two comes
    first, so that no position can be learned.

    system: the system whose judge is tuned; its retrieval and pruning make the contexts.
    hinted: whether its generators are asked again, with gold as a hint, where none is right.
    gold: whether the gold query stands for a right candidate where there still is none (ours).
    """

    system: System = field(default_factory=chase_sql)
    hinted: bool = True
    gold: bool = False
    seed: int = 0

    def __call__(
        self,
        lab: Lab,
        benchmark: Benchmark,
        candidates: Mapping[str, Sequence[Candidate]],
    ) -> Iterator[Conversation]:
        judge = Pairwise(model="")  # the model is no part of the prompt
        for question in benchmark.questions:
            gold = benchmark.golds[question.id]
            proposed = candidates.get(question.id, ())
            right, wrong = _right_and_wrong(lab, benchmark, question, proposed)
            if not wrong:
                continue
            context = prepare(self.system, question, lab)
            if not right and self.hinted:
                hinted = self._with_hint(lab, context, gold)
                right, _ = _right_and_wrong(lab, benchmark, question, hinted)
            if not right and self.gold:
                golds = [Candidate(gold.sql, "gold")]
                right, _ = _right_and_wrong(lab, benchmark, question, golds)
            rng = random.Random(f"{self.seed}{question.id}")  # noqa: S311  order, not secrecy
            for good, bad in product(right, wrong):
                if rng.random() < 0.5:
                    letter, request = "A", judge.request(lab, context, good, bad)
                else:
                    letter, request = "B", judge.request(lab, context, bad, good)
                yield _conversation(question, request, letter)

    def _with_hint(self, lab: Lab, context: Context, gold: Gold) -> list[Candidate]:
        """Return the candidates of the generators that have the gold query as a hint."""
        question = context.question
        hint = f"{question.evidence} A query that answers the question: {gold.sql}"
        with_hint = replace(question, evidence=hint.strip())
        context = replace(context, question=with_hint)
        proposed = [step(lab, context) for step in self.system.generate]
        return list(chain.from_iterable(proposed))


def _right_and_wrong(
    lab: Lab, benchmark: Benchmark, question: Question, candidates: Sequence[Candidate]
) -> tuple[list[Trial], list[Trial]]:
    """A trial for each right result, and for each wrong one; failed queries have none."""
    trials = lab.run_candidates(question, candidates)
    complete = [n for n, trial in enumerate(trials) if trial.result.is_complete]
    place_of = representatives(trials, complete)
    judged = [trials[place_of[fingerprint]] for fingerprint in sorted(place_of)]
    queries = [(question.id, trial.candidate.sql) for trial in judged]
    verdicts = ex_verdicts(benchmark, queries, lab.executor)
    right = []
    wrong = []
    for trial, is_right in zip(judged, verdicts, strict=True):
        if is_right:
            right.append(trial)
        else:
            wrong.append(trial)
    return right, wrong


@dataclass(frozen=True)
class NoisySchema:
    """A conversation for each question.

    The generator's prompt under a partly wrong schema, and the gold query.

    Earlier steps do not always find the right columns, and so the generator learns to choose. The
    paper does not give its heuristic: here each right column adds the `wrong` columns of any table
    that are most like it in name and description. The reply has no reasoning, as gold has none.
    `retrieve` is that of the system in which the generator will be asked.
    """

    retrieve: Retrieve = field(default_factory=lambda: chess_ir_ss_cg().retrieve)
    wrong: int = 2

    def __post_init__(self) -> None:
        at_least(0, wrong=self.wrong)

    def __call__(self, lab: Lab, benchmark: Benchmark) -> Iterator[Conversation]:
        generate = proposing(model="")  # the model is no part of the prompt
        for question in benchmark.questions:
            gold = benchmark.golds[question.id]
            context = self.retrieve(lab, question, lab.schema(question.db_id))
            context = replace(context, schema=self.noisy(lab, context.schema, gold))
            reply = orjson.dumps(
                {"chain_of_thought_reasoning": "", "SQL": gold.sql}
            ).decode()
            yield _conversation(question, generate.request(lab, context), reply)

    def noisy(self, lab: Lab, schema: Schema, gold: Gold) -> Schema:
        """The gold query's tables and columns with their keys, and the wrong ones.

        The whole schema for unreadable gold.
        """
        right = union_schema(schema, [gold.sql]).columns()
        others = [pair for pair in schema.columns() if pair not in right]
        if not self.wrong or not others:
            return schema.only(right)
        right_texts = _texts(schema, right)
        other_texts = _texts(schema, others)
        likeness = Lexical()(lab, right_texts, other_texts)
        # A row of places of others for each right column, the most alike first.
        most_alike = np.argsort(-likeness, axis=1, kind="stable")
        wrong = [others[place] for place in most_alike[:, : self.wrong].flat]
        return schema.only({*right, *wrong})


def _texts(schema: Schema, columns: Sequence[tuple[str, str]]) -> list[str]:
    """The name and description of each column."""
    texts = []
    for table, name in columns:
        column = schema.column(table, name)
        if column:
            texts.append(f"{spaced(name)} {description(column)}")
    return texts


def instructions(benchmark: Benchmark, system: System, lab: Lab) -> list[Conversation]:
    """Return the calls of every agent behind every right answer of the system.

    Right is meant in the benchmark's own sense. The paper does not say how it chose; calls that
    led to other answers, or whose reply was not read at once, are left out. Cached calls are not
    asked again: after a run of the system this costs nothing, and a stopped export continues
    when it is called again.
    """

    def calls(question: Question) -> list[Conversation]:
        return list(_calls(benchmark, system, lab, question))

    by_question = lab.each(calls, benchmark.questions, threads=8)
    return list(chain.from_iterable(by_question))


def _calls(
    benchmark: Benchmark, system: System, lab: Lab, question: Question
) -> Iterator[Conversation]:
    """The calls for one question, each once, if its answer is right."""
    asked: dict[str, Request] = {}

    def watch(request: Request, _data: Mapping[str, Any]) -> None:
        asked[lab.client.key(request)] = request

    selection = solve(system, question, replace(lab, watch=watch))
    answer = (question.id, selection.sql)
    if not selection.trial or ex_verdicts(benchmark, [answer], lab.executor) != [True]:
        return
    chosen = selection.trial.result.fingerprint
    led_to_it: set[str] = set()
    led_elsewhere: set[str] = set()
    for trial in selection.trials:
        if trial.result.fingerprint == chosen:
            led_to_it.update(trial.candidate.call_keys)
        else:
            led_elsewhere.update(trial.candidate.call_keys)
    left_out = led_elsewhere - led_to_it
    # A request that asks again ends with the unread reply and the form that was wanted.
    unread = [request.messages[:-2] for request in asked.values() if request.again]
    for key, request in asked.items():
        if key in left_out or request.again or request.messages in unread:
            continue
        reply = lab.client.cached(request)
        if reply and reply.text and not reply.fault and reply.finish_reason != "length":
            yield _conversation(question, request, reply.text)
