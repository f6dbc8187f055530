"""The papers' numbers, result tables beside them, and figures: of data frames, never of runs."""

import lazy_loader

# For the names of `workbench/__init__.pyi`.
__getattr__, __dir__, __all__ = lazy_loader.attach(__name__, ["figures", "tables"])
