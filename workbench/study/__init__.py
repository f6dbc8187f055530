"""Experiments: opened as studies in a notebook, or reproduced notebook by notebook."""

import lazy_loader

# For the names of `workbench/__init__.pyi`.
__getattr__, __dir__, __all__ = lazy_loader.attach(__name__, ["measures"])
