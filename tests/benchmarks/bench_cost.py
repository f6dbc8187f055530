"""What the systems cost at a provider that caches the beginnings of prompts: literal, then with each part added.

    python tests/benchmarks/bench_cost.py [--questions N] [--databases N] [--systems NAME ...]

CHASE-SQL, CHESS and MAC-SQL answer the questions of bundled dev, or N of them, spread evenly. The
embedded model writes the replies, so their number of tokens is its own: a language model writes more, above all
reasoning, which no part here makes cheaper. Tokens are words and signs. Nothing here is a language model's accuracy.

The provider's cache (`PrefixCache`) is as the providers document theirs: a beginning of 1,024 tokens or more that is
the same to the token is read from the cache, in steps of 128 tokens at OpenAI and Google, which cache everything;
up to a mark at Anthropic, who is paid for what is written. Nothing falls out of it: the questions of a
database follow one another. Prices are those that LiteLLM lists. Exits with 1 if a bar is missed.
"""

import argparse
import hashlib
import re
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import fmean

from workbench.benchmarks.benchmark import Benchmark, some
from workbench.benchmarks.bundled import load_bundled
from workbench.db.execute import Executor
from workbench.evaluate.ex import ex_verdicts
from workbench.evaluate.stats import compare
from workbench.lab import Lab
from workbench.llm.client import Client
from workbench.llm.remote.prefixes import as_sent
from workbench.llm.remote.prices import Price, listed, price
from workbench.prompts.order import CACHEABLE
from workbench.store import Store
from workbench.systems.chase_sql import chase_sql
from workbench.systems.cheaper import cheaper
from workbench.systems.chess import chess_ir_cg_ut, chess_ir_ss_cg
from workbench.systems.mac_sql import mac_sql
from workbench.systems.system import System, solve
from workbench.types import Completion, Question, Request

MODEL = "embedded/parser"
MODELS = {  # each with the cheap model of its provider
    "openai/gpt-4.1": "openai/gpt-4.1-mini",
    "openai/gpt-5": "openai/gpt-5-mini",
    "anthropic/claude-sonnet-4-5": "anthropic/claude-haiku-4-5",
    "gemini/gemini-2.5-pro": "gemini/gemini-2.5-flash",
}
GROUP = 12
LEAST, STEP = 1024, 128  # tokens
LIVE, BATCHED, FILTERING = 0.30, 0.16, 8  # bars: parts of the literal cost, and calls a question
_TOKEN = re.compile(r"\w+|[^\w\s]")


@dataclass(frozen=True, slots=True)
class Asked:
    """A call that was paid, and the tokens of its reply."""

    request: Request
    output: int

    @property
    def filters(self) -> bool:
        return self.request.prompt.startswith("prune/filter_column")


@dataclass(slots=True)
class PrefixCache:
    """The beginnings of prompts that one model's provider has in its cache."""

    marked: bool  # caches up to marks only, and is paid for writing
    known: set[bytes] = field(default_factory=set)

    def counts(self, messages: Sequence[Mapping[str, object]]) -> tuple[int, int, int]:
        """The tokens of a prompt: of all, of those read from the cache, and of those written to it."""
        tokens, marks = _tokens(messages)
        ends = marks if self.marked else range(LEAST, len(tokens) + 1, STEP)
        hashes = dict(_hashes(tokens, [end for end in ends if end >= LEAST]))
        read = max((end for end, found in hashes.items() if found in self.known), default=0)
        self.known |= set(hashes.values())
        return len(tokens), read, max(hashes, default=0) - read if self.marked else 0


def _tokens(messages: Sequence[Mapping[str, object]]) -> tuple[list[str], list[int]]:
    """The tokens of the messages, and where marks stand."""
    tokens: list[str] = []
    marks: list[int] = []
    for message in messages:
        content = message["content"]
        for block in content if isinstance(content, list) else [{"text": content}]:
            tokens += _TOKEN.findall(block["text"])
            marks += [len(tokens)] if "cache_control" in block else []
    return tokens, marks


