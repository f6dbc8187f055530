"""Before and after an edited call is asked: its price, its answer, and the same for all questions."""

from collections.abc import Callable

from workbench.benchmarks.benchmark import Benchmark
from workbench.db.sql.reply import extract_sql
from workbench.explore.compare import text, text_diff
from workbench.explore.results import answer_html
from workbench.explore.steps import Recording, Step, record
from workbench.lab import Lab
from workbench.llm.client import Client
from workbench.llm.preview import preview
from workbench.report.markup import Html, line, pre, view, views
from workbench.systems.system import System
from workbench.types import Completion, Question, Request


def price_html(client: Client, request: Request) -> Html:
    """Whether the answer is held, and else what it would cost: to be read before anything is asked."""
    if client.held(request):
        told = line("✓ In the lab book: running it costs nothing.")
    else:
        told = line("○ Not in the lab book.") + pre(str(preview(client, [request])))
    return view("Before running", told, kind="wb-before")


def missing_html(client: Client, recording: Recording) -> Html:
    """Which call the lab book lacks, and what those that wait would cost."""
    known = preview(client, [step.request for step in recording.steps])
    return view(
        "Not all of this is in the lab book",
        line(recording.missing),
        pre(str(known)),
        line("Calls whose prompts depend on these replies come on top."),
        kind="wb-missing",
    )


def run_html(
    lab: Lab, benchmark: Benchmark, question: Question, step: Step, new: Step, answer: Completion
) -> Html:
    """The reply to an edited step, its SQL beside gold's, and what the edit changed in both texts."""
    taken = extract_sql(answer.text)
    came = "from the lab book" if answer.cached else "asked now"
    told = [
        line(f"{came}, {answer.usage.output:,} tokens of output"),
        pre(answer.text or answer.error),
    ]
    if not taken.sql:
        told.append(line(f"No SQL was taken from it: {taken.reason}."))
    found: list[str] = [view("The reply", *told, kind="wb-reply")]
    if taken.sql:
        found.append(answer_html(lab, benchmark, question, taken.sql))
    before = lab.client.held(step.request)
    if before and new.request != step.request:
        found += [
            text_diff(text(step.request), text(new.request), "What the edit changes"),
            text_diff(before.text, answer.text, "The reply before and after"),
        ]
    return views(*found)


def steps_diff(client: Client, one: Step, other: Step) -> Html:
    """Two calls: what differs between their prompts, and between their replies where both are held."""
    prompts = text_diff(text(one.request), text(other.request), "From this prompt to the other")
    first, second = client.held(one.request), client.held(other.request)
    if first is None or second is None:
        return prompts
    return views(prompts, text_diff(first.text, second.text, "From this reply to the other"))


def everywhere(
    system: System,
    benchmark: Benchmark,
    lab: Lab,
    prompt: str,
    progress: Callable[[int, int], None] | None = None,
) -> tuple[Step, ...]:
    """The first call of that prompt for each question where the lab book holds its answer."""
    found = []
    for number, question in enumerate(benchmark.questions, 1):
        steps = record(system, question, lab).steps
        asked = [step for step in steps if step.request.prompt == prompt][:1]
        found += [step for step in asked if lab.client.held(step.request)]
        if progress:
            progress(number, len(benchmark.questions))
    return tuple(found)
