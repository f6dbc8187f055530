"""The site that `make docs` builds: READMEs, executed notebooks, prompts and public names.

The files of the repository are the pages, where they lie: a link between two READMEs is a link
between two pages, and nothing is written twice. The pages of prompts, experiments and public names
have a heading in this folder, and a section for each file or name is added while they are read.
"""

import re
import shutil
from collections.abc import Iterator
from importlib.metadata import version as version_of
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

import workbench as wb

ROOT = Path(__file__).parents[2]

project = "workbench"
version = release = version_of("text2sql-workbench")
html_title = f"workbench {version}"
html_copy_source = False
html_show_copyright = False
html_static_path = html_css_files = ["site.css"]
root_doc = "README"
include_patterns = [
    "README.md",
    ".github/*.md",
    ".github/docs/*.md",
    "experiments/README.md",
    "figures/README.md",
    "figures/embedded/*.ipynb",
    "notebooks/README.md",
    "tests/benchmarks/README.md",
    "workbench/**/README.md",
]
extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.viewcode"]
html_theme = "furo"
nb_execution_mode = "off"  # the notebooks are those that `make reproduce` has executed
myst_heading_anchors = 4
myst_enable_extensions = ["html_image"]  # figures have a width
nb_render_markdown_format = "myst"  # those of notebooks, too
suppress_warnings = [
    "myst.xref_missing"
]  # the gallery's anchors are HTML; tests check links
autodoc_member_order = "bysource"
maximum_signature_line_length = 80
autodoc_preserve_defaults = True
highlight_language = "text"  # of blocks that name none
default_role = "code"  # a docstring sets names between single backquotes
PARAMETERS = r"(\w+(?:, \w+)*): "

GUIDES = [
    "workbench/explorer/README",
    "notebooks/README",
    "experiments/README",
    "workbench/evaluate/README",
    "workbench/benchmarks/README",
    "workbench/embedded/README",
    "workbench/llm/README",
    "workbench/systems/README",
    "workbench/prompts/README",
    "workbench/sql/README",
    "workbench/train/README",
    "workbench/cluster/README",
]
RESULTS = [
    "figures/README",
    "workbench/report/papers/README",
    "tests/benchmarks/README",
]
REFERENCE = [
    ".github/docs/names",
    ".github/docs/prompts",
    ".github/docs/experiments",
    ".github/LIMITS",
    ".github/CONTRIBUTING",
    ".github/CHANGELOG",
]


def contents(caption: str, pages: list[str]) -> str:
    """Return a block of the site's table of contents, which is shown at its side."""
    return "\n".join(
        ["```{toctree}", f":caption: {caption}", ":hidden:", *pages, "```"]
    )


def literal(path: Path, folder: Path, language: str) -> str:
    """Return a section that shows a file of a folder as it is."""
    title = path.relative_to(folder).with_suffix("")
    place = path.relative_to(ROOT)
    return f"## `{title}`\n\n```{{literalinclude}} /{place}\n:language: {language}\n```"


def names() -> Iterator[str]:
    """Yield the documentation of each public name that has a docstring or is a class."""
    for name in wb.__all__:
        thing = getattr(wb, name)
        if isinstance(thing, type):
            kind, options = "autoclass", "\n   :members:"
        elif callable(thing):
            kind, options = "autofunction", ""
        else:
            continue
        yield f"```{{eval-rst}}\n.. {kind}:: workbench.{name}{options}\n```"


def sections(page: str) -> Iterator[str]:
    """Yield what is added to the text of a page."""
    if page == root_doc:
        notebooks = sorted((ROOT / "figures/embedded").glob("*.ipynb"))
        executed = [f"figures/embedded/{notebook.stem}" for notebook in notebooks]
        yield contents("Guides", GUIDES)
        yield contents("Results", RESULTS)
        yield contents("Reference", REFERENCE)
        yield contents("Executed notebooks", executed)
    elif page == ".github/docs/names":
        yield from names()
    elif page == ".github/docs/prompts":
        folder = ROOT / "workbench/prompts"
        for prompt in sorted(folder.glob("*/*.md")):
            yield literal(prompt, folder, "jinja")
    elif page == ".github/docs/experiments":
        folder = ROOT / "experiments"
        for experiment in sorted(folder.glob("*.yaml")):
            yield literal(experiment, folder, "yaml")


def list_parameters(*event: Any) -> None:
    """Make a docstring's lines `parameter: what it is` a list."""
    lines: list[str] = event[-1]
    summary, *paragraphs = "\n".join(lines).split("\n\n")
    for number, paragraph in enumerate(paragraphs):
        if all(re.match(f"{PARAMETERS}|    ", line) for line in paragraph.splitlines()):
            listed = re.sub(f"(?m)^{PARAMETERS}", r"- **\1**: ", paragraph)
            paragraphs[number] = re.sub("(?m)^    ", "  ", listed)
    lines[:] = "\n\n".join([summary, *paragraphs]).split("\n")


def add_sections(_app: Sphinx, page: str, text: list[str]) -> None:
    text[0] = "\n\n".join([text[0], *sections(page)])


def add_index(app: Sphinx, problem: Exception | None) -> None:
    """Make the README the site's first page."""
    if problem is None:
        readme = Path(app.outdir) / "README.html"
        shutil.copy(readme, readme.with_name("index.html"))


def setup(app: Sphinx) -> None:
    app.connect("autodoc-process-docstring", list_parameters)
    app.connect("source-read", add_sections)
    app.connect("build-finished", add_index)
