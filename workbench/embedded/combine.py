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
from functools import cache, lru_cache
from heapq import heappushpop
from pathlib import Path
from typing import NamedTuple

from workbench.embedded.heads import OPERATIONS, Head, heads
from workbench.embedded.index import Index, Pieces, Tree
from workbench.embedded.link import Features, Part, Reading, added, read_question, union
from workbench.embedded.tests import Tests, sets, tests
from workbench.embedded.words import tokens
from workbench.sql.schema_text import quote
from workbench.types import Context

WEIGHTS_FILE = Path(__file__).with_name("weights.json")  # written by learn
WEIGHTS: dict[str, float] = json.loads(WEIGHTS_FILE.read_text(encoding="utf-8"))
_HELD = 60  # the best scores so far; a draft below all of them is dropped
_NEST, _PLAN, _USUAL = 2.0, -1.0, 4.0  # what the ways of thinking and the examples add to a score
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


class _Draft(NamedTuple):
    score: float
    head: Head
    tests: Tests
    tree: Tree
    features: tuple[Features, ...]  # of the whole
    left: int  # the tokens that nothing explains


@lru_cache(maxsize=64)
def hypotheses(
    context: Context, *, nest: bool = False, plan: bool = False
) -> tuple[Hypothesis, ...]:
    """The queries that the question may ask for, the most probable first, no two the same.

    `nest` favours nested queries, `plan` few joins, and the prompt's examples the forms of SQL that they have.
    """
    usual, found = _usual_forms(context), []
    for one in _plain(replace(context, examples=())):
        likely = [p if re.search(form, one.sql) else 1 - p for form, p in usual]
        way = _NEST * (nest and "(SELECT" in one.sql) + _PLAN * plan * one.sql.count(" JOIN ")
        example = _USUAL * (sum(likely) / len(likely) - 0.5) if likely else 0.0
        found.append(replace(one, score=one.score + way + example))
    return tuple(sorted(found, key=lambda h: (-h.score, h.sql)))


@lru_cache(maxsize=64)
def _plain(context: Context) -> list[Hypothesis]:
    return propose(context, WEIGHTS)


def propose(context: Context, weights: Mapping[str, float], kept: int = 40) -> list[Hypothesis]:
    """The queries that heads and tests make up together, under any weights."""
    reading = read_question(context, weights)
    made, found = reading.made, dict[str, Hypothesis]()
    for draft in sorted(_drafts(reading), key=lambda d: -d.score):
        head, tests, tree = draft.head, draft.tests, draft.tree
        sql = render(made, head, tests.parts, tree, distinct="distinct" in reading.cues)
        if sql in found:
            continue
        features = added(head.features, *draft.features, *(part.features for part in tests.parts))
        fields = head.fields.union(tests.fields, *(p for e in tree.edges for p in e.pairs))
        used = {stem for i in fields for stem in made.fields[i].about}.union(
            *(made.sheets[t].words for t in tree.tables)
        )
        left = (t for i, t in enumerate(reading.text) if draft.left >> i & 1 and t.stem not in used)
        tables = tuple(made.sheets[t].name for t in tree.tables)
        columns, missed = tuple(map(made.where, sorted(fields))), tuple(t.text for t in left)
        found[sql] = Hypothesis(sql, draft.score, features, tables, columns, missed)
        if len(found) == kept:
            break
    return list(found.values())


