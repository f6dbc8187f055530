"""What the systems cost at a provider that caches the prefixes of prompts: literal, then with each part added.

    python tests/benchmarks/bench_cost.py [--limit N] [--systems NAME ...]

CHASE-SQL, CHESS and MAC-SQL answer the questions of bundled dev, or N of them, spread evenly. Literal, which
all percentages are of, is what the papers' experiments run, at a provider without a cache: the packaged prompts
in the papers' order, orders of the schema drawn for each question and sample, and a call of filter_column for each
column, of the one model that does everything.

The embedded model writes the replies, so their number of tokens is its own: a language model writes more, above all
reasoning, which no part here makes cheaper. Accuracy is the embedded model's, too: it says whether a part hides from
a prompt what is needed, and nothing of how a language model takes it. `bills.py` prices the calls. Exits with
1 if a bar is missed.
"""

import argparse
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean

sys.path.insert(0, str(Path(__file__).parents[2]))
from tests.benchmarks.bills import Asked, Bill, asked, bills, total
from workbench.benchmarks.benchmark import Benchmark, some
from workbench.benchmarks.bundled import load_bundled
from workbench.db.execute import Executor
from workbench.evaluate.ex import ex_verdicts
from workbench.evaluate.stats import compare
from workbench.lab import Lab
from workbench.llm.client import Client
from workbench.prompts.order import CACHEABLE
from workbench.store import Store
from workbench.systems.chase_sql import chase_sql
from workbench.systems.cheaper import cheaper
from workbench.systems.chess import chess_ir_cg_ut, chess_ir_ss_cg
from workbench.systems.mac_sql import mac_sql
from workbench.systems.system import System, solve
from workbench.types import Completion, Question, Request

MODELS = {  # each with the cheap model of its provider
    "openai/gpt-4.1": "openai/gpt-4.1-mini",
    "openai/gpt-5": "openai/gpt-5-mini",
    "anthropic/claude-sonnet-4-5": "anthropic/claude-haiku-4-5",
    "gemini/gemini-2.5-pro": "gemini/gemini-2.5-flash",
}
GROUP = 12
# Bars: parts of the literal cost, and calls of filter_column a question.
LIVE = dict.fromkeys(MODELS, 0.30)
BATCHED = {  # only the first two halve the price of what their cache has; the README has the arithmetic
    "openai/gpt-5": 0.16,
    "anthropic/claude-sonnet-4-5": 0.16,
    "gemini/gemini-2.5-pro": 0.17,  # costs in a batch what it costs live
    "openai/gpt-4.1": 0.40,  # costs in a batch what other input does
}
FILTERING = 8
SYSTEMS: Mapping[str, Callable[[], System]] = {
    "CHASE-SQL": chase_sql,
    "CHESS (IR, CG, UT)": chess_ir_cg_ut,
    "CHESS (IR, SS, CG)": chess_ir_ss_cg,
    "MAC-SQL": mac_sql,
}
ADDED = {  # the parts of `cheaper`, in the order in which they are added
    "columns": f"columns in groups of {GROUP}",
    "examples": "examples in one order",
    "descriptions": "descriptions in the schema alone",
}


class Recorder(Client):
    """A client that keeps the calls it would have paid, in their order."""

    def start(self) -> None:
        self.calls: dict[str, Asked] = {}

    def complete_many(self, requests: Sequence[Request]) -> list[Completion]:
        replies = super().complete_many(requests)
        for request, reply in zip(requests, replies, strict=True):
            if reply.key not in self.calls:
                self.calls[reply.key] = asked(request, reply.usage.output)
        return replies


@dataclass(frozen=True, slots=True)
class Answered:
    """The calls of one form of a system over all questions, and which of them it answers rightly."""

    title: str
    calls: Sequence[Asked]
    right: Mapping[str, bool]


def answered(title: str, system: System, lab: Lab, benchmark: Benchmark) -> Answered:
    client = lab.client
    assert isinstance(client, Recorder)
    client.start()
    pairs = []
    for done, question in enumerate(benchmark.questions, 1):
        trial = solve(system, question, lab).trial
        pairs.append((question.id, trial.candidate.sql if trial else ""))
        if sys.stderr.isatty():
            print(f"\r{system.name}, {title}: {done}   ", end="", file=sys.stderr)
    verdicts = ex_verdicts(benchmark, pairs, lab.executor)
    right = {question: verdict for (question, _), verdict in zip(pairs, verdicts, strict=True)}
    return Answered(title, list(client.calls.values()), right)


