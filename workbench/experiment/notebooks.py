"""The parameters of a notebook, and a check of the values given for them."""

import ast
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import orjson

from workbench.errors import BadInputError

_SECRET_NAME = re.compile(r"(?i)(?:^|_|api)(?:key|token|secret|password|credential)s?$")


def parameters_of(notebook: Path) -> dict[str, tuple[str, str]]:
    """The name, default and comment of each assignment in the cell tagged `parameters`, as the notebook has them."""
    for cell in orjson.loads(notebook.read_bytes())["cells"]:
        if "parameters" in cell["metadata"].get("tags", ()):
            source = "".join(cell["source"])
            lines = source.splitlines()
            return {
                target.id: (
                    ast.unparse(node.value),
                    lines[(node.end_lineno or 1) - 1][node.end_col_offset or 0 :].partition("#")[2],
                )
                for node in ast.parse(source).body
                if isinstance(node, ast.Assign)
                for target in node.targets
                if isinstance(target, ast.Name)
            }
    return {}


def check_parameters(notebook: Path, given: Mapping[str, Any]) -> None:
    """Refuse parameters that the notebook does not have (Papermill only warns) or that do not fit.

    A value must be of the default's kind, and a count at least 1, since an error might otherwise come late in
    the notebook. None fits where the default is None or the comment speaks of it. A parameter whose name
    sounds like a secret is refused: Papermill writes parameters into the notebook that it saves.
    """
    if secret := next(filter(_SECRET_NAME.search, given), None):
        raise BadInputError(
            f"{notebook.name}: parameter {secret} would be written into the notebook; set keys in the"
            " environment, such as OPENAI_API_KEY"
        )
    known = parameters_of(notebook)
    if unknown := sorted(set(given) - set(known)):
        raise BadInputError(
            f"{notebook.name} has no parameter {', '.join(unknown)}; there are {', '.join(known) or 'none'}"
        )
    for name, value in given.items():
        written, comment = known[name]
        try:
            default = ast.literal_eval(written)
        except ValueError:  # the default is an expression, whose type is known only when it runs
            continue
        optional = default is None or "None" in comment
        if default is not None and not (optional and value is None) and not _fits(value, default):
            raise BadInputError(
                f"{notebook.name}: {name} is {value!r:.60}; it must be {_kind(default)}"
                f"{' or null' if optional else ''}"
            )


def _fits(value: Any, default: Any) -> bool:
    if isinstance(default, list) and default:
        return isinstance(value, list) and value != [] and all(_fits(v, default[0]) for v in value)
    if isinstance(default, float):
        return type(value) in {int, float}
    return type(value) is type(default) and (type(default) is not int or value >= min(default, 1))


def _kind(default: Any) -> str:
    if isinstance(default, list) and default:
        return f"a list, each {_kind(default[0])}"
    if type(default) is int:
        return f"a whole number from {min(default, 1)} on"
    return {float: "a number", str: "a text"}.get(type(default), f"like {default!r}")
