"""Run in a notebook's cell: widgets and records in which every text that comes from elsewhere is the same."""

import json
import re
import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace

import ipywidgets
import pandas as pd
from IPython.display import display

from workbench.benchmarks.load import open_benchmark
from workbench.explore.cache_browser import CacheBrowser
from workbench.explore.pool_browser import PoolBrowser
from workbench.explore.prompt_explorer import PromptExplorer
from workbench.explore.run_browser import RunBrowser
from workbench.lab import Lab
from workbench.label.cases import Case
from workbench.label.labeller import Labeller
from workbench.label.store import LabelStore, label_of
from workbench.label.taxonomy import open_taxonomy
from workbench.llm.cache import Cache
from workbench.llm.client import Client
from workbench.llm.scripted import scripted
from workbench.report.display import install
from workbench.sql.executor import Executor
from workbench.sql.schema_text import quote
from workbench.systems.baselines import direct
from workbench.types import (
    Candidate,
    Column,
    Context,
    Execution,
    Question,
    Schema,
    Selection,
    Table,
    Trial,
    ValueMatch,
)

install()


def pieces(text):
    """Records as they stand in memory."""
    column = Column(text, text, text, text, (text,))
    schema = Schema("zoo", (Table(text, (column,), (text,)),), (text,))
    context = Context(
        Question(text, "zoo", text, text), schema, (ValueMatch(text, text, text, text, 0.5, 0.5),)
    )
    right = Execution("ok", (text, text), ((text, 1), (text.encode(), None)), 2, "f")
    failed = Trial(Candidate(text, text, 0, text), Execution("error", error=text))
    trial = Trial(Candidate(text, text, 1, text), right, failed)
    return context, Selection(text, (trial, failed), 0, text, (1.0, 0.0))


def case(text):
    context, selection = pieces(text)
    right, failed = (trial.execution for trial in selection.trials)
    return Case(context.question, text, text, text, text, right, failed, context.schema)


def labeller(text, folder):
    """Two annotators dispute the case, with notes."""
    store = LabelStore(folder / "labels.sqlite")
    kinds = open_taxonomy("MAC-SQL")
    for who, name in ((f"{text} ann", "Other"), (f"{text} ben", "Gold Error")):
        store.add([label_of(case(text), kinds.name, name, annotator=who, note=text)])
    study = SimpleNamespace(benchmark=SimpleNamespace(name="hostile"), lab=None)
    return Labeller(study, None, [case(text)], kinds, store, f"{text} ann")


def explorers(text, folder):
    """All four, on a database that holds the text as table, column and value; the edited call was run."""
    plain_text = text.replace("\x00", "0")
    name, value = quote(plain_text), plain_text.replace("'", "''")
    database_folder = folder / "dev_databases/zoo"
    database_folder.mkdir(parents=True)
    with closing(sqlite3.connect(database_folder / "zoo.sqlite")) as database:
        database.execute(f"CREATE TABLE {name}({name} TEXT)")
        database.execute(f"INSERT INTO {name} VALUES ('{value}')")
        database.commit()
    sql = f"SELECT {name} FROM {name}"
    item = {"question_id": 0, "db_id": "zoo", "question": text, "evidence": text}
    item |= {"SQL": f"{sql} WHERE {name} <> '{value}'", "difficulty": text}
    (folder / "dev.json").write_text(json.dumps([item]))
    benchmark = open_benchmark("bird-dev", folder)
    store = Cache(folder / "lab.sqlite")
    model = scripted(otherwise=f"{text}\n```sql\n{sql}\n```")
    lab = Lab(Client(store, send=model), Executor(store, workers=1), benchmark.database)
    study = SimpleNamespace(lab=lab, benchmark=benchmark)
    asked = {"question_id": "0", "db_id": "zoo", "difficulty": text, "sql": text}
    asked |= {"status": "error", "problem": text, "calls": 1, "input_tokens": 1}
    asked |= {"output_tokens": 1, "dollars": 0.0, "unpriced": 0}
    row = pd.DataFrame([asked | {"correct": False, "oracle": True, "generator": text}])
    run = SimpleNamespace(
        name=text,
        id=text,
        questions=row,
        trials=pd.concat(
            [row.assign(group=0, chosen=True), row.assign(group=1, chosen=False, correct=True)],
            ignore_index=True,
        ),
        selection=lambda _: pieces(text)[1],
    )
    explorer = PromptExplorer(study, {"zero-shot": direct("m/x")}, run=run)
    explorer._record(pay=True)
    explorer.editor.source.value += re.sub(
        "[{\u2028]", "(", text
    )  # neither template nor a new line
    explorer._run()
    runs = RunBrowser(study, run)
    runs.table.show(text, [text], [["0", text]])
    return [explorer.box, PoolBrowser(study, run).box, runs.box, CacheBrowser(study).box]


def show_widgets(given):
    for text in given:
        folder = Path(tempfile.mkdtemp())
        display(ipywidgets.VBox([labeller(text, folder), *explorers(text, folder)]))


def show_records(given):
    for text in given:
        context, selection = pieces(text)
        labels = LabelStore(Path(tempfile.mkdtemp()) / "labels.sqlite")
        labels.add([label_of(case(text), text, text, annotator=text, note=text)])
        display(context)
        display(selection)
        display(labels.frame().assign(at="", id="").rename(columns={"at": text}))
