"""The benchmark of judging, small: what it compares must agree before it is worth timing."""

import json
from pathlib import Path
from typing import Any

import pytest

from workbench.sql.executor import Executor


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(Path(__file__).parents[1]))
    import bench_judging

    return bench_judging


@pytest.fixture
def items(bench: Any, tmp_path: Path) -> list[Any]:
    database = tmp_path / "databases" / "shop" / "shop.sqlite"
    bench.shop.build(database, customers=400)
    return bench.shop_pool(database, 16)


def judged_by_us(bench: Any, work: Path, folder: Path) -> dict[int, int]:
    out = folder / "ours.jsonl"
    bench.judge_ours(work, folder / "lab.sqlite", out)
    return dict(map(json.loads, out.read_text().splitlines()[:-1]))


def test_birds_judging_and_ours_give_the_same_verdicts_with_and_without_a_cache(
    bench: Any, items: list[Any], tmp_path: Path
) -> None:
    work = bench.write(tmp_path, [items], 30.0)
    cold = judged_by_us(bench, work, tmp_path)
    warm = judged_by_us(bench, work, tmp_path)
    assert cold == warm == bench.run(bench.peer(work), tmp_path).verdicts
    assert len(cold) == len(items)
    assert 0 < sum(cold.values()) < len(items)


def test_birds_way_leaves_a_runaway_query_at_work_and_judges_it_wrong(
    bench: Any, items: list[Any], tmp_path: Path
) -> None:
    mixed, places = bench.with_runaways(items[:50])
    runaway = min(set(range(len(mixed))) - set(places))
    outcome = bench.run(bench.peer(bench.write(tmp_path, [mixed], 0.3)), tmp_path, seconds=20)
    assert outcome.left > 0
    assert outcome.verdicts[runaway] == 0


def test_fingerprints_of_results_are_those_of_the_executions(items: list[Any]) -> None:
    jobs = [(Path(item[0]), item[2]) for item in items[:60]]
    with Executor(workers=1) as executor:
        found = executor.result_fingerprints(jobs)
        assert found == [execution.fingerprint for execution in executor.execute_many(jobs)]
    assert "" in found
