"""Executed notebooks beside their figures, as they are committed: without times, ids and what a process printed.

A figure is a link to the PNG that the notebook saved, never a second copy. Running an experiment again leaves the
files as they are.
"""

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

_SAVED = re.compile(r"""\.save\(\s*["'](\w+)["']""")
_KEPT = {"kernelspec", "language_info"}  # of a notebook's metadata
_IMAGES = {"image/png", "image/svg+xml"}


def file_name(notebook: str) -> str:
    return f"{notebook.replace('/', '-')}.ipynb"


def write_executed(notebook: str, executed: Path, figures: Path) -> Path:
    """Write an executed notebook into the folder of its figures."""
    content = json.loads(executed.read_text(encoding="utf-8"))
    content["metadata"] = {k: v for k, v in content["metadata"].items() if k in _KEPT}
    for number, cell in enumerate(content["cells"]):
        cell["id"] = f"cell-{number}"
        cell["metadata"] = {k: v for k, v in cell["metadata"].items() if k == "tags"}
        if cell["cell_type"] == "code":
            names = _SAVED.findall("".join(cell["source"]))
            saved = [name for name in names if (figures / f"{name}.png").is_file()]
            cell["outputs"] = [_linked(out, saved) for out in cell["outputs"] if "data" in out]
    path = figures / file_name(notebook)
    text = json.dumps(content, indent=1, ensure_ascii=False, sort_keys=True)  # as Jupyter writes it
    path.write_text(text + "\n", encoding="utf-8")
    return path


def _linked(output: Mapping[str, Any], saved: Sequence[str]) -> dict[str, Any]:
    """The output with a link to the saved figure in place of its image; a table as HTML alone."""
    data = dict(output["data"])
    if _IMAGES & data.keys():
        name = saved[-1] if saved else ""
        data = {
            "text/markdown": f"![{name}]({name}.png)" if name else "a figure that was not saved"
        }
    elif "text/html" in data:
        data = {"text/html": "".join(data["text/html"])}
    return {**output, "data": data, "metadata": {}}
