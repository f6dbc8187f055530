"""The labelling widget: a session of steps, the panel that shows it, and the keys and clicks that drive it."""

from workbench.label.widget.labeller import adjudicate, label

__all__ = ["adjudicate", "label"]
