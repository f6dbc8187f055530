"""`import workbench as wb` names all that a notebook needs and imports none of it; IPython shows records."""

import importlib
import subprocess
import sys
from dataclasses import is_dataclass
from importlib.metadata import version
from pathlib import Path

import pytest

import workbench as wb
from workbench.report.display import DISPLAYS

HEAVY = "import sys\nassert not {'IPython', 'pandas', 'workbench.report'} & set(sys.modules)"
IN_IPYTHON = """
import sys
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance()
from workbench.types import Execution, Schema, Selection
assert not {"pandas", "workbench.report"} & set(sys.modules), "what draws them is imported too early"
for record in (Execution("ok", ("n",), ((7,),), 1), Schema("zoo", ()), Selection("q", (), None, "m")):
    formats = shell.display_formatter.format(record)[0]
    print(type(record).__name__, "<section" in formats.get("text/html", ""))
"""


def run(program):
    done = subprocess.run(
        [sys.executable, "-c", program], check=True, stdout=subprocess.PIPE, text=True
    )
    return done.stdout.splitlines()


def test_records_show_themselves_in_a_fresh_ipython():
    assert run(IN_IPYTHON) == ["Execution True", "Schema True", "Selection True"]


def test_a_shell_without_html_is_left_unchanged():
    shells = (
        "types.SimpleNamespace()",
        "types.SimpleNamespace(display_formatter=None)",
    )
    for shell in shells:
        odd = f"import sys, types\nsys.modules['IPython'] = types.SimpleNamespace(get_ipython=lambda: {shell})"
        assert run(f"{odd}\nimport workbench.types") == []
    assert (
        run("import sys, types\nsys.modules['IPython'] = types\nimport workbench.types")
        == []
    )


def test_outside_of_ipython_nothing_is_imported():
    assert run(f"import workbench.types\n{HEAVY}") == []


def test_the_records_are_those_that_have_a_display():
    assert set(wb.RECORDS) == {kind.__name__ for kind in DISPLAYS}


LIGHT = """
import sys
before = set(sys.modules)
import workbench
print(*sorted(set(sys.modules) - before))
"""
COMPLETED = """
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance()
shell.Completer.use_jedi = False
shell.run_cell("import workbench as wb")
print(*shell.complete("wb.ch", "wb.ch")[1])
print(*shell.complete("wb.figures.bo", "wb.figures.bo")[1])
import sys
print("workbench.systems.chase_sql" in sys.modules)
"""


def test_importing_the_package_imports_what_reads_its_names_and_nothing_else():
    (imported,) = run(LIGHT)
    reading = {
        "_ast",
        "ast",
        "contextlib",
        "lazy_loader",
    }  # 3.12's ast needs contextlib
    assert set(imported.split()) - reading == {"workbench"}


@pytest.mark.parametrize("name", wb.__all__)
def test_every_name_is_what_its_module_calls_so(name):
    value = getattr(wb, name)
    assert value is getattr(wb, name)
    if isinstance(value, type):
        assert getattr(importlib.import_module(value.__module__), name) is value


def test_names_are_listed_for_completion():
    assert {
        "open_study",
        "chase_sql",
        "Generate",
        "figures",
        "measures",
        "solve",
    } <= set(dir(wb))
    assert dir(wb) == wb.__all__ == sorted(wb.__all__)


def test_ipython_completes_names_and_imports_nothing_for_it():
    ours, figures, imported = run(COMPLETED)
    assert {"chase_sql", "chess_ir_cg_ut", "chess_ir_ss_cg"} <= last_words(ours)
    assert {"bounds", "bounds_by_difficulty"} <= last_words(figures)
    assert imported == "False"


def last_words(line):
    return {name.rpartition(".")[2] for name in line.split()}


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="No workbench attribute chase"):
        _ = wb.chase
    assert not hasattr(wb, "__wrapped__")


def test_every_step_is_a_public_name():
    folder = Path(wb.__file__).parent
    for path in [
        p
        for package in ("systems", "retrieve")
        for p in (folder / package).glob("*.py")
    ]:
        module = importlib.import_module(f"workbench.{path.parent.name}.{path.stem}")
        for made in vars(module).values():
            step = (
                isinstance(made, type)
                and is_dataclass(made)
                and "__call__" in vars(made)
            )
            if step and made.__module__ == module.__name__:
                assert getattr(wb, made.__name__, None) is made


def test_a_module_of_the_package_is_a_name_before_anybody_has_imported_it():
    assert run(
        "import workbench as wb; print(wb.replies.__name__, wb.__version__[:1])"
    ) == ["workbench.replies 0"]


def test_the_version_is_that_of_the_installed_package():
    assert wb.__version__ == version("text2sql-workbench")
