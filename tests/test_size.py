"""The package stays thin: what a reader has to hold in mind has a limit.

Nodes are the expressions and statements of Python's own parser, which no formatting changes. Who needs more of them takes
some out: a concept that nobody would miss, a case that a library settles. Who takes some out lowers the limit.

The goal is 74,000 nodes in 110 files: above it, the limit is what is reached. The others are the goals: 5.5 nodes a line,
6.0 in any room, and no function of eight lines or more above 9 a line or 250 in all.
"""

import ast
import io
import tokenize
from pathlib import Path
from typing import NamedTuple

PACKAGE = Path(__file__).parents[1] / "workbench"
FILES = sorted(PACKAGE.rglob("*.py"))
DEFINITIONS = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
LAYOUT = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
}
VAGUE = {"one", "own", "found", "given", "made", "held", "some", "about"}


class Part(NamedTuple):
    """A function, a folder or the package: its nodes and its lines of code."""

    name: str
    nodes: int
    lines: int

    @property
    def density(self) -> float:
        return self.nodes / max(1, self.lines)


def nodes(tree: ast.AST) -> int:
    return sum(isinstance(node, ast.expr | ast.stmt) for node in ast.walk(tree))


def code_lines(source: str, tree: ast.Module) -> set[int]:
    """The numbers of the lines that hold code: neither blank nor a comment nor a docstring."""
    lines = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in LAYOUT:
            lines.update(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(tree):
        if (
            isinstance(node, DEFINITIONS)
            and ast.get_docstring(node, clean=False) is not None
        ):
            docstring = node.body[0]
            lines.difference_update(range(docstring.lineno, docstring.end_lineno + 1))
    return lines


TREES = {file: ast.parse(file.read_text()) for file in FILES}
CODE = {file: code_lines(file.read_text(), tree) for file, tree in TREES.items()}
WHOLE = Part("workbench", sum(map(nodes, TREES.values())), sum(map(len, CODE.values())))


def rooms() -> list[Part]:
    """The folders of the package, and the modules beside them."""
    parts: dict[str, Part] = {}
    for file, tree in TREES.items():
        room = file.relative_to(PACKAGE).parts[0]
        before = parts.get(room, Part(room, 0, 0))
        parts[room] = Part(
            room, before.nodes + nodes(tree), before.lines + len(CODE[file])
        )
    return list(parts.values())


def functions() -> list[Part]:
    parts = []
    for file, tree in TREES.items():
        for node in ast.walk(tree):
            if isinstance(node, FUNCTIONS):
                lines = CODE[file].intersection(range(node.lineno, node.end_lineno + 1))
                name = f"{file.relative_to(PACKAGE)}:{node.lineno} {node.name}"
                parts.append(Part(name, nodes(node), len(lines)))
    return parts


def syntax(kind: type | tuple[type, ...]) -> list[ast.AST]:
    return [
        node
        for tree in TREES.values()
        for node in ast.walk(tree)
        if isinstance(node, kind)
    ]


def dense() -> list[Part]:
    return [f for f in functions() if f.lines >= 8 and f.density > 9.0]


def large() -> list[Part]:
    return [f for f in functions() if f.nodes > 250]


def test_the_package_holds_at_most_so_much() -> None:
    assert WHOLE.nodes <= 102_830
    assert len(FILES) <= 117


def test_a_line_holds_one_thought() -> None:
    assert WHOLE.density <= 5.5
    assert [room for room in rooms() if room.density > 6.0] == []


def test_a_function_is_read_once() -> None:
    assert dense() == []
    assert large() == []


def test_comprehensions_stand_alone() -> None:
    nested = 0
    for outer in syntax(COMPREHENSIONS):
        inside = [node for node in ast.walk(outer) if node is not outer]
        nested += any(isinstance(node, COMPREHENSIONS) for node in inside)
    assert nested <= 2
    assert len(syntax(ast.NamedExpr)) <= 18


def test_layout_and_names_are_plain() -> None:
    sources = "".join(file.read_text() for file in FILES)
    assert sources.count("# fmt: skip") + sources.count("# fmt: off") <= 5
    stored = [node.id for node in syntax(ast.Name) if isinstance(node.ctx, ast.Store)]
    assert sum(name in VAGUE for name in stored) <= 5
