"""Why predictions are wrong: cases, labels, taxonomies, agreement of annotators."""

import lazy_loader

# For the names of `workbench/__init__.pyi`.
__getattr__, __dir__, __all__ = lazy_loader.attach(__name__, ["labels"])
