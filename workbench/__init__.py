"""A workbench for text-to-SQL research: cached model calls, safe execution, honest judging.

`import workbench as wb` gives the names that `__init__.pyi` lists. Each is imported when it is
first used.
"""

import sys

if sys.platform == "win32":  # before any import that fails there
    raise ImportError(
        "workbench runs on Linux and macOS; on Windows, install and start it in WSL"
    )

import lazy_loader

# Records that IPython shows as HTML. The drawing code is imported with the first record shown.
RECORDS = ("Context", "Execution", "Schema", "Selection", "Trial")

_public_name, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)


def __getattr__(name: str) -> object:
    if name == "__version__":
        from importlib import metadata  # noqa: PLC0415  it takes long to import

        return metadata.version("text2sql-workbench")
    return _public_name(name)


def _html(record: object) -> str:
    from workbench.report.display import DISPLAYS  # noqa: PLC0415  pandas takes long to import

    return DISPLAYS[type(record)](record)


def show_records() -> None:
    """Let the running IPython shell, if there is one, show records as HTML."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    formats = getattr(getattr(shell, "display_formatter", None), "formatters", {})
    if "text/html" in formats:  # some IPython shells show text only
        for name in RECORDS:
            formats["text/html"].for_type_by_name("workbench.types", name, _html)


show_records()
