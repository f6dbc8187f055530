"""CHASE-SQL (Pourreza et al., ICLR 2025), as figure 1 draws it.

1. Retrieve: a model extracts keywords, and similar values are looked up in the database (section
   2.2).
2. Generate: three generators propose seven candidates each (section 2.3).
3. Fix: candidates that fail or return no rows are repaired, three attempts at most (section 2.4,
   algorithm 4).
4. Select: every two candidates whose results differ are compared (section 2.5, algorithm 3).

What departs from the paper:
- Where it names no number: all generators sample at temperature 0.8, and examples are written at 0.
- The paper names no embedding model; similarity is by letters unless an experiment names one.
- Figure 27 does not say how many examples to write; our prompt does, so that both kinds come to 75.
  A model that writes more than it was asked for is cut to that number.
- A repair that comes back unchanged is the last: the same prompt would get the same reply.
- Candidates that stay broken leave the pool (algorithm 4), but stay in the record; if all do, all
  are compared.
- A judge's reply without a letter gives no point. Ties go to the result that more candidates share,
  then to a draw.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import combinations, permutations
from typing import Literal

from workbench import replies
from workbench.errors import at_least, one_of
from workbench.lab import Lab
from workbench.retrieve.retrieval import Keywords, Lexical, Retrieval, Similarity
from workbench.sql.schema import union_schema
from workbench.systems.generate import Generate
from workbench.systems.prune import FilterColumns
from workbench.systems.repair import Repair
from workbench.systems.select import (
    choose,
    drawn,
    representatives,
    result_of,
    shown,
)
from workbench.systems.system import System
from workbench.types import (
    SUSPECT,
    Comparison,
    Context,
    Example,
    Request,
    Selection,
    Suspect,
    Trial,
)


def chase_sql(
    model: str = "embedded/parser",
    judge: str = "",
    samples: int = 7,
    temperature: float = 0.8,
    attempts: int = 3,
    filtering: str = "",
) -> System:
    """Return CHASE-SQL with `samples` candidates of each generator.

    judge: the fine-tuned selector of section 2.5, by default `model`.
    filtering: a cheaper model that selects the columns for synthetic examples.

    >>> divide_and_conquer, query_plan, synthetic_examples = wb.chase_sql().generate
    >>> without_plan = replace(wb.chase_sql(), generate=(divide_and_conquer, synthetic_examples))
    >>> len(without_plan.generate)
    2
    """
    generator = partial(
        Generate, model=model, temperature=temperature, samples=samples, shuffle=True
    )
    columns = FilterColumns(filtering or model)
    examples = Synthetic(model, columns=columns)  # algorithm 2
    return System(
        "CHASE-SQL",
        retrieve=Retrieval(Keywords(model), descriptions=None),  # section 2.2
        prune=(),
        generate=(  # section 2.3
            generator("generate/divide_and_conquer", data={"shots": 4}),  # algorithm 1
            generator("generate/query_plan", data={"shots": 4}),
            generator("generate/synthetic_examples", examples=examples),
        ),
        # Algorithm 4.
        fix=(Repair("fix/fixer", model, attempts, read=replies.final_sql),),
        select=Pairwise(judge or model),  # algorithm 3
    )


@dataclass(frozen=True)
class Synthetic:
    """Online synthetic examples (algorithm 2, figures 26 and 27), in the order of their writing.

    by_feature, by_column: how many about SQL features, over the whole schema (guideline Rf), and
        how many about the filtered schema, after examples of another database (guideline Rt).
    columns: the step of pruning that filters the schema; None uses the whole.
    shots: how many of the other database's ten examples are shown.
    """

    model: str
    by_feature: int = 38
    by_column: int = 37
    columns: Callable[[Lab, Context], Context] | None = None
    shots: int = 10
    temperature: float = 0.0

    def __post_init__(self) -> None:
        at_least(0, by_feature=self.by_feature, by_column=self.by_column)
        one_of(range(11), shots=self.shots)

    def __call__(self, lab: Lab, context: Context) -> tuple[Example, ...]:
        prompts: list[tuple[str, Context, int]] = []
        if self.by_feature:
            prompts.append(("generate/examples_by_feature", context, self.by_feature))
        if self.by_column:
            filtered = self.columns(lab, context) if self.columns else context
            prompts.append(("generate/examples_by_column", filtered, self.by_column))
        requests = []
        counts = []
        for prompt, seen, count in prompts:
            request = lab.request(self, prompt, seen, count=count, shots=self.shots)
            requests.append(request)
            counts.append(count)
        answers = lab.ask_many(requests, replies.examples)
        written: list[Example] = []
        for count, answer in zip(counts, answers, strict=True):
            written += (answer.value or [])[:count]
        return tuple(written)


@dataclass(frozen=True)
class Nearest:
    """Examples of a training set with the most similar questions, the nearest first (table 9)."""

    examples: tuple[Example, ...] = field(repr=False)
    shown: int = 75
    similarity: Similarity = field(default_factory=Lexical)

    def __call__(self, lab: Lab, context: Context) -> tuple[Example, ...]:
        questions = [example.question for example in self.examples]
        (scores,) = self.similarity(
            lab, [context.question.text], questions, collection=True
        )
        nearest = sorted(range(len(questions)), key=lambda index: -scores[index])
        return tuple(self.examples[index] for index in nearest[: self.shown])


@dataclass(frozen=True)
class ExamplesByQuestion:
    """Examples that another system wrote, by question id (table 9: CodeS).

    shown: how many of a question's the prompt shows.
    """

    examples: Mapping[str, tuple[Example, ...]] = field(repr=False, hash=False)
    shown: int = 75

    def __call__(self, lab: Lab, context: Context) -> tuple[Example, ...]:
        del lab  # no model is asked
        return self.examples.get(context.question.id, ())[: self.shown]


def pool(trials: Sequence[Trial], suspect: Suspect) -> list[int]:
    """Return the candidates that algorithm 4 keeps: those with a query that no fixer gave up on.

    If none is left, all with a query are kept.
    """
    queries = [i for i, trial in enumerate(trials) if trial.candidate.sql.strip()]
    kept = []
    for i in queries:
        given_up = trials[i].repaired_from and trials[i].result.is_suspect(suspect)
        if not given_up:
            kept.append(i)
    return kept or queries


@dataclass(frozen=True)
class Pairwise:
    """Algorithm 3: the candidate that wins most comparisons; a trial's score is its points.

    Candidates with one result win against each other without a call. Equal queries make equal
    prompts, so they share one call. The judge sees the union of the schemas that both queries use
    (figure 23).

    by: what is compared: every "candidate", or one query for each "result", which is ours and saves
        most calls.
    orders: "both" orders of a pair, or "one" drawn order (section 2.5: about two points worse).
    suspect: the results that a fixer repairs.
    """

    model: str
    temperature: float = 0.0
    by: Literal["candidate", "result"] = "candidate"
    orders: Literal["both", "one"] = "both"
    suspect: Suspect = "empty"

    def __post_init__(self) -> None:
        one_of(("candidate", "result"), by=self.by)
        one_of(("both", "one"), orders=self.orders)
        one_of(SUSPECT, suspect=self.suspect)

    def __call__(
        self, lab: Lab, context: Context, trials: Sequence[Trial]
    ) -> Selection:
        stands_for = self._stand_for(context, trials)
        in_orders = permutations if self.orders == "both" else combinations
        pairs = list(in_orders(stands_for, 2))
        result = {i: result_of(trials[i]) for i in stands_for}
        sql = {i: trials[stands_for[i]].candidate.sql for i in stands_for}
        # Equal queries share one call.
        calls: dict[tuple[str, str], tuple[int, int]] = {}
        for a, b in pairs:
            if result[a] != result[b]:
                calls.setdefault((sql[a], sql[b]), (stands_for[a], stands_for[b]))
        requests = [
            self.request(lab, context, trials[a], trials[b]) for a, b in calls.values()
        ]
        answers = dict(zip(calls, lab.ask_many(requests, replies.letter), strict=True))

        points = [0] * len(trials)
        for a, b in pairs:
            if result[a] == result[b]:
                points[a] += 1
                continue
            letter = answers[sql[a], sql[b]].value
            if letter:  # an unread reply gives no point
                points[a if letter == "A" else b] += 1

        comparisons = []
        keys: list[str] = []
        for queries, (first, second) in calls.items():
            answer = answers[queries]
            winner = None
            if answer.value:
                winner = first if answer.value == "A" else second
            comparisons.append(Comparison(first, second, winner))
            keys += answer.keys
        return choose("pairwise", context, trials, points, comparisons, keys)

    def _stand_for(self, context: Context, trials: Sequence[Trial]) -> dict[int, int]:
        """Return for each trial that is compared the one whose query the judge sees.

        The order is drawn. The candidates of a result stand in the place of its query, so that one
        order is one for all of them.
        """
        players = drawn(context, trials, pool(trials, self.suspect))
        if self.by == "candidate":
            return {i: i for i in players}
        representative = representatives(trials, players)
        stands_for = {i: representative[result_of(trials[i])] for i in players}

        def place_of_query(i: int) -> int:
            return players.index(stands_for[i])

        in_order = sorted(players, key=place_of_query)
        return {i: stands_for[i] for i in in_order}

    def request(
        self, lab: Lab, context: Context, first: Trial, second: Trial
    ) -> Request:
        """Return the call that compares two trials in this order.

        Judges are tuned on the same prompt.
        """
        a, b = shown(first), shown(second)
        schema = union_schema(context.schema, (a["query"], b["query"]))
        return lab.request(
            self,
            "select/pairwise",
            replace(context, schema=schema),
            query_a=a["query"],
            result_a=a["result"],
            query_b=b["query"],
            result_b=b["result"],
        )


@dataclass(frozen=True)
class Ranker:
    """The ranker agent of section 3.2 (table 7): one call ranks all candidates.

    The score of rank n is 1/n. The paper prints no prompt. Equal queries are shown once, in a
    drawn order.
    """

    model: str
    temperature: float = 0.0
    suspect: Suspect = "empty"

    def __post_init__(self) -> None:
        one_of(SUSPECT, suspect=self.suspect)

    def __call__(
        self, lab: Lab, context: Context, trials: Sequence[Trial]
    ) -> Selection:
        players = drawn(context, trials, pool(trials, self.suspect))
        distinct = {trials[i].candidate.sql: trials[i] for i in players}
        queries = list(distinct)
        score_of = dict.fromkeys(queries, 0.0)
        keys: tuple[str, ...] = ()
        if len(set(map(result_of, distinct.values()))) > 1:
            read = partial(replies.ranking, count=len(queries))
            data = {"candidates": list(map(shown, distinct.values()))}
            answer = lab.ask(self, "select/ranker", context, read, **data)
            keys = answer.keys
            for rank, number in enumerate(answer.value or (), 1):
                score_of[queries[number - 1]] = 1 / rank
        scores = [score_of.get(trial.candidate.sql, 0) for trial in trials]
        return choose("ranker", context, trials, scores, (), keys)
