"""Imports point one way: drawn as a house, the package has no stair that leads back up."""

import ast
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "workbench"
VERBS = {"retrieve", "prune", "generate", "fix", "select", "evaluate"}
FLOORS: list[set[str]] = [
    {"types", "errors", "canonical", "migrations", "salvage"},
    {"store", "prompts", "pool", "yamlfile"},
    {"llm", "db"},
    {"benchmarks", "embedded", "lab"},
    VERBS,
    {"systems", "parallel"},
    {"train", "report"},
    {"study"},
    {"label", "explore", "jupyter"},
    {"experiment"},
    {"cli"},
    {"__main__"},
]
FLOOR = {room: floor for floor, rooms in enumerate(FLOORS) for room in rooms}


def imported_rooms(file: Path) -> set[str]:
    modules: list[str] = []
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Import):
            modules += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{file} imports relatively; absolute imports show the floor"
            modules += [f"{node.module}.{alias.name}" for alias in node.names]
    return {name.split(".")[1] for name in modules if name.startswith("workbench.")}


@pytest.mark.parametrize(
    "file", sorted(PACKAGE.rglob("*.py")), ids=lambda f: str(f.relative_to(PACKAGE))
)
def test_a_module_imports_only_from_lower_floors_and_its_own_room(file: Path) -> None:
    room = file.relative_to(PACKAGE).parts[0].removesuffix(".py")
    if room == "__init__":
        return
    for other in imported_rooms(file) - {room}:
        assert FLOOR[other] < FLOOR[room], f"{room} must not import {other}"


def test_every_room_has_its_floor() -> None:
    rooms = {
        path.stem for path in PACKAGE.iterdir() if not path.name.startswith(("__", "py.typed"))
    }
    assert rooms <= set(FLOOR)
