"""Imports point one way: a module imports only from its own package and from the layers below it.

The embedded model is the top layer, so no other package may import it. The client finds it by its entry point.
"""

import ast
import tomllib
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "workbench"
LAYERS: list[set[str]] = [  # the lowest first
    {"errors"},
    {"types", "canonical"},
    {"store", "prompts", "pool", "terminal"},
    {"llm", "sql"},
    {"replies"},
    {"benchmarks", "lab"},
    {"retrieve", "evaluate"},
    {"systems", "cluster"},
    {"train", "report"},
    {"study"},
    {"widgets"},
    {"label", "explorer"},
    {"cli"},
    {"__main__"},
    {"embedded"},
]
LAYER = {package: number for number, layer in enumerate(LAYERS) for package in layer}


def imported_packages(file: Path) -> set[str]:
    modules: list[str] = []
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Import):
            modules += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, (
                f"{file} imports relatively; absolute imports show the package"
            )
            modules += [f"{node.module}.{alias.name}" for alias in node.names]
    return {name.split(".")[1] for name in modules if name.startswith("workbench.")}


@pytest.mark.parametrize(
    "file", sorted(PACKAGE.rglob("*.py")), ids=lambda f: str(f.relative_to(PACKAGE))
)
def test_a_module_imports_only_from_lower_layers_and_its_own_package(
    file: Path,
) -> None:
    package = file.relative_to(PACKAGE).parts[0].removesuffix(".py")
    if package == "__init__":
        return
    for other in imported_packages(file) - {package}:
        assert LAYER[other] < LAYER[package], f"{package} must not import {other}"


def test_the_model_that_runs_in_this_process_is_found_by_its_entry_point() -> None:
    project = tomllib.loads((PACKAGE.parent / "pyproject.toml").read_text())["project"]
    assert project["entry-points"]["workbench.models"] == {
        "embedded": "workbench.embedded.provider"
    }


def test_every_package_has_a_layer() -> None:
    packages = {
        path.stem
        for path in PACKAGE.iterdir()
        if not path.name.startswith(("__", "py.typed")) and path.suffix != ".sql"
    }
    assert packages <= set(LAYER)
