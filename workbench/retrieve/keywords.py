"""extract_keywords: the keywords of a question, which are then looked up in the database.

A model lists them, shown examples (CHASE-SQL, section 2.2; CHESS, section 3.1 and figure 7). A reply that cannot be read
gives none. A notebook's own rule is any function of the lab and the question in place of `Keywords`.
"""

from dataclasses import dataclass

from workbench import replies
from workbench.lab import Lab
from workbench.types import Question

MOST = 60  # keywords taken from one reply
LONGEST = 200  # characters of a keyword


@dataclass(frozen=True)
class Keywords:
    """Asks a model at the temperature of CHESS's code."""

    model: str
    temperature: float = 0.2

    def __call__(self, lab: Lab, question: Question) -> tuple[str, ...]:
        """The keywords in the order of the reply, each once."""
        data = {"question": question.text, "hint": question.evidence}
        answer = lab.ask(self, "retrieve/keywords", question, replies.strings, **data)
        once = dict.fromkeys(" ".join(keyword.split()) for keyword in answer.value or ())
        return tuple(keyword for keyword in once if 0 < len(keyword) <= LONGEST)[:MOST]