def forms(system: System, lab: Lab, benchmark: Benchmark) -> list[Answered]:
    """The system as its paper has it, then with each part added to those before; parts without effect are left out."""
    found = [answered("literal", system, lab, benchmark)]
    before = system
    for number, title in enumerate(ADDED.values(), 1):
        form = cheaper(system, group=GROUP, parts=list(ADDED)[:number])
        if form != before:
            found.append(answered(title, form, lab, benchmark))
        before = form
    ordered = replace(lab, prompts=CACHEABLE)
    return [*found, answered("what calls share comes first", before, ordered, benchmark)]


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--limit", type=int, help="so many questions, spread evenly; default: all")
    parser.add_argument("--systems", nargs="+", choices=list(SYSTEMS), default=list(SYSTEMS))
    given = parser.parse_args()
    bundled = load_bundled("dev")
    questions = some(bundled.questions, given.limit)
    questions = sorted(questions, key=lambda question: question.db_id)
    benchmark = replace(bundled, questions=tuple(questions))
    missed: list[str] = []
    for name in given.systems:
        with (
            tempfile.TemporaryDirectory() as folder,
            Store(Path(folder) / "lab.sqlite") as store,
            Executor(store) as executor,
        ):
            lab = Lab(Recorder(store), executor, benchmark.database)
            found = forms(SYSTEMS[name](), lab, benchmark)
        missed += report(name, found, questions)
    for line in missed:
        print(f"MISSED: {line}")
    return bool(missed)


def report(name: str, found: Sequence[Answered], questions: Sequence[Question]) -> list[str]:
    """Print what each part saves and does to accuracy; returns what misses a bar."""
    count = len(questions)
    literal, last = found[0], found[-1]
    whole = {model: total(bills(literal.calls, model, caches=False)) for model in MODELS}
    print(f"\n{name}, {count} questions: dollars for 1,000\n")
    print(f"{'':40} calls" + "".join(f"{model.partition('/')[2]:>20}" for model in MODELS))

    def row(title: str, form: Answered, **way: bool) -> Mapping[str, Mapping[str, Bill]]:
        cheap = form is not literal
        spent = {m: bills(form.calls, m, small if cheap else m, **way) for m, small in MODELS.items()}  # fmt: skip
        parts = [(1000 * total(spent[m]) / count, total(spent[m]) / whole[m]) for m in MODELS]
        cells = "".join(f"{dollars:>13.2f} ({part:4.0%})" for dollars, part in parts)
        print(f"{title:40} {len(form.calls) / count:5.1f}{cells}", flush=True)
        return spent

    row("literal, without a cache", literal, caches=False)
    row("literal, as the provider caches it", literal)
    for form in found[1:]:
        row(f"and {form.title}", form)
    live = row("and is marked for the cache", last, marks=True)
    batched = row("in batches", last, marks=True, batch=True)
    for model in MODELS:
        print_steps(model, bills(literal.calls, model, caches=False), live[model], count)
    print_accuracy(found, questions)
    if name != "CHASE-SQL":
        return []
    bars = {"live": (LIVE, live), "in batches": (BATCHED, batched)}
    missed = [
        f"{model}: {part:.1%} of the literal cost {how}, at most {bar[model]:.0%} wanted"
        for how, (bar, spent) in bars.items()
        for model in MODELS
        if (part := total(spent[model]) / whole[model]) > bar[model]
    ]
    filtering = sum(call.filters for call in last.calls) / count
    print(f"\ncalls of filter_column for a question: {filtering:.1f}")
    wanted = f"{filtering:.1f} calls of filter_column a question, at most {FILTERING} wanted"
    return missed + [wanted] * (filtering > FILTERING)


def print_steps(
    model: str, literal: Mapping[str, Bill], last: Mapping[str, Bill], count: int
) -> None:
    """Where the dollars are: each prompt's calls and tokens for a question, and dollars for 1,000."""
    print(f"\n{model}, literal and then marked for the cache:\n")
    print(f"{'':30} calls  tokens in    cached     out   $ in  $ out")
    for spent in (literal, last):
        for prompt, bill in sorted(spent.items(), key=lambda pair: -pair[1].dollars):
            tokens = (
                f"{bill.tokens / count:10,.0f}{bill.read / count:10,.0f}{bill.output / count:8,.0f}"
            )
            dollars = (1000 * part / count for part in (bill.input_dollars, bill.output_dollars))
            parts = "".join(f"{part:7.2f}" for part in dollars)
            print(f"{prompt:30} {bill.calls / count:5.1f} {tokens}{parts}")
        print()


def print_accuracy(found: Sequence[Answered], questions: Sequence[Question]) -> None:
    literal = found[0]
    databases = {question.id: question.db_id for question in questions}
    print(f"EX of the embedded model: literal {fmean(literal.right.values()):.1%}; differences to it, paired:")  # fmt: skip
    for form in found[1:]:
        versus = compare(form.right, literal.right, databases)
        interval = f"{100 * versus.low:+.1f} to {100 * versus.high:+.1f}"
        changed = f"{len(versus.won)} won, {len(versus.lost)} lost"
        print(f"  and {form.title}: {100 * versus.difference:+.1f} ({interval}), {changed}")


if __name__ == "__main__":
    sys.exit(main())
