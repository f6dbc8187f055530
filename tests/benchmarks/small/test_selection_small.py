"""The measurement of selection, small: calls are counted as pairwise selection makes them."""

from tests.benchmarks.measure.selection import Calls, calls
from workbench.benchmarks.bird import load_bird
from workbench.benchmarks.predictions import file_names, load_pool, prediction_files
from workbench.benchmarks.spider import load_spider
from workbench.lab import Lab
from workbench.llm.cache import Cache
from workbench.llm.client import Client
from workbench.llm.scripted import scripted
from workbench.pool import pool_of
from workbench.select.pairwise import Pairwise
from workbench.sql.executor import Executor
from workbench.systems.replay import select_from
from workbench.types import Candidate, Trial

QUERIES = ["SELECT 4"] * 4 + ["SELECT 5"] * 2 + ["SELECT 6", "SELECT gone"]


def test_calls_are_counted_as_each_form_makes_them(tiny, tmp_path):
    benchmark = load_bird(tiny.write_bird(tmp_path))
    pool = pool_of(("0", Trial(Candidate(sql, f"g{n}"))) for n, sql in enumerate(QUERIES))
    with Cache(tmp_path / "lab.sqlite") as store, Executor(store, workers=1) as executor:
        lab = Lab(Client(store, send=scripted(otherwise="A")), executor, benchmark.database)

        def selected(**form):
            (found,) = select_from(pool, Pairwise("m/x", **form), lab, benchmark.questions)
            return found

        by_result = selected()
        assert calls(by_result) == Calls(
            literal=len(selected(by="candidate").comparisons),
            by_result=len(by_result.comparisons),
        )
        assert calls(by_result).literal == 7 * 6 - 4 * 3 - 2


def test_on_30_real_systems_results_are_asked_14_times_less(real_spider, tmp_path):
    """On all 471 questions 16.8 times, with the embedded model as the judge."""
    benchmark = load_spider(real_spider)
    files = file_names(prediction_files([str(real_spider / "predictions")]))
    pool = load_pool(files, benchmark)
    with Cache(tmp_path / "lab.sqlite") as store, Executor(store) as executor:
        lab = Lab(Client(store), executor, benchmark.database)
        judge = Pairwise("embedded/parser")
        found = [*map(calls, select_from(pool, judge, lab, benchmark.questions[::4]))]
    literal = sum(one.literal for one in found)
    assert literal >= 14 * sum(one.by_result for one in found)
