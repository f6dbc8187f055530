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
