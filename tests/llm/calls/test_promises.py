"""Each promise of the README names the tests that hold it, and they exist."""

import re
from pathlib import Path

TESTS = Path(__file__).parents[2]
README = (TESTS.parent / "workbench/llm/README.md").read_text()
PROMISES = re.findall(r"(?m)^\| ([A-Z`][^|]+) \| ([^|]+) \|$", README)


def test_the_readme_makes_promises() -> None:
    assert len(PROMISES) >= 15


def test_each_promise_names_tests_that_exist() -> None:
    sources = "".join(path.read_text() for path in TESTS.rglob("test_*.py"))
    for promise, names in PROMISES:
        tests = re.findall(r"`(test_\w+|Test\w+)`", names)
        assert tests, promise
        for name in tests:
            assert re.search(rf"(?m)^(def {name}\(|{name} = )", sources), name
