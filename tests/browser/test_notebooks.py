"""Every notebook runs in JupyterLab without an error, on a few questions."""

import papermill
import pytest

from tests.browser.desk import ROOT
from tests.notebooks.test_small_runs import SMALL

NOTEBOOKS = sorted(
    str(path.relative_to(ROOT))
    for folder in (ROOT / "notebooks").glob("[!.]*/")
    for path in folder.glob("*.ipynb")
)


@pytest.fixture(scope="module")
def wrong(sit_down):
    """The faults of each notebook by its path. The notebooks run two at a time."""
    with sit_down("notebooks") as desk:
        for name in NOTEBOOKS:
            known = papermill.inspect_notebook(str(ROOT / name))
            desk.small(name, limit=2, **{key: SMALL[key] for key in SMALL.keys() & known})
        desk.enter()
        return desk.page.evaluate("paths => desk.goThroughAll(paths, 2)", NOTEBOOKS)


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_a_notebook_runs_without_an_error_and_fits_the_screen(name, wrong):
    assert wrong[name] == []
