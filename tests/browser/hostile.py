"""Cases and an explorer in which every text that comes from elsewhere is the same."""

import json
import sqlite3
from contextlib import closing

import workbench as wb
from workbench.label.cases import Case
from workbench.label.results import compare_results
from workbench.llm.client import Client
from workbench.llm.send import scripted
from workbench.sql.reading import quote
from workbench.types import Column, Execution, Question, Schema, Table

HOSTILE = (
    "<script>alert(1); fetch('http://example.org/a')</script>",
    "<img src=http://example.org/b onerror=alert(2)>",
    '"><svg/onload=alert(3)>',
    "' autofocus onfocus='alert(4)",
    "</textarea></option></select></pre></td></table></details></section><h1>out</h1>",
    "<iframe srcdoc='<script>parent.alert(5)</script>'></iframe>",
    "<style>@import 'http://example.org/c'; * { display: none }</style><!--",
    "<base href=http://example.org/><link rel=stylesheet href=http://example.org/d>",
    "&lt;img src=x onerror=alert(6)&gt; &#60;b&#62; &amp;",
    "$x^2$ $$\\href{javascript:alert(7)}{y}$$ \\(z\\) \\begin{align}w\\end{align}",
    "[click](javascript:alert(8)) ![](http://example.org/e) **bold** # `code`",
    "{{ 7 * 7 }}{% raw %}${alert(9)}<%= 1 %>",
    "a\x00\x1b[31m\u202eb\u2028c\ufeff",
)


def case(text):
    column = Column(text, text, text, text, (text,))
    schema = Schema("zoo", (Table(text, (column,), (text,)),), (text,))
    right = Execution("ok", (text, text), ((text, 1), (text.encode(), None)), 2, "f")
    failed = Execution("error", error=text)
    question = Question(text, "zoo", text, text)
    results = compare_results(right, failed)
    return Case(question, text, text, text, wb.direct(), text, right, failed, schema, results)  # fmt: skip


def explorer(text, folder, patch):
    """An explorer whose database, question, hint, reply and variant are the text; its call was made."""
    plain = text.replace("\x00", "0")
    name, value = quote(plain), plain.replace("'", "''")
    (folder / "dev_databases/zoo").mkdir(parents=True)
    with (
        closing(sqlite3.connect(folder / "dev_databases/zoo/zoo.sqlite")) as database,
        database,
    ):
        database.execute(f"CREATE TABLE {name}({name} TEXT)")
        database.execute(f"INSERT INTO {name} VALUES ('{value}')")
    sql = f"SELECT {name} FROM {name}"
    item = {"question_id": 0, "db_id": "zoo", "question": text, "evidence": text}
    item |= {"SQL": f"{sql} WHERE {name} <> '{value}'", "difficulty": text}
    (folder / "dev.json").write_text(json.dumps([item]))
    patch.setenv("WORKBENCH_HOME", str(folder / "home"))
    model = scripted(otherwise=f"{text}\n```sql\n{sql}\n```")
    patch.setitem(Client.__init__.__kwdefaults__, "send", model)
    study = wb.open_study("bird-dev", root=folder, model="openai/gpt-4o-mini")
    widget = wb.explore(study, wb.direct(study.model))
    widget.do_choose("0", pay=True)
    return widget
