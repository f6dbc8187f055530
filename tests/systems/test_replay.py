"""A selector on candidates that are there already."""

from workbench.benchmarks.load import open_benchmark
from workbench.lab import Lab
from workbench.select.majority import Majority
from workbench.sql.executor import Executor
from workbench.systems.replay import replayed
from workbench.systems.system import solve
from workbench.types import Candidate


def test_candidates_are_run_and_one_is_picked(tiny, tmp_path):
    benchmark = open_benchmark("bird-dev", tiny.write_bird(tmp_path))
    queries = ["SELECT 4", "SELECT count(*) FROM animal", "SELECT 5"]
    candidates = {"0": tuple(Candidate(sql, f"g{n}") for n, sql in enumerate(queries))}
    with Executor(workers=1) as executor:
        lab = Lab(None, executor, benchmark.database)
        selection = solve(replayed("most", candidates, Majority()), benchmark.questions[0], lab)
    assert selection.trial.execution.rows == ((4,),)
    assert [t.execution.rows for t in selection.trials] == [((4,),), ((4,),), ((5,),)]
