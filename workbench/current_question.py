"""The question that all views of a kernel show together."""

import traitlets


class CurrentQuestion(traitlets.HasTraits):
    """The question that is picked: the name of its benchmark and its id, both "" before the first pick.

    Views that share one lead to one another: a question picked in one of them is shown by the others.
    """

    picked = traitlets.Tuple(traitlets.Unicode(), traitlets.Unicode(), default_value=("", ""))


CURRENT = CurrentQuestion()
"""What the views of a kernel share unless they are given another. Running a notebook again keeps the question."""
