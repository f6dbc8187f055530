"""Executed notebooks as plain HTML beside the figures, for readers who do not run them.

A figure is a link to the file that the notebook saved, never a second copy. Pages hold no times, paths or
process output, so that running an experiment again leaves them as they are.
"""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import nbformat

from workbench.html.parts import STYLE, STYLE_FILE, page, without_style
from workbench.html.tree import Raw

_SAVED = re.compile(r"""\.save\(\s*["'](\w+)["']""")
# Colours of code, whose style sheet the page lacks; Papermill gives the cell of parameters another id each time.
_COLOURED = re.compile(r'<span(?: class="\w{1,3}")?>([^<]*)</span>')
_IDS = re.compile(r' id="cell-id=[^"]*"')
_IMAGES = {"image/png", "image/svg+xml"}


def page_name(notebook: str) -> str:
    """The file of a notebook's page; a saved table's own HTML has no '-' in its name."""
    return f"{notebook.replace('/', '-')}.html"


def write_page(notebook: str, executed: Path, figures: Path) -> Path:
    """Write an executed notebook as a page into the folder of its figures."""
    from nbconvert import HTMLExporter  # noqa: PLC0415  a second, which an unchanged experiment saves

    content = nbformat.read(executed, as_version=4)  # type: ignore[no-untyped-call]
    for cell in content.cells:
        if cell.cell_type == "code":
            names = _SAVED.findall(cell.source)
            saved = [name for name in names if (figures / f"{name}.svg").is_file()]
            outputs = [_linked(output, saved) for output in cell.outputs]
            cell.outputs = [output for output in outputs if output.output_type != "stream"]
    exporter = HTMLExporter(  # type: ignore[no-untyped-call]
        template_name="basic",
        exclude_input_prompt=True,
        exclude_output_prompt=True,
        exclude_anchor_links=True,
    )
    body, _ = exporter.from_notebook_node(content)
    body = _COLOURED.sub(r"\1", _IDS.sub("", body))
    lines = "\n".join(line.rstrip() for line in body.splitlines() if line.strip())
    path = figures / page_name(notebook)
    text = page(notebook, Raw(f"\n{lines}\n"), shares_style=True)
    path.write_text(text + "\n", encoding="utf-8")
    (figures / STYLE_FILE).write_text(STYLE, encoding="utf-8")
    return path


def _linked(output: Any, saved: list[str]) -> Any:
    """The output with a link to the saved figure instead of its image, and without the page's style sheet."""
    data: Mapping[str, Any] = output.get("data", {})
    if _IMAGES & data.keys():
        name = saved[-1] if saved else ""
        picture = f'<img src="{name}.svg" alt="{name}">'
        output.data = {"text/html": picture if name else "<p>a figure that was not saved</p>"}
    elif "text/html" in data:
        output.data["text/html"] = without_style(data["text/html"])
    return output
