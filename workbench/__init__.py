"""A workbench for text-to-SQL research: cached model calls, safe execution, honest judging."""

# Only `sys` is imported: the worker that runs untrusted SQL imports this package without site-packages.
import sys

# In IPython, records show themselves; what draws them is imported with the first that is shown.
RECORDS = ("Context", "Execution", "Schema", "Selection", "Trial")


def _html(record: object) -> str:
    from workbench.report.display import DISPLAYS  # noqa: PLC0415  pandas takes long to import

    return DISPLAYS[type(record)](record)


_shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
_formats = getattr(getattr(_shell, "display_formatter", None), "formatters", {})
if "text/html" in _formats:  # not every shell that calls itself IPython draws
    for _name in RECORDS:
        _formats["text/html"].for_type_by_name("workbench.types", _name, _html)
