"""How records show themselves in a notebook's cell.

Importing `workbench` in IPython registers the same displays by name, so that `workbench.types` stays free of
HTML. `install` registers them with a shell that starts later, and keeps a `$` in tables from starting a formula.
"""

import sys
from collections.abc import Callable, Mapping
from typing import Any

import pandas as pd

from workbench.report.display.records import context_html, execution_html, schema_html, trial_html
from workbench.report.display.selections import pool_html
from workbench.types import Context, Execution, Schema, Selection, Trial

DISPLAYS: Mapping[type, Callable[[Any], str]] = {
    Context: context_html,
    Execution: execution_html,
    Schema: schema_html,
    Selection: pool_html,
    Trial: trial_html,
}


def install() -> None:
    """Register the displays with the running IPython; without one, do nothing."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    if shell is None:
        return
    for record_type, as_html in DISPLAYS.items():
        shell.display_formatter.formatters["text/html"].for_type(record_type, as_html)
    pd.set_option("display.html.use_mathjax", False)
