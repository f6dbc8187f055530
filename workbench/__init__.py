"""A workbench for text-to-SQL research: cached model calls, safe execution, honest judging."""

# Only `sys` is imported: the worker that runs untrusted SQL imports this package without site-packages.
import sys

# In IPython, records show themselves; what draws them is imported with the first that is shown.
RECORDS = ("Context", "Execution", "Schema", "Selection", "Trial")


def _html(record: object) -> str:
    from workbench.report.display import DISPLAYS  # noqa: PLC0415  pandas takes long to import

    return DISPLAYS[type(record)](record)


if (_ipython := sys.modules.get("IPython")) and (_shell := _ipython.get_ipython()):
    for _name in RECORDS:
        _shell.display_formatter.formatters["text/html"].for_type_by_name(
            "workbench.types", _name, _html
        )
