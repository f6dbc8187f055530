"""The identity of a step: its module, name, fields and, if a user wrote the step, its source.

One hash covers this package's own code (`study/result_cache.py`). A class or function from a notebook, a script
or another package is described by its source: its methods, base classes, closures and defaults, and the globals
that its code names, as far as they are the user's too. Libraries count by name alone, and objects that are
neither plain values nor functions by their type.
"""

import functools
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, fields, is_dataclass
from enum import Enum
from pathlib import Path
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any

from workbench.errors import BadInputError
from workbench.systems.source import (
    in_workbench,
    is_installed,
    nested_codes,
    random_mark,
    read_globals,
    source_lines,
    top_package,
)

_PLAIN = (type(None), bool, int, float, complex, str, bytes, range, Path)
_CALLABLE = (FunctionType, BuiltinFunctionType, MethodType, type)
_DESCRIPTORS: Mapping[type, tuple[str, ...]] = {
    MethodType: ("__func__", "__self__"),
    staticmethod: ("__func__",),
    classmethod: ("__func__",),
    property: ("fget", "fset", "fdel"),
    functools.cached_property: ("func",),
    functools.partial: ("func", "args", "keywords"),
    re.Pattern: ("pattern", "flags"),
}
# Methods that dataclasses and named tuples write themselves, from nothing but their fields.
_GENERATED = (
    "__init__ __repr__ __eq__ __lt__ __le__ __gt__ __ge__ __hash__ __setattr__ __delattr__ __new__"
)


@dataclass(frozen=True, slots=True)
class Identity:
    """`record` is JSON that differs wherever two values do; `unsourced` names the steps without source.

    The record of a step without source holds a random mark, so that no other process makes the same record.
    """

    record: Any
    unsourced: tuple[str, ...]


def identify(value: Any) -> Identity:
    """A step, or a system, as JSON. BadInputError where a field is neither a plain value nor a function."""
    packages = {top_package(kind.__module__) for kind in _step_classes(value)}
    walk = _Walk(packages - sys.stdlib_module_names)
    record = walk.value(value)
    return Identity(record, tuple(walk.unsourced))


def _step_classes(value: Any) -> Iterator[type]:
    """The classes of a step and of its steps; BadInputError for a value that cannot be described."""
    parts: Iterable[Any] = ()
    if is_dataclass(value) and not isinstance(value, type):
        yield type(value)
        parts = [getattr(value, f.name) for f in fields(value) if f.compare]
    elif isinstance(value, Mapping):
        parts = value.values()
    elif isinstance(value, (list, tuple, AbstractSet)):
        parts = value
    elif isinstance(value, functools.partial):
        parts = [value.func, value.args, value.keywords]
    elif not isinstance(value, (*_PLAIN, *_CALLABLE, Enum)) and not hasattr(value, "__wrapped__"):
        raise BadInputError(
            f"a step holds {value!r:.80}; make it a dataclass of plain values and functions, which can be cached"
        )
    for part in parts:
        yield from _step_classes(part)


