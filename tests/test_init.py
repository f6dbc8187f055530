"""In IPython, whoever imports anything of ours sees records as what they are; elsewhere nothing is imported for it."""

import subprocess
import sys

import workbench
from workbench.report.display import DISPLAYS

HEAVY = "import sys\nassert not {'IPython', 'pandas', 'workbench.report'} & set(sys.modules)"
IN_IPYTHON = """
import sys
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance()
from workbench.types import Execution, Schema, Selection
assert not {"pandas", "workbench.report"} & set(sys.modules), "what draws them is imported too early"
for record in (Execution("ok", ("n",), ((7,),), 1), Schema("zoo", ()), Selection("q", (), None, "m")):
    told = shell.display_formatter.format(record)[0]
    print(type(record).__name__, "<section" in told.get("text/html", ""))
"""


def run(program):
    done = subprocess.run(
        [sys.executable, "-c", program], check=True, stdout=subprocess.PIPE, text=True
    )
    return done.stdout.splitlines()


def test_records_show_themselves_in_a_fresh_ipython():
    assert run(IN_IPYTHON) == ["Execution True", "Schema True", "Selection True"]


def test_a_shell_that_draws_nothing_is_left_alone():
    shells = ("types.SimpleNamespace()", "types.SimpleNamespace(display_formatter=None)")
    for shell in shells:
        odd = f"import sys, types\nsys.modules['IPython'] = types.SimpleNamespace(get_ipython=lambda: {shell})"
        assert run(f"{odd}\nimport workbench.types") == []
    assert run("import sys, types\nsys.modules['IPython'] = types\nimport workbench.types") == []


def test_outside_of_ipython_nothing_is_imported():
    assert run(f"import workbench.types\n{HEAVY}") == []


def test_the_records_are_those_that_have_a_display():
    assert set(workbench.RECORDS) == {kind.__name__ for kind in DISPLAYS}
