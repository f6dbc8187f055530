"""The embedded model's accuracy on the bundled dev split.

The benchmark is useful while it is neither solved nor hopeless, and while retrieval, hints and selection change the
result. `tests/benchmarks/measure/embedded.py` prints the numbers.
"""

import re
from dataclasses import replace

import pytest

from workbench.benchmarks.bundled import load_bundled
from workbench.lab import Lab
from workbench.llm.cache import Cache
from workbench.llm.client import Client
from workbench.retrieve.keywords import Keywords
from workbench.retrieve.retrieval import Retrieval
from workbench.sql.executor import Executor
from workbench.sql.schema_text import quote
from workbench.systems.baselines import direct
from workbench.types import Column, Question, Schema

pytestmark = pytest.mark.slow

MODEL = "embedded/parser"
FULL = Retrieval(Keywords(MODEL))
(GREEDY,) = direct(MODEL).generate


@pytest.fixture(scope="module")
def dev(tmp_path_factory):
    """A function that returns, for every second question of the dev split, which samples are right."""
    benchmark = load_bundled("dev")
    path = tmp_path_factory.mktemp("accuracy") / "lab.sqlite"
    with Cache(path) as store, Executor(store) as executor:
        lab = Lab(Client(store), executor, benchmark.database)

        def right(question, sqls):
            database = benchmark.database(question.db_id)
            gold, *answers = executor.execute_many(
                [(database, sql) for sql in (benchmark.golds[question.id].sql, *sqls)]
            )
            return [bool(a.fingerprint) and a.fingerprint == gold.fingerprint for a in answers]

        def verdicts(
            retrieve=FULL, generate=GREEDY, ask=lambda question: question, rename=None, every=2
        ):
            answers = []
            for question in benchmark.questions[::every]:
                asked = ask(question)
                context = retrieve(lab, asked, lab.schema(asked.db_id))
                back = lambda sql: sql  # noqa: E731
                if rename:
                    context, back = rename(context)
                sqls = [back(candidate.sql) for candidate in generate(lab, context)]
                answers.append(right(question, sqls))
            return answers

        yield verdicts


def points(verdicts):
    """The mean accuracy of a sample, in percent."""
    return 100 * sum(sum(v) / len(v) for v in verdicts) / len(verdicts)


@pytest.fixture(scope="module")
def whole(dev):
    return dev(every=1)


@pytest.fixture(scope="module")
def full(whole):
    """The accuracy on every second question, which the variants below answer too."""
    return points(whole[::2])


def test_it_answers_between_a_third_and_two_thirds(whole):
    assert 33.3 < points(whole) < 66.7


def test_it_is_worse_without_values(dev, full):
    assert points(dev(retrieve=replace(FULL, index=None))) <= full - 5


def test_it_is_worse_without_hints(dev, full):
    assert points(dev(ask=lambda q: Question(q.id, q.db_id, q.text))) <= full - 5


def test_ten_samples_contain_correct_queries_that_one_sample_lacks(dev):
    ten = dev(generate=replace(GREEDY, samples=10, temperature=1.0))
    assert 100 * sum(map(any, ten)) / len(ten) >= points(ten) + 12


def test_its_accuracy_does_not_depend_on_names(dev, full):
    assert abs(points(dev(rename=renamed)) - full) < 6


def renamed(context):
    """The context with other names for all tables and columns, and a function that restores the names in a query.

    A column gets a meaningless name, and the words of its old name join its description. A table has no description,
    so it keeps its words behind a prefix. Column names in the hint change too.
    """
    schema = context.schema
    names: dict[str, str] = {}
    for table in schema.tables:
        names.setdefault(table.name, f"zz_{table.name}")
    for _, column in schema.columns():
        names.setdefault(column, f"q{len(names):03}")

    def described(column):
        words = re.sub(r"(?<=[a-z])(?=[A-Z])|_", " ", column.name)
        return f"{words}: {column.description}" if column.description else words

    def renamed_column(column: Column) -> Column:
        return replace(column, name=names[column.name], description=described(column))

    tables = tuple(
        replace(
            table,
            name=names[table.name],
            columns=tuple(map(renamed_column, table.columns)),
            primary_key=tuple(names[c] for c in table.primary_key),
            foreign_keys=tuple(
                replace(
                    key,
                    columns=tuple(names[c] for c in key.columns),
                    ref_table=names[key.ref_table],
                    ref_columns=tuple(names[c] for c in key.ref_columns),
                )
                for key in table.foreign_keys
            ),
        )
        for table in schema.tables
    )
    word = re.compile(
        "|".join(rf"\b{re.escape(n)}\b" for n in sorted(names, key=len, reverse=True))
    )

    def renamed_clause(clause):
        head, sign, tail = (
            re.split(r"( refers? to | means? |=)", clause, maxsplit=1)
            if re.search(r" refers? to | means? |=", clause)
            else ("", "", clause)
        )
        return head + sign + word.sub(lambda m: names[m[0]], tail)

    hint = ";".join(map(renamed_clause, context.question.evidence.split(";")))
    moved = lambda match: replace(match, table=names[match.table], column=names[match.column])  # noqa: E731
    new = replace(
        context,
        question=replace(context.question, evidence=hint),
        schema=Schema(schema.db_id, tables),
        values=tuple(map(moved, context.values)),
        descriptions=tuple(map(moved, context.descriptions)),
    )
    old = {new: quote(old) for old, new in names.items()}
    undo = re.compile("|".join(rf"\b{n}\b" for n in sorted(old, key=len, reverse=True)))
    return new, lambda sql: undo.sub(lambda m: old[m[0]], sql)
