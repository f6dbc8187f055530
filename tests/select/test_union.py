"""What the union of two queries' schemas leaves of a prompt, on pairs that a judge is asked about."""

from itertools import combinations

import pytest

from workbench.benchmarks.bundled import load_bundled
from workbench.generate.divide_and_conquer import DivideAndConquer
from workbench.lab import Lab
from workbench.llm.cache import Cache
from workbench.llm.client import Client
from workbench.select.groups import groups
from workbench.sql.executor import Executor
from workbench.sql.schema import union_schema
from workbench.sql.schema_text import create_table_text
from workbench.systems.system import run_candidates
from workbench.types import Context

EIGHT = DivideAndConquer("embedded/parser", temperature=0.8, samples=8)


@pytest.fixture(scope="module")
def pairs(tmp_path_factory):
    """For each pair of candidates of the embedded model that differ in result: the schema, and their union."""
    benchmark = load_bundled("dev")
    found = []
    with (
        Cache(tmp_path_factory.mktemp("union") / "lab.sqlite") as store,
        Executor(store, workers=1) as executor,
    ):
        lab = Lab(Client(store), executor, benchmark.database)
        for question in benchmark.questions[::9]:
            schema = lab.schema(question.db_id)
            trials = run_candidates(lab, question, EIGHT(lab, Context(question, schema)))
            queries = [trials[group.representative].candidate.sql for group in groups(trials, "")]
            found += [(schema, union_schema(schema, pair)) for pair in combinations(queries, 2)]
    return found


def test_the_unions_text_is_at_least_eight_times_smaller_than_the_schemas(pairs):
    """On all 1,075 pairs of 3 x 7 candidates for the dev split 11.5 times, on train's 864 11.0."""
    whole, union = (sum(len(create_table_text(s)) for s in of) for of in zip(*pairs, strict=True))
    assert len(pairs) > 20
    assert whole > 8 * union


def test_a_union_is_never_empty_nor_wider_than_the_schema(pairs):
    assert all(set(s.columns()) >= set(union.columns()) != set() for s, union in pairs)
