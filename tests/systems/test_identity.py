"""Two steps have one identity only where they would do the same: edited source makes another step."""

import functools
import importlib
import json
import linecache
import re
import subprocess
import sys
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

import pytest

from workbench.errors import BadInputError
from workbench.generate.query_plan import QueryPlan
from workbench.select.majority import Majority
from workbench.systems.chase_sql import chase_sql
from workbench.systems.identity import identify
from workbench.systems.source import is_installed

STEP = """
from dataclasses import dataclass
import helpers
{imports}
WORDS = {words}

def shorten(text):
    return text[:{length}]

class Base:
    def size(self):
        return {size}

@dataclass(frozen=True, slots=True)
class Step(Base):
    model: str
    note = {note}

    def __call__(self, lab, context):
        {comment}
        return [shorten(WORDS), self.size(), helpers.tidy(self.model), super().__repr__()]
"""
HELPERS = "def tidy(text):\n    return text.strip({strip})\n\ndef unused():\n    return {unused}\n"
PLAIN = {
    "imports": "", "words": "'a'", "length": 3, "size": 1, "note": "'n'", "comment": "pass",
    "strip": "''", "unused": 1,
}  # fmt: skip


@pytest.fixture
def written(tmp_path, monkeypatch):
    """Writes a package of the user's, imports it anew, and gives its step."""
    monkeypatch.setattr(sys, "dont_write_bytecode", True)

    def write(package="mine", folder="project", **edited):
        parts = PLAIN | edited
        monkeypatch.syspath_prepend(str(tmp_path / folder))
        (tmp_path / folder / package).mkdir(exist_ok=True, parents=True)
        (tmp_path / folder / package / "__init__.py").write_text("")
        (tmp_path / folder / package / "steps.py").write_text(STEP.format(**parts))
        (tmp_path / folder / "helpers.py").write_text(HELPERS.format(**parts))
        for name in ("helpers", f"{package}.steps", package):
            monkeypatch.delitem(sys.modules, name, raising=False)
        importlib.invalidate_caches()
        is_installed.cache_clear()
        linecache.clearcache()
        return importlib.import_module(f"{package}.steps").Step("m")

    return write


def record(value):
    found = identify(value)
    assert found.unsourced == ()
    return json.dumps(found.record, sort_keys=True)


@pytest.mark.parametrize(
    "edited",
    [
        {"words": "'b'"}, {"length": 4}, {"size": 2}, {"note": "'other'"}, {"strip": "'.'"},
        {"comment": "lab = None"},
    ],
    ids=["a global", "a function", "a base class", "a class attribute", "another module", "its method"],
)  # fmt: skip
def test_an_edit_of_anything_that_a_step_uses_makes_another_step(written, edited):
    before = record(written())
    assert record(written(**edited)) != before
    assert record(written()) == before


def test_code_that_a_step_does_not_use_is_not_part_of_its_identity(written):
    assert record(written()) == record(written(unused=2, imports="import decimal"))


def test_equal_classes_in_two_packages_are_different_steps(written):
    assert record(written()) != record(written("theirs"))


def test_a_package_in_site_packages_is_followed_where_a_step_is_from_it(written):
    before = record(written("installed", "site-packages"))
    assert record(written("installed", "site-packages", length=4)) != before
    assert record(written("installed", "site-packages", strip="'.'")) == before, (
        "helpers is a library"
    )


def test_a_users_class_named_query_plan_differs_from_the_packages():
    @dataclass(frozen=True, slots=True)
    class Mine(QueryPlan):
        pass

    ours, mine = QueryPlan("m"), Mine("m")
    Mine.__qualname__ = "QueryPlan"
    assert identify(ours).record[1] == identify(mine).record[1]
    assert record(ours) != record(mine)
    Mine.__module__ = QueryPlan.__module__
    assert record(ours) != record(mine)


def test_steps_of_this_package_are_identified_by_name_and_fields():
    fields = {"seed": 3, "suspect": "nulls"}
    assert identify(Majority(seed=3)).record == ["workbench.select.majority.Majority", fields]
    assert identify(chase_sql()).unsourced == ()


def test_two_lambdas_of_one_line_differ():
    first, second = (lambda x: x + 1), (lambda x: x + 2)
    assert record(first) != record(second)


def test_functions_count_with_closure_and_defaults():
    def made(bound, default=0):
        def function(x, y=default):
            return x + y + bound

        return function

    assert record(made(1)) == record(made(1))
    assert len({record(made(1)), record(made(2)), record(made(1, 3))}) == 3


def test_partials_count_with_function_and_arguments():
    def add(x, y):
        return x + y

    some = [functools.partial(add, 1), functools.partial(add, 2), functools.partial(add, x=1), add]
    assert len(set(map(record, some))) == 4
    assert record(some[0]) == record(functools.partial(add, 1))


def test_plain_values_of_other_types_differ():
    class Colour(Enum):
        RED = "red"
        BLUE = "blue"

    some = [1, "1", 1.0, True, None, 2**70, b"1", Path("1"), (1,), {"1": 1}, frozenset({1}), Colour.RED,
            Colour.BLUE, Colour, len, re.sub]  # fmt: skip
    assert len(set(map(record, some))) == len(some)


def test_recursion_and_cycles_end():
    around = {}
    around["itself"] = around

    def countdown(n):
        return countdown(n - 1) if n and around else 0

    assert record(countdown) == record(countdown)


def test_a_function_that_is_decorated_is_followed_through_its_wrapper():
    def made(number):
        @functools.lru_cache
        def function():
            return number

        return function

    assert record(made(1)) != record(made(2))


def test_a_field_that_cannot_be_described_is_refused():
    @dataclass(frozen=True)
    class Odd:
        thing: object

    with pytest.raises(BadInputError, match=r"a step holds .*plain values and functions"):
        identify(Odd(object()))


EXECUTED = """
from dataclasses import dataclass

@dataclass(frozen=True)
class Step:
    def __call__(self, lab, context):
        return {answer}
"""


@pytest.mark.parametrize("named", [{}, {"__name__": "workbench.generate.query_plan"}])
def test_a_class_made_by_exec_has_no_source_and_is_never_equal_to_another(named):
    steps = []
    for answer in (1, 2):
        space = dict(named)
        exec(EXECUTED.format(answer=answer), space)  # noqa: S102
        steps.append(space["Step"]())
    first, second = map(identify, steps)
    assert len(first.unsourced) == 1
    assert first.unsourced[0].endswith(".Step")
    assert first.record != second.record
    program = f"from workbench.systems.identity import identify\nspace = {named!r}\n"
    program += f"exec({EXECUTED.format(answer=1)!r}, space)\nimport json\n"
    elsewhere = subprocess.run(
        [sys.executable, "-c", f"{program}print(json.dumps(identify(space['Step']()).record))"],
        check=True, stdout=subprocess.PIPE,
    )  # fmt: skip
    assert json.loads(elsewhere.stdout) != first.record


def test_a_file_that_changed_since_its_import_is_no_source(written, tmp_path):
    step = written()
    assert identify(step).unsourced == ()
    file = tmp_path / "project" / "mine" / "steps.py"
    file.write_text(STEP.format(**PLAIN | {"comment": "lab = 'edited'"}))
    assert identify(step).unsourced == ("mine.steps.Step",)
