"""The baseline of CHASE-SQL's table 9: examples from training questions that resemble the one asked.

Everything but the examples is as for online synthetic examples: the same prompt, one candidate, no fixer.
"""

from dataclasses import dataclass, field, replace

from workbench.db.context_text import examples_text
from workbench.generate.candidates import propose
from workbench.lab import Lab
from workbench.retrieve.embed import Similarity
from workbench.retrieve.lexical import Lexical
from workbench.systems.baselines import direct
from workbench.systems.system import System
from workbench.types import Candidate, Context, Example


@dataclass(frozen=True, slots=True)
class NearestExamples:
    """Shows so many of the examples, those first whose questions are most like the one asked."""

    model: str
    examples: tuple[Example, ...] = field(repr=False)
    shown: int = 75
    temperature: float = 0.0
    similarity: Similarity = field(default_factory=Lexical)

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


def few_shot(model: str, examples: tuple[Example, ...], shown: int = 75) -> System:
    """One candidate from the whole schema and so many of the examples."""
    generate = (NearestExamples(model, examples, shown),)
    return replace(direct(model), name="training examples", generate=generate)