class _Walk:
    """Describes a value and everything that it refers to. A definition that recurs is recorded by its number."""

    def __init__(self, packages: AbstractSet[str]) -> None:
        self.unsourced: dict[str, None] = {}
        self._step = ""  # the user's step that is being described
        self._packages = packages  # the steps' own packages are no libraries, even in site-packages
        self._numbers: dict[int, int] = {}
        # The ids of the values that enclose the described one, to end cycles.
        self._open_ids: set[int] = set()

    def value(self, value: Any) -> Any:
        if isinstance(value, _PLAIN) and not isinstance(value, Enum):
            # JSON keeps texts, floats and integers of 64 bits as they are; other plain values are written as text.
            exact = isinstance(value, (str, float)) or (
                isinstance(value, int) and abs(value) < 2**63
            )
            return value if exact or value is None else [type(value).__name__, repr(value)]
        if isinstance(value, (type, FunctionType)):
            return self._definition(value)
        if id(value) in self._open_ids:
            return "a cycle"
        self._open_ids.add(id(value))
        record = self._compound(value)
        self._open_ids.discard(id(value))
        return record

    def _compound(self, value: Any) -> Any:
        kind = type(value)
        parts: Any = None
        if isinstance(value, Mapping):
            return {str(key): self.value(part) for key, part in value.items()}
        if isinstance(value, (list, tuple)):
            return [self.value(part) for part in value]
        if isinstance(value, AbstractSet):
            return ["set", *sorted(map(self.value, value), key=repr)]
        if names := next(
            (_DESCRIPTORS[base] for base in _DESCRIPTORS if isinstance(value, base)), ()
        ):
            parts = [self.value(getattr(value, name)) for name in names]
        elif hasattr(value, "__wrapped__"):
            parts = self.value(value.__wrapped__)
        elif isinstance(value, Enum):
            parts = value.name
        elif is_dataclass(value):
            return self._instance(value)
        elif isinstance(value, BuiltinFunctionType):
            parts = _name(value)
        elif not self._is_library(kind):
            parts = self.value(vars(value)) if hasattr(value, "__dict__") else None
        return [self._definition(kind), parts]

    def _instance(self, value: Any) -> Any:
        kind, outer = type(value), self._step
        if not (in_workbench(kind.__module__) and self._is_library(kind)):
            self._step = outer or _name(kind)
        parts = {f.name: self.value(getattr(value, f.name)) for f in fields(value) if f.compare}
        record = [self._definition(kind), parts]
        self._step = outer
        return record

    def _definition(self, thing: type | FunctionType) -> Any:
        """A class or function: by name if it is from a library, by source if a user wrote it."""
        name = _name(thing)
        if self._is_library(thing):
            return name
        if id(thing) in self._numbers:
            return [name, self._numbers[id(thing)]]
        self._numbers[id(thing)] = len(self._numbers)
        if isinstance(thing, type):
            bases = [self._definition(base) for base in thing.__bases__]
            return [name, bases, {key: self.value(part) for key, part in _body(thing)}]
        return [name, *self._function(thing, name)]

    def _function(self, function: FunctionType, name: str) -> Iterator[Any]:
        code = function.__code__
        source = source_lines(code, function.__globals__)
        if source is None:
            self.unsourced[self._step or name] = None
        yield source or random_mark(code)
        cells = zip(code.co_freevars, function.__closure__ or (), strict=True)
        yield {free: self._cell(cell) for free, cell in cells}
        yield self.value([function.__defaults__, function.__kwdefaults__])
        yield {
            key: self._global(part, code) for key, part in sorted(read_globals(function).items())
        }

    def _cell(self, cell: Any) -> Any:
        try:
            return self.value(cell.cell_contents)
        except ValueError:  # not assigned yet
            return None

    def _global(self, value: Any, code: CodeType) -> Any:
        """A global that the code names; for a module of the user's, only its attributes that the code names."""
        if not isinstance(value, ModuleType):
            return self.value(value)
        if id(value) in self._open_ids or self._is_library_module(value.__name__):
            return value.__name__
        self._open_ids.add(id(value))
        named = sorted(
            {name for part in nested_codes(code) for name in part.co_names} & set(vars(value))
        )
        record = {name: self._global(vars(value)[name], code) for name in named}
        self._open_ids.discard(id(value))
        return [value.__name__, record]

    def _is_library(self, thing: Any) -> bool:
        """Whether a class or function is found under its name in this package or in a library."""
        if not self._is_library_module(thing.__module__ or ""):
            return False
        there: Any = sys.modules.get(thing.__module__)
        for part in thing.__qualname__.split("."):
            there = getattr(there, part, None)
        return there is thing

    def _is_library_module(self, module: str) -> bool:
        return in_workbench(module) or (
            top_package(module) not in self._packages and is_installed(top_package(module))
        )


def _name(thing: Any) -> str:
    return f"{thing.__module__}.{thing.__qualname__}"


def _body(kind: type) -> Iterator[tuple[str, Any]]:
    """The definitions in a class's body: its methods, and attributes that are not Python's own."""
    for name, value in sorted(vars(kind).items()):
        function = value
        while hasattr(function, "__wrapped__"):
            function = function.__wrapped__
        if isinstance(function, FunctionType):
            generated = name in _GENERATED.split() and function.__code__.co_filename == "<string>"
            if not generated or not (is_dataclass(kind) or issubclass(kind, tuple)):
                yield name, value
        elif not (name.startswith("__") and name.endswith("__")) or isinstance(
            value, (staticmethod, classmethod, property)
        ):
            yield name, value
