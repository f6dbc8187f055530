from pathlib import Path

import pytest

SKIPPED = """
import pytest

@pytest.mark.browser
def test_page():
    pytest.skip("no Chromium")

def test_other():
    pytest.skip("no data")
"""


@pytest.mark.parametrize(
    ("ci", "expected"), [("true", {"failed": 1, "skipped": 1}), ("", {"skipped": 2})]
)
def test_a_skipped_browser_test_fails_where_ci_is_true_and_no_other(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, ci: str, expected: dict[str, int]
) -> None:
    monkeypatch.setenv("CI", ci)
    pytester.makeini("[pytest]\nmarkers = browser: needs Chromium")
    pytester.makeconftest((Path(__file__).parent / "conftest.py").read_text())
    pytester.makepyfile(SKIPPED)
    result = pytester.runpytest("-p", "no:cacheprovider")
    result.assert_outcomes(**expected)
