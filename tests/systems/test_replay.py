"""A selector on candidates that are there already."""

from workbench.benchmarks.bird import load_bird
from workbench.lab import Lab
from workbench.pool import pool_of
from workbench.select.majority import Majority
from workbench.sql.executor import Executor
from workbench.systems.replay import picks, select_from
from workbench.systems.system import run_candidates
from workbench.types import Candidate, Trial


def test_candidates_are_run_and_one_is_picked_where_there_are_any(tiny, tmp_path):
    benchmark = load_bird(tiny.write_bird(tmp_path))
    queries = ["SELECT 4", "SELECT count(*) FROM animal", "SELECT 5"]
    pool = pool_of(("0", Trial(Candidate(sql, f"g{n}"))) for n, sql in enumerate(queries))
    with Executor(workers=1) as executor:
        lab = Lab(None, executor, benchmark.database)
        (selection,) = select_from(pool, Majority(), lab, benchmark.questions)
        assert selection.question_id == "0"
        assert selection.trial.execution.rows == ((4,),)
        picked = picks("most", Majority(), lab, benchmark.questions, pool)
        assert [(key, t.candidate.generator) for key, t in picked.items()] == [("0", "most")]
        trials = run_candidates(
            lab, benchmark.questions[0], [t.candidate for t in pool.trials["0"]]
        )
        assert [trial.execution.rows for trial in trials] == [((4,),), ((4,),), ((5,),)]
