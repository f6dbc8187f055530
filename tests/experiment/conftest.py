"""A checkout with notebooks of a few lines, and an experiment that names them."""

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from workbench.study.experiment import load_experiment


@pytest.fixture
def checkout(tmp_path):
    """`write(**notebooks)`: a notebook for each text of code cells, and the experiment that runs them all."""

    def write(parameters="", **notebooks):
        for folder in ("notebooks", "experiments"):
            (tmp_path / folder).mkdir(exist_ok=True)
        lines = ["notebooks:"]
        for name, cells in notebooks.items():
            first = new_code_cell(
                f'experiment = "embedded"\nlimit = None\nname = "{name}"\nsamples = 7\nseed = 0\n'
                "sweep = 5  # questions; None: all\ncounts = [5, 25]\nheat = 0.5\n"
                "product = 10 * 60\nnone = []",
                metadata={"tags": ["parameters"]},
            )
            code = [new_code_cell(cell) for cell in cells]
            notebook = new_notebook(cells=[new_markdown_cell("# A title"), first, *code])
            for number, cell in enumerate(notebook.cells):
                cell["id"] = f"cell-{number}"
            notebook.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3"}
            notebook.metadata["language_info"] = {"name": "python"}
            nbformat.write(notebook, tmp_path / "notebooks" / f"{name}.ipynb")
            lines.append(f"  {name}: {{{parameters}}}")
        path = tmp_path / "experiments" / "mine.yaml"
        path.write_text("\n".join(lines) + "\n")
        return load_experiment(str(path))

    return write
