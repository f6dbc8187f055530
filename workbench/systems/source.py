"""The source of functions, the globals that they read, and whether a module is the user's or a library's."""

import ast
import dis
import functools
import importlib
import linecache
import secrets
import sys
from collections.abc import Iterator
from importlib.util import find_spec, resolve_name
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

_FUTURES = 0x1FF0000  # flags of `from __future__ import ...`, which hold in all later cells


def top_package(module: str) -> str:
    return module.partition(".")[0]


def in_workbench(module: str) -> bool:
    return top_package(module) == "workbench"


@functools.cache
def is_installed(package: str) -> bool:
    """Whether a top-level package is the standard library's or lies in site-packages."""
    if package in sys.stdlib_module_names:
        return True
    try:
        spec = find_spec(package)
    except ValueError:  # `__main__` has none
        return False
    folders = [spec.origin or "", *(spec.submodule_search_locations or ())] if spec else []
    return any({"site-packages", "dist-packages"} & set(Path(folder).parts) for folder in folders)


def nested_codes(code: CodeType) -> Iterator[CodeType]:
    """A piece of code and all that is nested in it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from nested_codes(constant)


def read_globals(function: FunctionType) -> dict[str, Any]:
    """The globals that a function's code reads, and the modules that it imports itself."""
    found: dict[str, Any] = {}
    space = function.__globals__
    for code in nested_codes(function.__code__):
        before: list[Any] = [None, None]
        for instruction in dis.get_instructions(code):
            name = instruction.argval
            if instruction.opname in {"LOAD_GLOBAL", "LOAD_NAME"} and name in space:
                found[name] = space[name]
            elif instruction.opname == "IMPORT_NAME":  # its level and list of names come before
                module = resolve_name("." * before[0] + name, space.get("__package__"))
                if not in_workbench(module) and not is_installed(top_package(module)):
                    found[f"import {module}"] = importlib.import_module(module)
            before = [before[1], name]
    return found


def source_lines(code: CodeType, space: dict[str, Any]) -> list[Any] | None:
    """The lines of a function, and its number among those that begin in the same line.

    None if there are no lines, or if the lines are not the code that runs: a file may have changed since its import.
    """
    linecache.checkcache(code.co_filename)
    lines = linecache.getlines(code.co_filename, space)
    flags = code.co_flags & _FUTURES | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
    beginning = [
        other
        for other in _compiled(code.co_filename, "".join(lines), flags)
        if other.co_firstlineno == code.co_firstlineno
    ]
    if code not in beginning:
        return None
    last = max(end or 0 for part in nested_codes(code) for _, end, *_ in part.co_positions())
    return ["".join(lines[code.co_firstlineno - 1 : last]), beginning.index(code)]


@functools.lru_cache(maxsize=64)
def _compiled(file: str, text: str, flags: int) -> tuple[CodeType, ...]:
    try:
        return tuple(nested_codes(compile(text, file, "exec", flags, dont_inherit=True)))
    except (SyntaxError, ValueError):
        return ()


@functools.cache
def random_mark(_: CodeType) -> str:
    """A mark of a function without source; in another process the same function has another one."""
    return secrets.token_hex(16)
