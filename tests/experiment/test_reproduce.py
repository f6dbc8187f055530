"""Notebooks run in parallel, each in its own kernel; one that fails or stops takes no other with it."""

import os
import signal
import time
from dataclasses import replace
from pathlib import Path

import pytest

from workbench.errors import BadInputError
from workbench.experiment.reproduce import plan, run
from workbench.label.store import Label, LabelStore
from workbench.study.experiment import load_experiment

CHECKOUT = Path(__file__).parents[2]
SAVES = """import os, pathlib
from workbench.study.progress import report

folder = pathlib.Path(os.environ["WORKBENCH_FIGURES"])
folder.mkdir(parents=True, exist_ok=True)
(folder / f"{name}.csv").write_text(str(limit))
report(saved=name)"""


def states(jobs):
    return {job.name: job.state for job in jobs}


def test_notebooks_run_at_the_same_time_and_unchanged_ones_are_not_run_again(checkout, tmp_path):
    experiment = checkout("limit: 3", one=[SAVES], two=[SAVES])
    figures = tmp_path / "figures" / "mine"
    jobs = plan(experiment)
    records = run(jobs, figures, at_once=2)
    assert [job.error for job in jobs] == ["", ""]
    assert states(jobs) == {"one": "done", "two": "done"}
    assert [list(record.files) for record in records] == [["one.csv"], ["two.csv"]]
    assert (figures / "one.csv").read_text() == "3"

    again = plan(experiment)
    run(again, figures)
    assert states(again) == {"one": "unchanged", "two": "unchanged"}

    (figures / "one.csv").write_text("changed by hand")
    third = plan(experiment)
    run(third, figures)
    assert states(third) == {"one": "done", "two": "unchanged"}


def test_a_notebooks_key_covers_what_it_depends_on(checkout, tmp_path):
    before = plan(checkout(one=[SAVES]))[0].key
    assert plan(checkout(one=[SAVES]))[0].key == before
    assert plan(checkout("limit: 4", one=[SAVES]))[0].key != before
    assert plan(checkout(one=[SAVES, "1"]))[0].key != before


def test_a_file_that_the_settings_name_is_part_of_the_key(checkout, tmp_path):
    folder = tmp_path / "given"
    (folder / "deep").mkdir(parents=True)
    (folder / "deep" / "a.md").write_text("one")
    whole = checkout(one=[SAVES])
    for settings in ({"prompts": folder}, {"predictions": (folder,)}):
        experiment = replace(whole, **settings)
        before = plan(experiment)[0].key
        assert plan(experiment)[0].key == before
        (folder / "deep" / "a.md").write_text("two, changed")
        changed = plan(experiment)[0].key
        (folder / "deep" / "b.md").write_text("new")
        assert len({before, changed, plan(experiment)[0].key}) == 3
        (folder / "deep" / "b.md").unlink()


def test_a_new_label_changes_the_key(checkout):
    experiment = checkout(one=[SAVES])
    before = plan(experiment)[0].key
    about = ("harbour", "1", "How many vessels?", "SELECT 1")
    label = Label("me", "CHESS", ("Other",), "", *about)
    LabelStore.named("bundled-dev").add([label])
    after = plan(experiment)[0].key
    LabelStore.named("bundled-dev").labels()
    assert before != after == plan(experiment)[0].key


def test_the_server_of_a_model_is_part_of_the_key(checkout, monkeypatch):
    experiment = replace(checkout(one=[SAVES]), model="openai/gpt-4o-mini")
    keys = set()
    for server in ("http://127.0.0.1:1/v1", "http://127.0.0.1:2/v1", "http://127.0.0.1:1/v1"):
        monkeypatch.setenv("OPENAI_API_BASE", server)
        keys.add(plan(experiment)[0].key)
    assert len(keys) == 2


def test_another_experiment_or_benchmark_that_the_settings_name_is_part_of_the_key(
    checkout, tmp_path
):
    whole = checkout(one=[SAVES])
    other = whole.path.with_name("other.yaml")
    other.write_text("benchmark: bundled-train")
    keys = set()
    for options in ({}, {"spider": str(other)}, {"train": "bundled-train"}):
        keys.add(plan(replace(whole, **options))[0].key)
    before = plan(replace(whole, spider=str(other)))[0].key
    other.write_text("benchmark: bundled-train\nlimit: 3")
    assert len(keys | {before}) == 3
    assert plan(replace(whole, spider=str(other)))[0].key not in keys


def test_a_notebook_that_fails_names_its_cell_and_stops_no_other(checkout, tmp_path):
    experiment = checkout("limit: 3", bad=["x = 1", "# a ratio\ny = (\n    x / 0)"], good=[SAVES])
    jobs = plan(experiment)
    records = run(jobs, tmp_path / "figures" / "mine")
    assert states(jobs) == {"bad": "failed", "good": "done"}
    assert jobs[0].error == "cell 3 (x / 0)): ZeroDivisionError: division by zero"
    assert [record.notebook for record in records] == ["good"]
    assert "ZeroDivisionError" in jobs[0].output.read_text()


def test_a_notebook_whose_calls_failed_is_run_again(checkout, tmp_path):
    experiment = checkout(one=[SAVES, "report(failed=2)"])
    for _ in range(2):
        jobs = plan(experiment)
        records = run(jobs, tmp_path / "figures" / "mine")
        assert states(jobs) == {"one": "done"}
        assert jobs[0].error == "2 calls got no answer, and its numbers lack them: run it again"
        assert len(records) == 1


