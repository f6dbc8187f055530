"""What a notebook here looks like: a few short cells over the package, which run as they are wherever opened."""

import ast
import re
from collections import Counter
from pathlib import Path

import nbformat
import pytest

import workbench as wb
from workbench.study.experiment import load_experiment

CHECKOUT = Path(__file__).parents[2]
FOLDER = CHECKOUT / "notebooks"
PATHS = sorted(
    p for p in FOLDER.rglob("*.ipynb") if ".ipynb_checkpoints" not in p.parts
)
NAMES = [str(path.relative_to(FOLDER).with_suffix("")) for path in PATHS]
BY_HAND = {"explore", "label_errors"}  # what somebody works in; these draw nothing
NOT_EMBEDDED = {"three_systems"}  # what minidev.yaml runs
LINES = 15  # of a cell, its imports aside
NETWORK = {
    "aiohttp",
    "ftplib",
    "http",
    "httpx",
    "requests",
    "socket",
    "urllib",
    "urllib3",
}
# What the gallery sorts figures by.
SAVES = ("chase_", "chess_", "mac_", "pool_", "beyond_")


@pytest.fixture(params=PATHS, ids=NAMES)
def notebook(request):
    return nbformat.read(request.param, nbformat.NO_CONVERT)


@pytest.fixture(params=[p for p, name in zip(PATHS, NAMES, strict=True) if name not in BY_HAND],
                ids=[name for name in NAMES if name not in BY_HAND])  # fmt: skip
def drawing(request):
    return nbformat.read(request.param, nbformat.NO_CONVERT)


def code(notebook):
    """The code cells, each read as Python; a magic command is a syntax error."""
    return [
        ast.parse(cell.source) for cell in notebook.cells if cell.cell_type == "code"
    ]


def nodes(notebook, *kinds):
    return [
        node
        for tree in code(notebook)
        for node in ast.walk(tree)
        if isinstance(node, kinds)
    ]


def texts(notebook):
    """Every text in the code, f-strings in parts."""
    constants = nodes(notebook, ast.Constant)
    return [node.value for node in constants if isinstance(node.value, str)]


def tagged(notebook):
    return [c for c in notebook.cells if "parameters" in c.metadata.get("tags", [])]


def called(notebook, method):
    """The calls of `study.METHOD`."""
    return [
        node
        for node in nodes(notebook, ast.Call)
        if isinstance(node.func, ast.Attribute) and node.func.attr == method
    ]


def test_it_is_valid_and_every_cell_has_an_id_of_its_own(notebook):
    nbformat.validate(notebook)
    assert (notebook.nbformat, notebook.nbformat_minor) >= (4, 5)
    assert len({cell["id"] for cell in notebook.cells}) == len(notebook.cells)
    assert notebook.metadata.kernelspec.name == "python3"


def test_it_is_committed_without_outputs(notebook):
    for cell in notebook.cells:
        assert set(cell.metadata) <= {"tags"}
        if cell.cell_type == "code":
            assert cell.outputs == []
            assert cell.execution_count is None
    assert "widgets" not in notebook.metadata