def _drafts(reading: Reading) -> list[_Draft]:
    """Heads with sets of tests, both from the best on.

    The product of the ranks is bounded, not each rank: a good head is tried with all sets and a poor one with the
    best sets only. A heap of the best scores gives the bar that a draft must pass.
    """
    explained = sum(1 << i for i in _gains(reading))

    @cache  # the same few sets of tables, and of tokens left over, come back hundreds of times
    def ways(used: frozenset[int]) -> list[tuple[Tree, Features, float, int]]:
        return [(tree, *_joined(reading, tree, len(used))) for tree in reading.made.trees(used)]

    @cache
    def unexplained(mask: int) -> tuple[Features, float]:
        """The cost of tokens that nothing explains. Without it the shortest query would always win."""
        lost = (i for i in range(mask.bit_length()) if mask >> i & 1)
        features = added(*({f"left.{_kind_of_loss(reading, i)}": 1.0} for i in lost))
        return features, reading.score(features)

    found: list[_Draft] = []
    best = [-math.inf] * _HELD
    tested_sets = sets(tests(reading), _gains(reading))
    for rank, head in enumerate(heads(reading), 1):
        for tested in tested_sets[: _COMBINED // rank]:
            if any(p.pieces in head.inner_tests for p in tested.parts):
                continue  # a total of the hint already holds this test
            pair = _paired(reading, head, tested, explained)
            score = head.score + tested.worth + reading.score(pair)
            if score < best[0]:
                continue  # joins and unexplained words nearly always cost: it would fall further
            for tree, joined, worth, mask in ways(head.tables | tested.tables):
                rest = explained & ~(head.mask | tested.mask | mask)
                left, cost = unexplained(rest)
                single = {"group.degenerate": float(_single_rows(reading, head, tree))}
                whole = score + worth + cost + reading.score(single)
                if heappushpop(best, whole) < whole:
                    features = (pair, left, joined, single)
                    found.append(_Draft(whole, head, tested, tree, features, rest))
    return found


def _paired(reading: Reading, head: Head, tests: Tests, explained: int) -> Features:
    """The features of a head with a set of tests, however their tables are joined."""
    features: Features = {
        "overlap": (head.mask & tests.mask & explained).bit_count(),
        "tests.selected": not head.selected.isdisjoint(tests.columns),
        "tests.of_having": bool(head.having and head.mask & tests.mask),
    }
    if len({*tests.columns}) < len(tests.columns):
        features["either.asked" if "either" in reading.cues else "either.unasked"] = 1.0
    for name, kinds, answers in OPERATIONS:
        cues = reading.all_cues(*kinds) if answers.isdisjoint(head.operations) else ()
        features |= {f"{name}.missed": 1.0} if any(c.mask & ~tests.mask for c in cues) else {}
    hints = head.hints | tests.hints
    for clause in reading.definitions:
        inner = any(f.pieces in head.inner_tests for f in clause.formulas)
        if not clause.formulas or hints >> clause.number & 1 or inner:
            continue
        kind = clause.formulas[0].kind
        if kind == "row" and any(i in head.fields or i in tests.fields for i in clause.fields):
            continue  # its columns are used, if not through the hint
        name = "unused.row" if kind == "literal" else f"unused.{kind}"
        # A total is the whole of what is asked; a test may be about words that mean something else.
        sure = 1.0 if kind in {"total", "best", "group_test"} else 0.3 + 0.7 * clause.fit
        features[name] = features.get(name, 0.0) + sure
    return features


def _joined(reading: Reading, tree: Tree, used: int) -> tuple[Features, float, int]:
    """The features and the score of a way to join tables, and the tokens that name its tables."""
    parents = [edge.parent for edge in tree.edges]
    named = (reading.fields.get(a) for e in tree.edges for a, _ in e.pairs)
    features: Features = {
        "tree.used": used - 1.0,
        "tree.between": len(tree.tables) - used,
        # Tables that several others refer to: each multiplies the rows of the others.
        "tree.fan": len(parents) - len(set(parents)),
        "tree.key_said": sum(min(1.0, found[0].strength) for found in named if found),
    }
    mentions = (m for t in tree.tables for m in reading.tables.get(t, ()))
    return features, reading.score(features), union(m.mask for m in mentions if m.strength >= 0.4)


def _gains(reading: Reading) -> dict[int, float]:
    """The gain of explaining each token: the cost of leaving it, with the sign turned."""
    kinds = {i: _kind_of_loss(reading, i) for i in range(len(reading.text))}
    return {i: -reading.weights.get(f"left.{kind}", 0.0) for i, kind in kinds.items() if kind}


def _kind_of_loss(reading: Reading, place: int) -> str:
    """The kind of token that would be left unexplained; "" for one that need not be explained."""
    token = reading.text[place]
    if token.quoted or token.capital:
        return "name" if token.low.isalnum() and token.content else ""
    if token.number is not None:
        return "number" if token.low != "one" else ""
    if not token.content:
        return ""
    known = "word" if token.stem in reading.made.words else "other"
    return "column" if reading.named >> place & 1 else known


def _single_rows(reading: Reading, head: Head, tree: Tree) -> bool:
    """Does every group hold one row, since no joined table refers to the one that is grouped by its key?"""
    if not head.group:
        return False
    sheet = reading.made.sheets[reading.made.fields[head.group[0]].table]
    return head.group == sheet.key and not any(e.parent == sheet.id for e in tree.edges)


def _usual_forms(context: Context) -> list[tuple[str, float]]:
    """The share of the prompt's examples that have each form of SQL; empty without examples.

    An example counts the more, the more words its question shares with the one that is asked.
    """
    asked, *others = (
        {t.stem for t in tokens(text) if t.content}
        for text in (context.question.text, *(example.question for example in context.examples))
    )
    near = [0.05 + len(asked & o) / ((len(asked) * len(o)) ** 0.5 or 1.0) for o in others]
    queries = [example.sql for example in context.examples]
    return [
        (
            form,
            sum(n * bool(re.search(form, q)) for n, q in zip(near, queries, strict=True))
            / sum(near),
        )
        for form in (_FORMS if queries else ())
    ]


def render(made: Index, head: Head, tests: Sequence[Part], tree: Tree, *, distinct: bool) -> str:
    """The query in the manner of BIRD: T1, T2, INNER JOIN. Equalities on one column are alternatives."""
    aliases = {tree.tables[0]: "T1"} if tree.edges else {}

    def column(number: int) -> str:
        alias = aliases.get(made.fields[number].table, "")
        return f"{alias}{'.' * bool(alias)}{quote(made.fields[number].name)}"

    def text(pieces: Pieces) -> str:
        return "".join(p if isinstance(p, str) else column(p) for p in pieces)

    source = quote(made.sheets[tree.tables[0]].name) + " AS T1" * bool(aliases)
    while aliases and len(aliases) < len(tree.tables):
        for edge in tree.edges:
            new = {edge.child, edge.parent} - aliases.keys()
            if len(new) == 1:
                (table,) = new
                aliases[table] = f"T{len(aliases) + 1}"
                on = " AND ".join(f"{column(a)} = {column(b)}" for a, b in edge.pairs)
                name = quote(made.sheets[table].name)
                source += f" INNER JOIN {name} AS {aliases[table]} ON {on}"
    groups: dict[int, list[str]] = {}
    for number, part in enumerate(tests):
        equal = part.column >= 0 and str(part.pieces[-1]).startswith(" = ")
        groups.setdefault(part.column if equal else -1 - number, []).append(text(part.pieces))
    where = [f"({' OR '.join(t)})" if t[1:] else t[0] for t in groups.values()]
    rows = f"{source}{' WHERE ' * bool(where)}{' AND '.join(where)}"
    order = text(head.order)
    if head.nested:
        inner = f"{order} = (SELECT {'MAX' if head.descending else 'MIN'}({order}) FROM {rows})"
        rows = f"{source} WHERE {' AND '.join([*where, inner])}"
    once = "DISTINCT " * (distinct and head.shape == "list")
    sql = f"SELECT {once}{', '.join(map(text, head.select))} FROM {rows}"
    sql += f" GROUP BY {', '.join(map(column, head.group))}" if head.group else ""
    sql += f" HAVING {text(head.having)}" if head.having else ""
    if head.order and not head.nested:
        sql += f" ORDER BY {order}{' DESC' * head.descending} LIMIT {head.limit}"
    return sql


@lru_cache(maxsize=64)
def spoken(context: Context) -> Mapping[tuple[str, str], float]:
    """The probability that question and hint speak of a column, by name or by a value, for each column."""
    reading = read_question(context, WEIGHTS)
    hinted = (i for clause in reading.definitions for i in clause.fields)
    found = dict.fromkeys(map(reading.made.where, hinted), 1.0)
    for column, mentions in reading.fields.items():
        where = reading.made.where(column)
        found[where] = found.get(where, 0.0) + mentions[0].strength
    for part in tests(reading):
        if part.column >= 0 and part.score > 0:
            where = reading.made.where(part.column)
            found[where] = max(found.get(where, 0.0), part.score)
    return found


def shares(scores: Iterable[float]) -> list[float]:
    """The softmax of the scores: what part of the probability each has."""
    scores = [*scores]
    best = max(scores, default=0.0)  # subtracted, since exp() of a large score would overflow
    weights = [math.exp(score - best) for score in scores]
    return [weight / sum(weights) for weight in weights]


def noisy(scores: Iterable[float], temperature: float, seed: str) -> list[float]:
    """The scores with noise (Gumbel's): the highest of them is a draw by the scores' shares at the temperature."""
    chance = random.Random(seed)  # noqa: S311  no secret
    return [s - temperature * math.log(chance.expovariate(1.0) or 1e-300) for s in scores]


def draw(scores: Iterable[float], temperature: float, seed: str) -> int:
    """The place of one of the scores, drawn by its share; at temperature 0 that of the highest."""
    found = noisy(scores, temperature, seed)
    return found.index(max(found))
