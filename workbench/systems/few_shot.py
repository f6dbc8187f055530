"""What CHASE-SQL's table 9 compares synthetic examples with: training questions that resemble the one asked.

The prompt is that of online synthetic examples, so that nothing but the examples differs.
"""

from dataclasses import dataclass, field, replace

from workbench.db.context_text import examples_text
from workbench.errors import at_least
from workbench.generate.candidates import propose
from workbench.lab import Lab
from workbench.retrieve.embed import Similarity
from workbench.retrieve.lexical import Lexical
from workbench.types import Candidate, Context, Example


@dataclass(frozen=True, slots=True)
class NearestExamples:
    """A generator that shows so many of the examples, those first whose questions are most like the one asked."""

    model: str
    examples: tuple[Example, ...] = field(repr=False)
    shown: int = 75
    temperature: float = 0.0
    similarity: Similarity = field(default_factory=Lexical)

    def __post_init__(self) -> None:
        at_least(0, shown=self.shown)

    def __call__(self, lab: Lab, context: Context) -> tuple[Candidate, ...]:
        known = [example.question for example in self.examples]
        (scores,) = self.similarity(lab, [context.question.text], known, collection=True)
        order = sorted(range(len(known)), key=lambda place: (-scores[place], place))
        nearest = [self.examples[place] for place in order[: self.shown]]
        found = propose(
            lab,
            context,
            "generate/online_examples",
            self.model,
            self.temperature,
            1,
            examples=examples_text(nearest),
        )
        return tuple(replace(candidate, generator="training_examples") for candidate in found)
