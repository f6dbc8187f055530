"""The question that all views of a kernel show together."""

import traitlets


class CurrentQuestion(traitlets.HasTraits):
    """The question that is picked: the name of its benchmark and its id, both "" before the first pick.

    All views that share this object show the question that is picked in one of them.
    """

    picked = traitlets.Tuple(traitlets.Unicode(), traitlets.Unicode(), default_value=("", ""))


CURRENT = CurrentQuestion()
"""The object that a kernel's views share by default. Running a notebook again keeps the question."""
