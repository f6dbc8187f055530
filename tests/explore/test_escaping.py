"""Whatever stands in questions, values, SQL, replies and names, a page has the tags that `plain` gives it."""

import re
import sqlite3
from contextlib import closing
from html.parser import HTMLParser
from types import SimpleNamespace

import pandas as pd
import pytest

from workbench.benchmarks.benchmark import Benchmark
from workbench.explore import cache_browser, calls
from workbench.explore.compare.runs import costs_html
from workbench.explore.compare.texts import text_diff
from workbench.explore.prompt import rendered, running
from workbench.explore.prompt.steps import Edit, Recording, Step
from workbench.html import parts, results, tree
from workbench.lab import Lab
from workbench.llm.cache import Cache, Call
from workbench.llm.client import Client
from workbench.llm.scripted import scripted
from workbench.report import display
from workbench.sql.executor import Executor
from workbench.sql.schema_text import quote
from workbench.types import (
    Candidate,
    Column,
    Comparison,
    Completion,
    Context,
    DescriptionMatch,
    Example,
    Execution,
    Gold,
    Question,
    Request,
    Schema,
    Selection,
    Table,
    Trial,
    ValueMatch,
)

HOSTILE = (
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    '"><svg onload=alert(1)>',
    "' onmouseover='alert(1)",
    "</pre></td></table></details></section><h1>out</h1>",
    "<!-- <style>*{display:none}</style>",
    "]]><![CDATA[x",
    "&lt;b&gt;&amp;&#60;i&#62;",
    "$x^2$ and $$y$$ and \\(z\\) and \\[w\\]",
    "[click](javascript:alert(1)) **bold** `code`",
    "{{ 7 * 7 }}{% raw %}",
    "a\x00b\x1b[31m\u202eevil\u2028line\ufeff",
    '=HYPERLINK("http://x","y")',
)


class _Tags(HTMLParser):
    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.seen = []

    def handle_starttag(self, tag, attrs):
        page = [f"{k}={v}" if k in {"class", "role"} else k for k, v in attrs]
        self.seen.append(f"{tag} {page}")

    def handle_endtag(self, tag):
        self.seen.append(f"/{tag}")

    def handle_comment(self, data):
        self.seen.append(f"other {data}")

    unknown_decl = handle_decl = handle_pi = handle_comment


def shape(page):
    tags = _Tags()
    tags.feed(page)
    tags.close()
    return tags.seen


def stuffed(text, folder):
    """Everything that can be shown, with the text wherever text can be."""
    question = Question("q1", "zoo", text, text)
    column = Column(text, text, text, text, (text,))
    schema = Schema(text, (Table(text, (column,), (text,)), Table("other", (column,))), (text,))
    context = Context(
        question,
        schema,
        (ValueMatch(text, text, text, text, 0.5, 0.5),),
        (DescriptionMatch(text, text, text, 0.5),),
        (Example(text, text, text),),
    )
    execution = Execution("ok", (text, text), ((text, 1), (text.encode(), None)), 2, text)
    failed = Execution("error", error=text)
    before = Trial(Candidate(text, text, 0, text), failed)
    trial = Trial(Candidate(text, text, 1, text, (text,)), execution, before)
    chosen = Selection(text, (trial, before), 0, text, (1.0, 0.0), (Comparison(0, 1, 0),))
    message = {"role": "user", "content": f"{text}\n## {text}\n{text}"}
    request = Request(text, text, (message, {"role": text, "content": text}), {text: text})
    step = Step(request, {"hint": text})
    call = Call(request, Completion(text, text, text, key=text), text, text, {}, 1.0, 0.0)
    after = Context(question, schema.only([(text, text)]))
    recording = Recording(question, (step,), (context, after), chosen, text)
    run = {"question_id": [text], "db_id": text, "difficulty": text, "sql": text, "oracle": True}
    questions = pd.DataFrame(run | {"correct": False})
    better = questions.assign(correct=True)
    costs = dict.fromkeys(("calls", "input_tokens", "output_tokens", "dollars", "unpriced"), 0)
    runs = [
        SimpleNamespace(name=text, id=text, questions=table.assign(**costs))
        for table in (questions, better)
    ]
    path = folder / "zoo" / "zoo.sqlite"
    path.parent.mkdir()
    name, value = quote(text.replace("\x00", "0")), text.replace("'", "''").replace("\x00", "0")
    with closing(sqlite3.connect(path)) as database:
        database.execute(f"CREATE TABLE {name}({name} TEXT)")
        database.execute(f"INSERT INTO {name} VALUES ('{value}')")
        database.commit()
    sql = f"SELECT {name} FROM {name} WHERE {name} <> ''"
    golds = {"q1": Gold("q1", f"{sql} AND {name} <> '{value}'", text)}
    benchmark = Benchmark(text, "bird", folder, (question,), golds)
    with Cache(folder / "lab.sqlite") as store, Executor(store, workers=1) as executor:
        client = Client(store, send=scripted(otherwise=f"```sql\n{sql}\n```"))
        lab = Lab(client, executor, benchmark.database)
        asked = Step(Request(text, "m/x", (message,)), {})
        answer = client.complete(asked.request)
        other = Step(Request(text, "m/x", ({"role": "user", "content": "other"},)), {})
        client.complete(other.request)
        yield from {
            "alert": parts.alert(text),
            "heading": tree.html(parts.heading(text), parts.line(text), parts.listed([text])),
            "details": tree.html(parts.details(text, parts.pre(text))),
            "table": tree.html(parts.table((text,), [(text,)], text)),
            "view": parts.view(text),
            "execution": display.execution_html(execution),
            "failure": display.execution_html(failed),
            "trial": display.trial_html(trial),
            "schema": display.schema_html(schema),
            "context": display.context_html(context),
            "pool": display.pool_html(chosen, (True, False)),
            "prompt": rendered.prompt_html(step, client),
            "stages": rendered.stages_html(recording),
            "beside": tree.html(*results.marked_results(execution, failed)),
            "answer": running.answer_html(lab, benchmark, question, sql),
            "unreadable": running.answer_html(
                lab, benchmark, question, f"SELECT {name} {name} {name}"
            ),
            "missing": running.missing_html(client, recording),
            "price": running.price_html(client, request),
            "run": running.run_html(lab, benchmark, question, asked, other, answer),
            "steps": running.steps_diff(client, asked, other),
            "diff": text_diff(text, "other"),
            "costs": costs_html(runs),
            "call": calls.call_html(call),
            "totals": cache_browser.totals_html(cache_browser.stats(store)),
        }.items()


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    return dict(stuffed("plain", tmp_path_factory.mktemp("plain")))


@pytest.mark.parametrize("text", HOSTILE)
def test_the_page_has_the_tags_of_plain_text(text, plain, tmp_path):
    for name, page in stuffed(text, tmp_path):
        assert shape(page) == shape(plain[name]), name


def test_the_test_sees_markup():
    assert shape("<p>plain</p>") != shape("<p><b>plain</b></p>")
    assert shape("<p>plain</p>") != shape("<p onclick=''>plain</p>")


def test_every_whole_view_keeps_mathjax_away(plain):
    pieces = {"heading", "details", "table", "beside"}
    for name in plain.keys() - pieces:
        assert re.match('<section class="(wb )?mathjax_ignore', plain[name]), name


def test_an_edit_never_renders_data_as_template(tmp_path):
    step = Step(Request("generate/direct", "m/x", ()), {"question": "{{ 7 * 7 }}"})
    edited = Edit("# System\n# User\n{{ question }}")(step)
    assert edited.request.messages[1]["content"] == "{{ 7 * 7 }}"