def _hashes(tokens: Sequence[str], ends: Sequence[int]) -> list[tuple[int, bytes]]:
    digest, found, start = hashlib.sha256(), [], 0
    for end in ends:
        digest.update(" ".join(["", *tokens[start:end]]).encode())
        found.append((end, digest.digest()))
        start = end
    return found


def cost(
    calls: Sequence[Asked],
    main: str,
    filtering: str,
    *,
    caches: bool,
    marks: bool = False,
    batch: bool = False,
) -> float:
    """Dollars for the calls, with the provider's cache, marks for it, and batches, or without."""
    known: dict[str, PrefixCache] = {}
    total = 0.0
    for call in calls:
        model = filtering if call.filters else main
        cache = known.setdefault(model, PrefixCache("claude" in model))
        request = _as_model(call.request, model)
        tokens, read, written = cache.counts(as_sent(request)[0] if marks else request.messages)
        if not caches:
            read = written = 0
        rate = _batch_price(model) if batch else price(model, tokens)
        assert rate, f"LiteLLM lists no price of {model}"
        fresh = tokens - read - written
        total += fresh * rate.input + read * rate.cached + written * rate.written
        total += call.output * rate.output
    return total


def _batch_price(model: str) -> Price:
    """The prices in batches. A provider that lists none for what its cache has asks for the whole price there."""
    entry = listed(model)
    fresh, written = (
        entry["input_cost_per_token_batches"],
        "cache_creation_input_token_cost_batches",
    )
    output = entry["output_cost_per_token_batches"]
    cached = entry.get("cache_read_input_token_cost_batches", fresh)
    return Price(fresh, output, cached, entry.get(written, fresh), output)


def _as_model(request: Request, model: str) -> Request:
    return Request(request.prompt, model, request.messages, shared=request.shared)


class Recorder(Client):
    """A client that keeps the calls it would have paid, in their order."""

    def start(self) -> None:
        self.calls: dict[str, Asked] = {}

    def complete_many(self, requests: Sequence[Request]) -> list[Completion]:
        replies = super().complete_many(requests)
        for request, reply in zip(requests, replies, strict=True):
            self.calls.setdefault(reply.key, Asked(request, reply.usage.output))
        return replies


@dataclass(frozen=True, slots=True)
class Answered:
    """The calls of a system over all questions, and which it answers rightly."""

    calls: Sequence[Asked]
    right: Mapping[str, bool]


def answered(
    system: System, client: Recorder, lab: Lab, benchmark: Benchmark, executor: Executor
) -> Answered:
    client.start()
    pairs = []
    for done, question in enumerate(benchmark.questions, 1):
        trial = solve(system, question, lab).trial
        pairs.append((question.id, trial.candidate.sql if trial else ""))
        if sys.stderr.isatty():
            print(f"\r{system.name}: {done}", end="", file=sys.stderr)
    verdicts = ex_verdicts(benchmark, pairs, executor)
    right = {question: verdict for (question, _), verdict in zip(pairs, verdicts, strict=True)}
    return Answered(list(client.calls.values()), right)


SYSTEMS: Mapping[str, Callable[[str], System]] = {
    "CHASE-SQL": chase_sql,
    "CHESS (IR, CG, UT)": chess_ir_cg_ut,
    "CHESS (IR, SS, CG)": chess_ir_ss_cg,
    "MAC-SQL": mac_sql,
}


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--questions", type=int, help="how many, spread evenly; default: all")
    parser.add_argument("--databases", type=int, help="the first so many databases; default: all")
    parser.add_argument("--systems", nargs="+", choices=list(SYSTEMS), default=list(SYSTEMS))
    given = parser.parse_args()
    bundled = load_bundled("dev")
    names = list(dict.fromkeys(q.db_id for q in bundled.questions))[: given.databases]
    questions = some([q for q in bundled.questions if q.db_id in names], given.questions)
    questions.sort(key=lambda question: names.index(question.db_id))
    benchmark = replace(bundled, questions=tuple(questions))
    missed: list[str] = []
    with (
        tempfile.TemporaryDirectory() as folder,
        Store(Path(folder) / "lab.sqlite") as store,
        Executor(store) as executor,
    ):
        client = Recorder(store)
        paper = Lab(client, executor, benchmark.database)
        cacheable = replace(paper, prompts=CACHEABLE)
        for name in given.systems:
            system = SYSTEMS[name](MODEL)
            literal, fewer, ordered = (
                answered(form, client, lab, benchmark, executor)
                for form, lab in (
                    (system, paper),
                    (cheaper(system), paper),
                    (cheaper(system), cacheable),
                )
            )
            missed += print_table(name, literal, fewer, ordered, questions)
    for line in missed:
        print(f"MISSED: {line}")
    return bool(missed)


