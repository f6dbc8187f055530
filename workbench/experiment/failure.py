"""Where and why a notebook failed: its cell, as JupyterLab numbers it, the line in the cell, and the error."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

_LINE_LENGTH = 160  # of a line of code, in characters
_ERROR_LENGTH = 600  # of an error, in characters: what to do stands at its end
_COLOUR_CODE = re.compile(r"\x1b\[[0-9;]*m")
_ARROW = re.compile(r"^-+> *\d+ (.*)$", re.MULTILINE)


def failed_cell(cells: Sequence[Mapping[str, Any]]) -> str:
    """The first cell with an error; "" if there is none.

    Papermill adds a cell with the parameters, which the reader's own notebook does not have.
    """
    code_cells = [cell for cell in cells if cell["cell_type"] == "code"]
    own = [c for c in code_cells if "injected-parameters" not in c["metadata"].get("tags", ())]
    for number, cell in enumerate(own, 1):
        for output in cell["outputs"]:
            if output["output_type"] == "error":
                place = f"cell {number} ({_failed_line(cell, output):.{_LINE_LENGTH}})"
                return f"{place}: {output['ename']}: {output['evalue']:.{_ERROR_LENGTH}}"
    return ""


def _failed_line(cell: Mapping[str, Any], output: Mapping[str, Any]) -> str:
    """The line at which the traceback's part about the cell points, else the cell's first line."""
    for part in output.get("traceback", ()):
        text = _COLOUR_CODE.sub("", part)
        if "Cell In[" in text and (found := _ARROW.search(text)):
            return found[1].strip()
    return next(iter("".join(cell["source"]).strip().splitlines()), "")
