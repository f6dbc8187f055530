"""The functions that notebooks call: `open_study` opens an experiment, and its `run` runs a system on the questions.

Each name is imported at its first use, so that modules of this folder that draw nothing do not load pandas and
Matplotlib.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from workbench.study.run import Run, Runs, accuracy
    from workbench.study.study import Study, open_study

__all__ = ["Run", "Runs", "Study", "accuracy", "open_study"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = "study" if name in {"Study", "open_study"} else "run"
    return getattr(import_module(f"{__name__}.{module}"), name)
