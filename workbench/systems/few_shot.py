"""Few-shot examples of other origins: the alternatives to synthetic examples in CHASE-SQL's table 9.

The prompt is that of `generate/synthetic_examples`, so that only the examples differ.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from workbench.errors import at_least
from workbench.generate.prompt_generator import read_candidates
from workbench.generate.synthetic_examples import SyntheticExamples
from workbench.lab import Lab
from workbench.retrieve.embed import Similarity
from workbench.retrieve.lexical import Lexical
from workbench.sql.context_text import examples_text
from workbench.types import Candidate, Context, Example


@dataclass(frozen=True, slots=True)
class NearestExamples:
    """A generator whose prompt shows the training examples with the most similar questions.

    examples: the training set; of equally similar examples the earlier one comes first.
    shown: how many of them the prompt shows.
    """

    model: str
    examples: tuple[Example, ...] = field(repr=False)
    shown: int = 75
    temperature: float = 0.0
    similarity: Similarity = field(default_factory=Lexical)

    def __post_init__(self) -> None:
        at_least(0, shown=self.shown)

    def __call__(self, lab: Lab, context: Context) -> tuple[Candidate, ...]:
        questions = [example.question for example in self.examples]
        (scores,) = self.similarity(lab, [context.question.text], questions, collection=True)
        order = sorted(range(len(questions)), key=lambda index: (-scores[index], index))
        nearest = [self.examples[index] for index in order[: self.shown]]
        reply = lab.ask(self, SyntheticExamples.prompt, context, examples=examples_text(nearest))
        return read_candidates("training_examples", [reply])


@dataclass(frozen=True, slots=True)
class GivenExamples:
    """A generator whose prompt shows examples that another system wrote for the question.

    examples: by question id, as `train.examples.examples_of` reads them from a file.
    shown: how many of them the prompt shows, the first ones.
    """

    model: str
    examples: Mapping[str, tuple[Example, ...]] = field(repr=False)
    shown: int = 75
    temperature: float = 0.0

    def __post_init__(self) -> None:
        at_least(0, shown=self.shown)

    def __call__(self, lab: Lab, context: Context) -> tuple[Candidate, ...]:
        first = self.examples.get(context.question.id, ())[: self.shown]
        reply = lab.ask(self, SyntheticExamples.prompt, context, examples=examples_text(first))
        return read_candidates("given_examples", [reply])
