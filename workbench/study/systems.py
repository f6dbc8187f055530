"""The systems that have names: on the command line, and as methods of a study.

Another system is a file in `systems`, a public name and an entry here.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import wraps
from inspect import signature
from typing import Any

import workbench as wb


@dataclass(frozen=True, slots=True)
class Named:
    """A system: its public function, a line about it, and roles whose models parameters take."""

    function: str
    about: str
    role_of_parameter: Mapping[str, str] = field(default_factory=dict)

    @property
    def make(self) -> "Callable[..., wb.System]":
        """The function, which is imported now: systems take long to import."""
        function: Callable[..., wb.System] = getattr(wb, self.function)
        return function


SYSTEMS = {
    "chase": Named(
        "chase_sql", "CHASE-SQL", {"judge": "judge", "filtering": "filtering"}
    ),
    "chess": Named("chess_ir_cg_ut", "CHESS, IR+CG+UT"),
    "chess-ss": Named(
        "chess_ir_ss_cg",
        "CHESS, IR+SS+CG",
        {"model": "rest", "filtering": "filtering", "generation": "generation"},
    ),
    "mac": Named("mac_sql", "MAC-SQL"),
    "agent": Named("agent", "looks at the database in turns"),
    "zero-shot": Named("zero_shot", "BIRD's prompt"),
    "direct": Named("direct", "our own prompt"),
}
BY_FUNCTION = {named.function: named for named in SYSTEMS.values()}


def constructor(
    named: Named, models: Mapping[str, str], family: str
) -> "Callable[..., wb.System]":
    """Return the system's function with a study's models and its benchmark's family as defaults."""
    defaults = {"model": models["model"]}
    for parameter, role in named.role_of_parameter.items():
        defaults[parameter] = models[role]
    if "benchmark" in signature(named.make).parameters:
        defaults["benchmark"] = family

    @wraps(named.make)
    def make(**parameters: Any) -> "wb.System":
        return named.make(**defaults | parameters)

    return make
