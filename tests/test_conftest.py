"""In continuous integration no test is skipped unseen, and a test that drives a browser is marked so."""

from pathlib import Path

import pytest

SKIPPED = """
import pytest

def test_page():
    pytest.skip("no Chromium")
"""
USES = """
import pytest

@pytest.fixture
def chromium():
    pass

def test_page(chromium):
    pass

def test_other():
    pass
"""


@pytest.fixture
def inner(pytester: pytest.Pytester) -> pytest.Pytester:
    """An empty test suite with this conftest.py."""
    pytester.makeini(
        "[pytest]\nmarkers =\n  browser: needs Chromium\n  slow: runs later"
    )
    pytester.makeconftest((Path(__file__).parent / "conftest.py").read_text())
    return pytester


@pytest.mark.parametrize(
    ("ci", "system", "expected"),
    [
        ("true", "linux", "failed"),
        ("true", "darwin", "skipped"),
        ("", "linux", "skipped"),
    ],
)
def test_a_skipped_test_fails_in_continuous_integration_on_linux(
    inner: pytest.Pytester,
    monkeypatch: pytest.MonkeyPatch,
    ci: str,
    system: str,
    expected: str,
) -> None:
    monkeypatch.setenv("CI", ci)
    monkeypatch.setattr("sys.platform", system)
    inner.makepyfile(SKIPPED)
    inner.runpytest("-p", "no:cacheprovider").assert_outcomes(**{expected: 1})


def test_a_test_in_a_browser_is_slow(inner: pytest.Pytester) -> None:
    inner.makepyfile(USES)
    result = inner.runpytest("-p", "no:cacheprovider", "-m", "not slow")
    result.assert_outcomes(passed=1, deselected=1)
