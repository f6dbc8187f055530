"""A study of a few bundled questions, and a checkout with notebooks of a few lines that an experiment names."""

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from workbench.study.experiment import Experiment, load_experiment
from workbench.study.study import open_study

PARAMETERS = 'experiment = "embedded"\nlimit = None\nsamples = 7'


@pytest.fixture
def experiment(tmp_path):
    return Experiment("small", folder=tmp_path)


@pytest.fixture
def study(experiment):
    with open_study(experiment, limit=6) as opened:
        yield opened


@pytest.fixture
def checkout(tmp_path):
    """`write(**notebooks)`: a notebook for each list of code cells, and the experiment that runs them all."""

    def write(parameters="", settings="", **notebooks):
        for folder in ("notebooks", "experiments"):
            (tmp_path / folder).mkdir(exist_ok=True)
        lines = [settings, "notebooks:"]
        for name, cells in notebooks.items():
            first = new_code_cell(PARAMETERS, metadata={"tags": ["parameters"]})
            whole = [new_markdown_cell("# A title"), first, *map(new_code_cell, cells)]
            notebook = new_notebook(cells=whole)
            for number, cell in enumerate(whole):
                cell["id"] = f"cell-{number}"
            notebook.metadata["kernelspec"] = {
                "name": "python3",
                "display_name": "Python 3",
            }
            notebook.metadata["language_info"] = {"name": "python"}
            nbformat.write(notebook, tmp_path / "notebooks" / f"{name}.ipynb")
            lines.append(f"  {name}: {{{parameters}}}")
        path = tmp_path / "experiments" / "mine.yaml"
        path.write_text("\n".join(lines) + "\n")
        return load_experiment(str(path))

    return write
