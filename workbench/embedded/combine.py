"""From a context to SQL: the queries that a question may ask for, each with its score.

A score is a sum of features times weights (log-linear): exp(score) is, up to a factor, the probability that the
model gives a query. A head has a score of its own and so has each test; here is what can only be said of the whole:
which words of the question nothing explains, which clauses of the hint nothing uses, how far-fetched the joins are.
"""

import json
import math
import random
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache, partial
from pathlib import Path
from statistics import fmean

from workbench.embedded.link import Features, Part, Reading, added, union
from workbench.embedded.parts import Head, Tests, heads, sets, tests
from workbench.embedded.words import Index, Pieces, Tree
from workbench.sql.reading import quote
from workbench.types import Context

WEIGHTS_FILE = Path(__file__).with_name("weights.json")  # written by learn
WEIGHTS: dict[str, float] = json.loads(WEIGHTS_FILE.read_text(encoding="utf-8"))
_USUAL = 4.0  # what a query's forms add to its score, if all examples have them
_COMBINED = 90  # the product of a head's rank and a set's, from which a pair is not tried
_FORMS = (
    r"COUNT\(", r"AVG\(", r"SUM\(", r"GROUP BY", r"LIMIT \d|(?:MAX|MIN)\(", r"\(\s*SELECT\b", r"\)\s*/|\* 100\b", "DISTINCT"
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Hypothesis:
    """A query, the log of its probability up to a constant, and the features that it is the sum of."""

    sql: str
    score: float
    features: Mapping[str, float]
    tables: tuple[str, ...]
    columns: tuple[tuple[str, str], ...]
    missed: tuple[str, ...]  # words of the question that nothing of the query explains


@lru_cache(maxsize=64)
def hypotheses(context: Context) -> list[Hypothesis]:
    """The queries that the question may ask for, the most probable first, no two the same.

    The prompt's examples favour the forms of SQL that they have.
    """
    if not context.examples:
        return propose(_reading(context))
    examples, found = [_forms(example.sql) for example in context.examples], []
    usual = [fmean(have) for have in zip(*examples, strict=True)]
    for one in hypotheses(replace(context, examples=())):
        has = fmean(p if form else 1 - p for p, form in zip(usual, _forms(one.sql), strict=True))
        found.append(replace(one, score=one.score + _USUAL * (has - 0.5)))
    return sorted(found, key=lambda h: (-h.score, h.sql))


@lru_cache(maxsize=8192)  # prompts show the same examples
def _forms(sql: str) -> list[bool]:
    return [bool(re.search(form, sql)) for form in _FORMS]


@lru_cache(maxsize=8)  # what is spoken of and the hypotheses have the same
def _reading(context: Context) -> Reading:
    return Reading(context, WEIGHTS)


def propose(reading: Reading, kept: int = 40) -> list[Hypothesis]:
    """The queries that heads and tests make up together.

    The product of their ranks is bounded, not each rank: a good head is tried with all sets of tests and a poor one
    with the best sets only.
    """
    made, connect = reading.made, cache(partial(_joined, reading))
    gains = {i: -reading.weights.get(kind, 0.0) for i, kind in reading.losses.items()}
    drafts: list[tuple[float, Head, Tests, Tree, Features, list[int]]] = []
    tested_sets = sets(tests(reading), gains)
    for rank, head in enumerate(heads(reading), 1):
        for tested in tested_sets[: _COMBINED // rank]:
            joined = connect(head.tables | tested.tables)
            # A total of the hint may already hold a test.
            if joined and not any(part.pieces in head.inner_tests for part in tested.parts):
                whole, left = _whole(reading, head, tested, joined)
                score = head.score + tested.worth + reading.score(whole)
                drafts.append((score, head, tested, joined[0], whole, left))
    found: dict[str, Hypothesis] = {}
    for score, head, tested, tree, whole, left in sorted(drafts, key=lambda d: -d[0]):
        if len(found) == kept:
            break
        sql = render(made, head, tested.parts, tree, distinct="distinct" in reading.cues)
        if sql not in found:
            features = added(head.features, whole, *(part.features for part in tested.parts))
            fields = head.fields.union(tested.fields, *(p for e in tree.edges for p in e.pairs))
            used = {stem for i in fields for stem in made.fields[i].about}.union(
                *(made.sheets[t].words for t in tree.tables)
            )
            missed = tuple(t.text for t in (reading.text[i] for i in left) if t.stem not in used)
            tables = tuple(made.sheets[t].name for t in tree.tables)
            columns = tuple(map(made.where, sorted(fields)))
            found[sql] = Hypothesis(sql, score, features, tables, columns, missed)
    return list(found.values())


def _joined(reading: Reading, tables: frozenset[int]) -> tuple[Tree, Features, int] | None:
    """The joins that connect these tables, their features, and the tokens that name a table of theirs."""
    if not (tree := reading.made.tree(tables)):
        return None
    keys = (reading.fields.get(a) for e in tree.edges for a, _ in e.pairs)
    features: Features = {
        "tree.used": len(tables) - 1.0,
        "tree.between": float(len(tree.tables) - len(tables)),
        "tree.key_said": round(sum(min(1.0, found[0].strength) for found in keys if found), 6),
    }
    mentions = (m for t in tree.tables for m in reading.tables.get(t, ()) if m.strength >= 0.4)
    return tree, features, union(m.mask for m in mentions)


def _whole(
    reading: Reading, head: Head, tests: Tests, joined: tuple[Tree, Features, int]
) -> tuple[Features, list[int]]:
    """The features of a query beyond those of its parts, and the tokens that nothing explains."""
    (tree, joins, named), losses = joined, reading.losses
    both = head.mask & tests.mask
    features: Features = {
        "overlap": float(sum(both >> i & 1 for i in losses)) if both else 0.0,
        "tests.selected": float(not head.selected.isdisjoint(tests.columns)),
        **joins,
    }
    for name, cues, answers in reading.asked:
        if cues & ~tests.mask and answers.isdisjoint(head.operations):
            features[f"{name}.missed"] = 1.0
    hints = head.hints | tests.hints
    for clause in reading.definitions:
        if clause.formulas and not hints >> clause.number & 1:
            kind = clause.formulas[0].kind
            inner = head.inner_tests and any(f.pieces in head.inner_tests for f in clause.formulas)
            fields = clause.fields if kind == "row" else ()  # shown, if not through the hint
            if not (inner or any(i in head.fields or i in tests.fields for i in fields)):
                # A total is the whole of what is asked; a test may be about words that mean something else.
                sure = 1.0 if kind in {"total", "best", "group_test"} else 0.3 + 0.7 * clause.fit
                features[f"unused.{kind}"] = features.get(f"unused.{kind}", 0.0) + sure
    if head.group:  # by a key that no joined table refers to: every group holds one row
        sheet = reading.made.sheets[reading.made.fields[head.group[0]].table]
        refers = any(edge.parent == sheet.id for edge in tree.edges)
        features["group.degenerate"] = float(head.group == sheet.key and not refers)
    mask = head.mask | tests.mask | named
    left = [i for i in losses if not mask >> i & 1]
    for i in left:
        features[losses[i]] = features.get(losses[i], 0.0) + 1.0
    return features, left


def render(made: Index, head: Head, tests: Sequence[Part], tree: Tree, *, distinct: bool) -> str:
    """The query in the manner of BIRD: T1, T2, INNER JOIN. Equalities on one column are alternatives."""
    aliases = {tree.tables[0]: "T1"} if tree.edges else {}

    def column(number: int) -> str:
        alias = aliases.get(made.fields[number].table, "")
        return f"{alias}{'.' * bool(alias)}{quote(made.fields[number].name)}"

    def text(pieces: Pieces) -> str:
        return "".join(p if isinstance(p, str) else column(p) for p in pieces)

    source = quote(made.sheets[tree.tables[0]].name) + " AS T1" * bool(aliases)
    for edge in tree.edges:  # each leads from the tables so far to one more
        (table,) = {edge.child, edge.parent} - aliases.keys()
        aliases[table] = f"T{len(aliases) + 1}"
        on = " AND ".join(f"{column(a)} = {column(b)}" for a, b in edge.pairs)
        source += f" INNER JOIN {quote(made.sheets[table].name)} AS {aliases[table]} ON {on}"
    groups: dict[int, list[str]] = {}
    for number, part in enumerate(tests):
        equal = part.column >= 0 and str(part.pieces[-1]).startswith(" = ")
        groups.setdefault(part.column if equal else -1 - number, []).append(text(part.pieces))
    where = [f"({' OR '.join(t)})" if t[1:] else t[0] for t in groups.values()]
    rows = f"{source}{' WHERE ' * bool(where)}{' AND '.join(where)}"
    once = "DISTINCT " * (distinct and head.shape == "list")
    sql = f"SELECT {once}{', '.join(map(text, head.select))} FROM {rows}"
    sql += f" GROUP BY {', '.join(map(column, head.group))}" if head.group else ""
    sql += f" HAVING {text(head.having)}" if head.having else ""
    if head.order:
        sql += f" ORDER BY {text(head.order)}{' DESC' * head.descending} LIMIT {head.limit}"
    return sql


@lru_cache(maxsize=64)
def spoken(context: Context) -> Mapping[tuple[str, str], float]:
    """The probability that question and hint speak of a column, by name or by a value, for each column."""
    reading = _reading(context)
    found = {column: mentions[0].strength for column, mentions in reading.fields.items()}
    for part in tests(reading):
        if part.column >= 0 and part.score > 0:
            found[part.column] = max(found.get(part.column, 0.0), part.score)
    for clause in reading.definitions:
        found |= {column: 1.0 + found.get(column, 0.0) for column in clause.fields}
    return {reading.made.where(column): sure for column, sure in found.items()}


def shares(scores: Iterable[float]) -> list[float]:
    """The softmax of the scores: what part of the probability each has."""
    scores = [*scores]
    best = max(scores, default=0.0)  # subtracted, since exp() of a large score would overflow
    # The last digit of exp() and log() differs between processors, and that of sum() between Pythons.
    weights = [round(math.exp(score - best), 9) for score in scores]
    total = math.fsum(weights)
    return [round(weight / total, 9) for weight in weights]


def noisy(scores: Iterable[float], temperature: float, seed: str) -> list[float]:
    """The scores with noise (Gumbel's): the highest of them is a draw by the scores' shares at the temperature."""
    scores = [*scores]
    chance = random.Random(seed)  # noqa: S311  no secret
    noise = [math.log(chance.expovariate(1.0) or 1e-300) for _ in scores]
    return [round(s - temperature * n, 6) for s, n in zip(scores, noise, strict=True)]


def draw(scores: Iterable[float], temperature: float, seed: str) -> int:
    """The place of one of the scores, drawn by its share; at temperature 0 that of the highest."""
    found = noisy(scores, temperature, seed)
    return found.index(max(found))
