"""Workers that share no folder fill the run's cache with the rows of a single process, byte for byte, each call once."""

import random
import threading
from dataclasses import replace

import pytest

import workbench as wb


@pytest.mark.parametrize("count", [2, 4])
def test_workers_give_what_one_process_gives(machines, solved, count):
    for _ in range(count):
        machines.add()
    system = wb.chase_sql("embedded/parser")
    there = solved.run("there", system, 40, machines.file)
    assert there == solved.run("here", system, 40)
    assert not any((home / "home").exists() for home in machines.homes)
    copies = [
        list(home.glob("disk/**/workbench/*/*.sqlite")) for home in machines.homes
    ]
    assert all(copies)  # each machine took its databases from the run
    assert len({copy.name for copy in copies[0]}) == len(copies[0])  # each once
    # Another selector asks for no call that the cache has.
    first = replace(system, select=wb.Majority())
    more = [
        solved.run(home, first, 40, where)
        for home, where in (("there", machines.file), ("here", ""))
    ]
    assert more[0] == more[1]
    assert more[0][1]["calls"] == there[1]["calls"]


@pytest.mark.parametrize(
    ("make", "limit", "rounds"), [(wb.mac_sql, 16, 3), (wb.chase_sql, 40, 3)]
)
def test_killed_workers_cost_no_call_twice(machines, solved, make, limit, rounds):
    """Three of four workers are killed and replaced each time that the number of calls reaches a random one."""
    system = make("some/model")
    here = solved.run("here", system, limit)
    assert set(solved.asked.values()) == {1}
    calls = len(solved.asked)
    solved.asked.clear()
    for _ in range(4):
        machines.add()
    chance = random.Random(7)
    moments = sorted(chance.sample(range(calls * 9 // 10), rounds))
    ended, killed = threading.Event(), []

    def kill():
        for moment in moments:
            while len(solved.asked) < moment:
                if ended.wait(0.05):
                    return
            for number in sorted(chance.sample(range(4), 3), reverse=True):
                machines.lose(number)
                machines.add()
            killed.append(moment)

    killer = threading.Thread(target=kill)
    killer.start()
    try:
        there = solved.run("there", system, limit, machines.file)
    finally:
        ended.set()
        killer.join()
    assert killed == moments
    assert set(solved.asked.values()) == {1}
    assert len(solved.asked) == calls
    assert there == here


def test_a_users_prompts_reach_the_workers(machines, solved, tmp_path):
    machines.add()
    prompt = tmp_path / "prompts" / "generate" / "direct.md"
    prompt.parent.mkdir(parents=True)
    prompt.write_text(
        "# User\nAnswer in SQLite: {{ question }}\n{{ schema | fence }}\n"
    )
    given = {"limit": 8, "prompts": tmp_path / "prompts"}
    system = wb.direct("embedded/parser")
    there = solved.run("there", system, cluster=machines.file, **given)
    assert there == solved.run("here", system, **given)
    assert "Answer in SQLite:" in str(there[1]["calls"])