def test_it_defines_neither_functions_nor_classes(notebook):
    assert not nodes(notebook, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    assert all(node.lineno == node.end_lineno for node in nodes(notebook, ast.Lambda))


def test_it_holds_no_sql_and_no_prompt(notebook):
    for text in texts(notebook):
        assert not re.search(
            r"\bselect\b.*\bfrom\b", text, re.IGNORECASE | re.DOTALL
        ), text
        assert "\n" not in text
        assert len(text) < 200, text


def test_its_cells_are_short(notebook):
    for cell, tree in zip([c for c in notebook.cells if c.cell_type == "code"], code(notebook), strict=True):  # fmt: skip
        imports = [n for n in tree.body if isinstance(n, (ast.Import, ast.ImportFrom))]
        lines = sum(bool(line.strip()) for line in cell.source.splitlines())
        assert lines - sum(n.end_lineno - n.lineno + 1 for n in imports) <= LINES, (
            cell.source
        )
        assert max(map(len, cell.source.splitlines())) <= 125, cell.source


def test_one_cell_holds_its_parameters_as_plain_values(notebook):
    (cell,) = tagged(notebook)
    assert cell is next(c for c in notebook.cells if c.cell_type == "code")
    assignments = ast.parse(cell.source).body
    assert all(node.lineno == node.end_lineno for node in assignments)
    given = {n.targets[0].id: ast.literal_eval(n.value) for n in assignments}
    assert given["experiment"] == "embedded"
    assert given["limit"] is None


def test_every_parameter_is_used(notebook):
    used = Counter(
        node.id for node in nodes(notebook, ast.Name) if isinstance(node.ctx, ast.Load)
    )
    given = [n.targets[0].id for n in ast.parse(tagged(notebook)[0].source).body]
    assert [name for name in given if not used[name]] == []


def test_it_opens_with_what_it_is_about(notebook):
    first = notebook.cells[0]
    assert first.cell_type == "markdown"
    assert re.match(r"# \S.+\n\n\S", first.source)


def test_its_opening_names_a_table_or_a_figure_of_a_paper(drawing):
    opening = drawing.cells[0].source
    assert re.search(r"CHASE-SQL|CHESS|MAC-SQL", opening)
    assert re.search(r"\b(tables?|figures?|sections?|appendix)\s+[A-Z]?\.?\d", opening)


def test_it_ends_with_a_sentence(drawing):
    last = drawing.cells[-1]
    assert last.cell_type == "markdown"
    assert last.source.endswith(".")
    assert not last.source.startswith("#")


def test_it_is_short(drawing):
    lines = [
        line
        for cell in drawing.cells
        if cell.cell_type == "code"
        for line in cell.source.splitlines()
    ]
    assert sum(bool(line.strip()) for line in lines) <= 45


def test_a_cell_shows_one_object_at_its_end(drawing):
    for tree in code(drawing)[1:]:
        assert not [node for node in tree.body[:-1] if isinstance(node, ast.Expr)]
    assert not [n for n in nodes(drawing, ast.Name) if n.id in {"display", "print"}]


def test_it_leaves_surgery_on_frames_to_the_package(drawing):
    names = {node.attr for node in nodes(drawing, ast.Attribute)}
    assert not names & {
        "merge",
        "pivot",
        "pivot_table",
        "melt",
        "apply",
        "iterrows",
        "itertuples",
    }


def test_it_does_not_ask_which_benchmark_it_is_on(drawing):
    assert not [node for node in nodes(drawing, ast.Attribute) if node.attr == "sense"]


def test_imports_stand_first(notebook):
    _, first, *others = code(notebook)
    kinds = (ast.Import, ast.ImportFrom)
    are = [isinstance(node, kinds) for node in first.body]
    assert are == sorted(are, reverse=True)
    assert not [n for tree in others for n in ast.walk(tree) if isinstance(n, kinds)]


def test_it_opens_with_at_most_three_import_lines_and_takes_ours_from_the_front_door(
    notebook,
):
    lines = [
        line
        for cell in notebook.cells
        if cell.cell_type == "code"
        for line in cell.source.splitlines()
        if re.match(r"\s*(import|from) ", line)
    ]
    assert len(lines) <= 3
    assert [line for line in lines if "workbench" in line] == ["import workbench as wb"]


def test_every_name_that_it_takes_from_the_front_door_is_there(notebook):
    for node in nodes(notebook, ast.Attribute):
        if isinstance(node.value, ast.Name) and node.value.id == "wb":
            assert hasattr(wb, node.attr), node.attr
        elif (
            isinstance(node.value, ast.Attribute)
            and ast.unparse(node.value.value) == "wb"
        ):
            assert hasattr(getattr(wb, node.value.attr), node.attr), ast.unparse(node)


def test_it_names_no_place_of_one_machine_and_nothing_on_a_network(notebook):
    for text in texts(notebook):
        assert not re.match(r"/|~|[A-Za-z]:[\\/]|file:", text), text
        assert not re.search(r"https?://", text), text
    for node in nodes(notebook, ast.Import, ast.ImportFrom):
        modules = (
            [node.module]
            if isinstance(node, ast.ImportFrom)
            else [n.name for n in node.names]
        )
        assert not {module.partition(".")[0] for module in modules} & NETWORK


def test_it_saves_what_it_draws_and_says_which_claims_hold(drawing):
    assert called(drawing, "save")
    assert called(drawing, "claim")


def test_a_stamp_is_handed_on_as_it_is(drawing):
    """As text it could no longer say which models the runs behind a table or a figure asked."""
    for cell in drawing.cells:
        assert not re.search(
            r"str\((replace\()?\w+\.stamp|\{\w+\.stamp[}!:]", cell.source
        )


def test_no_two_figures_have_the_same_name():
    names = [
        call.args[0].value
        for path in PATHS
        for call in called(nbformat.read(path, nbformat.NO_CONVERT), "save")
        if isinstance(call.args[0], ast.Constant)
    ]
    assert [name for name, times in Counter(names).items() if times > 1] == []
    assert [name for name in names if not name.startswith(SAVES)] == []


def test_the_embedded_experiment_runs_all_that_draw():
    embedded = load_experiment(str(CHECKOUT / "experiments" / "embedded.yaml"))
    assert set(embedded.notebooks) == set(NAMES) - BY_HAND - NOT_EMBEDDED
