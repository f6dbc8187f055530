"""Workers' calls of the embedded model count for the budget, and as cached calls, as they do in one process.

Workers exchange few messages with the driver, however many calls a question makes.
"""

from collections import Counter
from dataclasses import replace

import pytest

from workbench.errors import BudgetError
from workbench.study import open_study
from workbench.study.experiment import Experiment
from workbench.systems.baselines import direct
from workbench.systems.chase_sql import chase_sql


@pytest.fixture
def embedded(tmp_path, monkeypatch):
    """Opens a study of 12 questions with the embedded model, which makes a call for each, in a home of its own."""

    def opened(home, cluster="", calls=None):
        monkeypatch.setenv("WORKBENCH_HOME", str(tmp_path / home))
        experiment = Experiment("small", folder=tmp_path, calls=calls)
        return open_study(experiment, limit=12, cluster=cluster)

    return opened


@pytest.mark.parametrize("where", ["here", "there"])
def test_a_budget_counts_the_calls_of_the_embedded_model(machines, embedded, one_line, where):
    cluster = ""
    if where == "there":
        machines.add()
        cluster = str(machines.file)
    with embedded("enough", cluster, calls=12) as study:
        assert study.run(direct(study.model)).paid.calls == 12
    with embedded("few", cluster, calls=5) as study:
        with pytest.raises(BudgetError, match="the budget of 5 calls is used up") as error:
            study.run(direct(study.model))
        one_line(error)
        assert study.lab.client.budget.made == 5


def test_workers_do_not_compute_what_the_drivers_cache_has(machines, embedded):
    machines.add()
    counts = []
    for home, cluster in (("here", ""), ("there", str(machines.file))):
        with embedded(home, cluster) as study:
            first = direct(study.model)
            # The second system makes the first one's call and another call, so its attempts are not cached.
            (added,) = direct(study.model, think=False).generate
            second = replace(first, generate=(*first.generate, added))
            paid = [study.run(system).paid for system in (first, second)]
            counts.append([(tally.calls, tally.hits) for tally in paid])
    assert counts == [[(12, 0), (12, 12)]] * 2


def test_a_task_takes_two_messages_however_many_calls_it_makes(machines, embedded, monkeypatch):
    from workbench.cluster.driver import Driver

    messages, tasks = Counter(), set()
    answer = Driver._answer

    def counted(self, message):
        messages[message["op"]] += 1
        if message["op"] == "store":
            tasks.add(message["arguments"][1]["task"])
        return answer(self, message)

    monkeypatch.setattr(Driver, "_answer", counted)
    machines.add()
    with embedded("home", str(machines.file)) as study:
        run = study.run(chase_sql(study.model, samples=1))
        databases = {question.db_id for question in study.benchmark.questions}
    assert run.paid.calls > 200
    assert messages["store"] == len(tasks) <= 12 + len(databases)  # some tasks only run queries
    assert messages["keys"] <= 12
    assert messages["cached"] == 0
    # A worker asks for these when it begins.
    assert messages["settings"] + messages["endpoint"] <= 4
    assert messages["database"] <= 2 * len(databases)  # for questions, and for queries
    assert messages.keys() <= {
        "store",
        "keys",
        "cached",
        "settings",
        "endpoint",
        "database",
        "read",
    }