def test_a_run_that_was_asked_for_twice_counts_both_times(checkout, tmp_path):
    cell = """from workbench.study.progress import report
for began, calls in ((1.0, 5), (1.0, 7), (2.0, 0)):
    report(id="x", run="it", began=began, done=1, total=1, calls=calls, hits=0, dollars=0.5, unpriced=0)"""
    (record,) = run(plan(checkout(one=[cell])), tmp_path / "figures" / "mine")
    assert (record.calls, record.dollars) == (7, 1.0)


@pytest.fixture
def nohup():
    """SIGINT is ignored, as it is for a program that a shell starts under nohup or in the background."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    yield
    signal.signal(signal.SIGINT, before)


def test_a_notebook_stopped_under_nohup_has_a_moment_to_keep_what_it_has(checkout, tmp_path, nohup):
    begun, kept = tmp_path / "begun", tmp_path / "kept"
    cell = f"""import pathlib, time
try:
    pathlib.Path({str(begun)!r}).touch()
    time.sleep(60)
finally:
    pathlib.Path({str(kept)!r}).write_text("all")"""
    jobs = plan(checkout(slow=[cell]))

    def watch(jobs):
        if begun.exists():
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(jobs, tmp_path / "figures" / "mine", watch=watch)
    assert kept.read_text() == "all"
    assert states(jobs) == {"slow": "stopped"}


def test_keys_of_the_environment_stay_out_of_errors(checkout, tmp_path):
    experiment = checkout(bad=["raise ValueError('refused: sk-abcdefghijklmnop')"])
    jobs = plan(experiment)
    run(jobs, tmp_path / "figures" / "mine")
    assert "sk-abc" not in jobs[0].error
    assert "refused" in jobs[0].error


def test_an_interrupt_ends_the_kernels_at_once(checkout, tmp_path):
    pid, interrupted = tmp_path / "pid", []
    cell = f"""import os, pathlib, sqlite3
pathlib.Path({str(pid)!r}).write_text(str(os.getpid()))
endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n"
sqlite3.connect(":memory:").execute(endless).fetchall()"""
    jobs = plan(checkout(slow=[cell]))

    def watch(jobs):
        if jobs[0].cells_done >= 2 and pid.exists() and pid.read_text():
            interrupted.append(time.monotonic())
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(jobs, tmp_path / "figures" / "mine", watch=watch)
    assert time.monotonic() - interrupted[0] < 300  # the query never ends
    assert states(jobs) == {"slow": "stopped"}
    with pytest.raises(ProcessLookupError):
        os.kill(int(pid.read_text()), 0)


@pytest.mark.parametrize(
    ("parameters", "named"),
    [
        ("sample: 3", "sample"),
        ("api_key: sk-1", "api_key"),  # a key would be written into the notebook
        ("OPENAI_API_KEY: x", "OPENAI_API_KEY"),
        ("hf_token: x", "hf_token"),
        ("password: x", "password"),
        ("samples: 0", "samples"),
        ("samples: true", "samples"),
        ("samples: null", "samples"),
        ("sweep: -2", "sweep"),
        ("counts: 3", "counts"),
        ("counts: []", "counts"),
        ("heat: hot", "heat"),
        ("name: 3", "name"),
    ],
)
def test_a_parameter_that_does_not_fit_the_notebook_is_an_error(checkout, parameters, named):
    with pytest.raises(BadInputError, match=rf"\b{named}\b"):
        plan(checkout(parameters, one=[SAVES]))


def test_parameters_that_fit_are_accepted(checkout):
    given = (
        "samples: 3, sweep: null, counts: [1, 2], heat: 1, seed: 0, name: x, product: 0, none: [0]"
    )
    assert plan(checkout(given, one=[SAVES]))[0].parameters["sweep"] is None


def test_a_missing_notebook_is_an_error(checkout, tmp_path):
    experiment = checkout(one=[SAVES])
    (tmp_path / "notebooks" / "one.ipynb").unlink()
    with pytest.raises(BadInputError, match=r"names the notebook one, and there is no "):
        plan(experiment)


def test_a_role_that_there_is_not_is_an_error(checkout):
    with pytest.raises(BadInputError, match="judg"):
        replace(checkout(one=[SAVES]), models={"judge": "m/x", "judg": "m/x"})


@pytest.mark.parametrize(
    "name", sorted(path.stem for path in (CHECKOUT / "experiments").glob("*.yaml"))
)
def test_every_experiment_of_ours_has_its_notebooks_parameters_and_roles(name, monkeypatch):
    for variable in ("BIRD", "SPIDER"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("PREDICTIONS", "somewhere")
    monkeypatch.setenv("WORKBENCH_PREVIEW", "1")  # needs no benchmark
    experiment = replace(load_experiment(name), model="embedded/parser")
    assert [job.name for job in plan(experiment)] == list(experiment.notebooks)


def test_only_accepts_notebooks_of_the_experiment(checkout):
    experiment = checkout(one=[SAVES], two=[SAVES])
    assert [job.name for job in plan(experiment, ["two"])] == ["two"]
    with pytest.raises(BadInputError, match="mine has no notebook three; it has one, two"):
        plan(experiment, ["three"])


def test_a_limit_keeps_its_results_apart(checkout):
    experiment = checkout(one=[SAVES])
    whole, part = plan(experiment)[0], plan(experiment, limit=4)[0]
    assert part.parameters["limit"] == 4
    assert whole.output.parent != part.output.parent
