"""A run in the cache, by its name or its id."""

import pytest

from workbench.errors import BadInputError
from workbench.exchange.stored_run import stored_run
from workbench.store import Store


@pytest.mark.parametrize(("runs", "said"), [(8, ""), (11, "the newest 8 of 11")])
def test_an_ambiguous_name_says_how_many_runs_have_it(tmp_path, runs, said):
    with Store(tmp_path / "lab.sqlite") as store:
        with store.write() as database:
            rows = [(f"id{n}", "same", "bundled-dev", "", "[]", n) for n in range(runs)]
            database.executemany("INSERT INTO runs VALUES (?, ?, ?, ?, ?, ?)", rows)
        with pytest.raises(BadInputError, match=f"{runs} runs have the name 'same'") as raised:
            stored_run("same", store)
    assert said in str(raised.value)
    assert ("newest" in str(raised.value)) == bool(said)


@pytest.mark.parametrize("name", ["CHASE-SQL", "chase_sql", "chase", "id1"])
def test_a_run_is_found_by_its_id_or_by_its_name_as_tables_and_commands_spell_it(tmp_path, name):
    with Store(tmp_path / "lab.sqlite") as store:
        with store.write() as database:
            rows = [
                (f"id{n}", run, "bundled-dev", "", "[]", n)
                for n, run in enumerate(["mac_sql", "chase_sql"])
            ]
            database.executemany("INSERT INTO runs VALUES (?, ?, ?, ?, ?, ?)", rows)
        assert stored_run(name, store).id == "id1"


@pytest.mark.parametrize("name", ["CHESS", "", "-"])
def test_a_name_of_no_run_lists_the_runs(tmp_path, name):
    with Store(tmp_path / "lab.sqlite") as store:
        with store.write() as database:
            database.execute(
                "INSERT INTO runs VALUES ('id0', 'mac_sql', 'bundled-dev', '', '[]', 0)"
            )
        with pytest.raises(BadInputError, match=r"there is no run .*id0 \(mac_sql, 0 questions\)"):
            stored_run(name, store)
