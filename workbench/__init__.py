"""A workbench for text-to-SQL research: cached model calls, safe execution, honest judging.

`import workbench as wb` gives the names that `__init__.pyi` lists. Each is imported when it is
first used.
"""

# Only `sys` is imported: the worker that runs untrusted SQL imports this package without
# site-packages.
import sys

if sys.platform == "win32":
    raise ImportError(
        "workbench runs on Linux and macOS; on Windows, install and start it in WSL"
    )

# Records that IPython shows as HTML. The drawing code is imported with the first record shown.
RECORDS = ("Context", "Execution", "Schema", "Selection", "Trial")


def _names() -> dict[str, tuple[str, str]]:
    """Return each public name in `__init__.pyi`, with its module and its name in that module."""
    import ast  # noqa: PLC0415
    from pathlib import Path  # noqa: PLC0415

    stub = ast.parse(Path(__file__).with_suffix(".pyi").read_text(encoding="utf-8"))
    imports = [node for node in stub.body if isinstance(node, ast.ImportFrom)]
    names: dict[str, tuple[str, str]] = {}
    for node in imports:
        for alias in node.names:
            names[alias.asname or alias.name] = (node.module or "", alias.name)
    return names


def __getattr__(name: str) -> object:
    from importlib import import_module, metadata  # noqa: PLC0415

    if name == "__version__":
        return metadata.version("text2sql-workbench")
    names = {} if name.startswith("_") and name != "__all__" else _names()
    if name == "__all__":
        return sorted(names)
    if name not in names:
        raise AttributeError(f"module 'workbench' has no attribute {name!r}")
    module, attribute = names[name]
    if module == __name__ or not hasattr(import_module(module), attribute):
        value: object = import_module(f"{module}.{attribute}")
    else:
        value = getattr(import_module(module), attribute)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(_names())


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
