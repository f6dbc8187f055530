"""A call before and after it is made: its price, its reply, and the query in the reply beside gold's."""

from workbench.benchmarks.benchmark import Benchmark
from workbench.evaluate.ex import equal, spider_text
from workbench.explore.compare.texts import text, text_diff
from workbench.explore.prompt.repeats import sql_in
from workbench.explore.prompt.steps import Recording, Step
from workbench.html.parts import Html, beside, heading, line, pre, stack, view, views
from workbench.html.results import marked_results, rows_part
from workbench.html.tree import Node
from workbench.lab import Lab
from workbench.llm.client import Client
from workbench.llm.preview import preview
from workbench.sql.context_text import plan_text
from workbench.types import Completion, Question, Request


def price_html(client: Client, request: Request) -> Html:
    """Whether the reply is cached, or else what it would cost."""
    if client.cached(request):
        parts = [line("✓ Cached: running it costs nothing.")]
    else:
        parts = [line("○ Not cached."), pre(str(preview(client, [request])))]
    return view("Before running", *parts, kind="wb-before")


def missing_html(client: Client, recording: Recording) -> Html:
    """The first call that is not cached, and the cost of the calls recorded so far."""
    return view(
        "Not all calls are cached",
        line(recording.missing),
        pre(str(preview(client, [step.request for step in recording.steps]))),
        line("Calls whose prompts depend on these replies are not counted."),
        kind="wb-missing",
    )


def cached_html(
    lab: Lab, benchmark: Benchmark, question: Question, reply: Completion | None, sql: str
) -> Html:
    """A call's cached reply, and a query beside gold's: that of the reply, or the system's answer."""
    own = reply and sql_in(reply.text) == sql
    shown = [pre(reply.text)] if reply else [line("No reply is cached.")]
    title = "The query in the reply" if own else "The system's answer"
    query = query_html(lab, benchmark, question, sql, title)
    return views(query, view("The cached reply", *shown, kind="wb-reply"))


def query_html(lab: Lab, benchmark: Benchmark, question: Question, sql: str, title: str) -> Html:
    """A query and its result beside gold's; gold's alone where there is no query."""
    if sql:
        parts = side_by_side(lab, benchmark, question, sql)
    else:
        gold = benchmark.golds[question.id].sql
        result = rows_part(lab.run(question, gold), "Its result:")
        parts = [heading("Gold's query"), pre(gold), result]
    return view(title if sql else "Gold", *parts, kind="wb-answer")


def answer_html(lab: Lab, benchmark: Benchmark, question: Question, sql: str) -> Html:
    """The `answer_parts` as a view."""
    parts = answer_parts(lab, benchmark, question, sql)
    return view("The query beside gold's", *parts, kind="wb-answer")


def answer_parts(lab: Lab, benchmark: Benchmark, question: Question, sql: str) -> list[Node]:
    """A query beside gold's, and both query plans."""
    gold = benchmark.golds[question.id]
    queries = [f"EXPLAIN QUERY PLAN {text}" for text in (sql, gold.sql) if text]
    plans = [pre(plan_text(plan)) for plan in lab.run_many(question, queries)]
    return [
        *side_by_side(lab, benchmark, question, sql),
        heading("Their plans"),
        beside(*plans),
    ]


def side_by_side(lab: Lab, benchmark: Benchmark, question: Question, sql: str) -> list[Node]:
    """Verdicts on a query; it and its result beside gold's, with the rows that differ marked."""
    gold = benchmark.golds[question.id]
    predicted, expected = lab.run(question, sql), lab.run(question, gold.sql)
    bird = "right" if equal(predicted, expected, gold.sql, "bird") else "wrong"
    as_spider, gold_as_spider = (lab.run(question, spider_text(text)) for text in (sql, gold.sql))
    spider = "right" if equal(as_spider, gold_as_spider, gold.sql, "spider") else "wrong"
    own, right = marked_results(predicted, expected)
    own_query = stack(heading("This query"), pre(sql or "no SQL"))
    own_result = stack(heading("Its result"), own)
    return [
        line(f"EX (BIRD): {bird}. EX (Spider): {spider}."),
        beside(own_query, stack(heading("Gold's query"), pre(gold.sql))),
        beside(own_result, stack(heading("Gold's result"), right), close=True),
    ]


def run_html(
    lab: Lab, benchmark: Benchmark, question: Question, step: Step, new: Step, answer: Completion
) -> Html:
    """The reply to an edited step, its SQL beside gold's, and the changes in prompt and reply."""
    extracted = sql_in(answer.text)
    source = "cached" if answer.cached else "asked now"
    made = line(f"{source}, {answer.output_tokens:,} tokens of output")
    parts = [made, pre(answer.text or answer.error)]
    if not extracted:
        parts.append(line("No SQL was read in the reply."))
    query = query_html(lab, benchmark, question, extracted, "The query in the reply")
    found = [query, view("The reply", *parts, kind="wb-reply")]
    before = lab.client.cached(step.request)
    if before and new.request != step.request:
        found += [
            text_diff(text(step.request), text(new.request), "What the edit changes"),
            text_diff(before.text, answer.text, "The reply before and after"),
        ]
    return views(*found)


def steps_diff(client: Client, step: Step, other: Step) -> Html:
    """The difference between two calls' prompts, and between their replies if both are cached."""
    prompts = text_diff(text(step.request), text(other.request), "From this prompt to the other")
    first, second = client.cached(step.request), client.cached(other.request)
    if first is None or second is None:
        return prompts
    return views(prompts, text_diff(first.text, second.text, "From this reply to the other"))