def print_table(
    name: str, literal: Answered, fewer: Answered, ordered: Answered, questions: Sequence[Question]
) -> list[str]:
    """Dollars for 1,000 questions by part and model, and what misses a bar."""
    print(f"\n{name}, {len(questions)} questions: dollars for 1,000\n")
    print(f"{'':46} calls" + "".join(f"{model.partition('/')[2]:>20}" for model in MODELS))
    literal_cost = {model: cost(literal.calls, model, model, caches=False) for model in MODELS}
    live: dict[str, float] = {}
    rows: Sequence[tuple[str, Answered, bool, bool, bool]] = (
        ("literal, without a cache", literal, False, False, False),
        ("literal, with what the provider caches itself", literal, False, True, False),
        (f"columns in groups of {GROUP}, examples in one order", fewer, False, True, False),
        ("... columns asked of the cheap model", fewer, True, True, False),
        ("... what calls share comes first", ordered, True, True, False),
        ("... and is marked for the provider's cache", ordered, True, True, True),
    )
    for title, found, cheap, caches, marks in rows:
        for model, small in MODELS.items():
            filtering = small if cheap else model
            live[model] = cost(found.calls, model, filtering, caches=caches, marks=marks)
        print_row(title, found, live, literal_cost, len(questions))
    batched = {
        model: cost(ordered.calls, model, small, caches=True, marks=True, batch=True)
        for model, small in MODELS.items()
    }
    print_row("... in batches", ordered, batched, literal_cost, len(questions))
    filtering = [sum(c.filters for c in one.calls) / len(questions) for one in (literal, ordered)]
    print(f"\ncalls of filter_column a question: {filtering[0]:.1f}, in groups {filtering[1]:.1f}")
    databases = {question.id: question.db_id for question in questions}
    print(
        f"EX of the embedded model: literal {fmean(literal.right.values()):.1%}; paired differences:"
    )
    for title, found in (("fewer calls", fewer), ("and what calls share first", ordered)):
        versus = compare(found.right, literal.right, databases)
        interval = f"{100 * versus.low:+.1f} to {100 * versus.high:+.1f}"
        print(
            f"  {title}: {100 * versus.difference:+.1f} ({interval}), {len(versus.won)} won, {len(versus.lost)} lost"
        )
    if name != "CHASE-SQL":
        return []
    bars = ((live, LIVE, "live"), (batched, BATCHED, "in batches"))
    return [
        *(
            f"{model}: {spent[model] / literal_cost[model]:.1%} of the literal cost, {how}"
            for spent, bar, how in bars
            for model in MODELS
            if spent[model] / literal_cost[model] > bar
        ),
        *(
            [f"{filtering[1]:.1f} calls of filter_column a question"]
            if filtering[1] > FILTERING
            else []
        ),
    ]


def print_row(
    title: str,
    found: Answered,
    spent: Mapping[str, float],
    literal: Mapping[str, float],
    count: int,
) -> None:
    cells = [f"{1000 * spent[m] / count:11.2f} ({spent[m] / literal[m]:4.0%})" for m in MODELS]
    print(f"{title:46} {len(found.calls) / count:5.1f}" + "".join(f"{cell:>20}" for cell in cells))


if __name__ == "__main__":
    sys.exit(main())
