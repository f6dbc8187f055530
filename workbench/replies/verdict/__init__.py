"""Which of two candidates a judge prefers: `forms.py` reads the forms of answer, `prose.py` running text."""

from workbench.replies.verdict.forms import read_verdict
from workbench.replies.verdict.naming import Letter

__all__ = ["Letter", "read_verdict"]
