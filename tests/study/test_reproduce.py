"""Notebooks run in parallel, each in its own kernel; one that fails or stops takes no other with it."""

import ast
import platform
import re
from dataclasses import replace

import nbformat
import pytest
from click.testing import CliRunner

from workbench.cli.cache import cache
from workbench.cli.run import reproduce
from workbench.errors import BadInputError
from workbench.label.store import Label, LabelStore
from workbench.study import reproduce as module
from workbench.study.experiment import Session, load_experiment, session_of, shipped
from workbench.study.reproduce import plan, run

RUNS = """import workbench as wb
study = wb.open_study(experiment, limit=limit)
run = study.run(wb.direct(study.model))"""
SAVES = 'study.saved.folder.mkdir(parents=True, exist_ok=True)\nsaved = study.save("one", study.costs({"one": run}).alone("One"))'
TWO = SAVES.replace('"one"', '"two"')


def states(jobs):
    return {job.name: (job.state, job.error) for job in jobs}


def ran(experiment, **options):
    jobs = plan(experiment)
    run(jobs, **options)
    return states(jobs)


@pytest.fixture
def command(tmp_path, monkeypatch):
    """Runs `workbench reproduce`, and gives its exit code and what it printed."""
    monkeypatch.setenv("WORKBENCH_HOME", str(tmp_path / "home"))

    def run(*words):
        done = CliRunner().invoke(reproduce, [str(word) for word in words])
        raised = None if isinstance(done.exception, SystemExit) else done.exception
        return done.exit_code, done.output, raised

    return run


@pytest.mark.slow  # seven kernels
def test_unchanged_notebooks_are_not_run_again(checkout, tmp_path):
    done, same = ("done", ""), ("unchanged", "")
    experiment = checkout("limit: 3", one=[RUNS, SAVES], two=[RUNS, TWO])
    assert ran(experiment, at_once=2) == {"one": done, "two": done}
    assert ran(experiment) == {"one": same, "two": same}
    (tmp_path / "figures" / "mine" / "one.csv").write_text("changed by hand")
    assert ran(experiment) == {"one": done, "two": same}
    checkout("limit: 3", one=[RUNS, SAVES], two=[RUNS, TWO, "1"])
    assert ran(experiment) == {"one": same, "two": done}


@pytest.mark.slow  # a kernel
def test_a_forked_kernel_is_as_one_that_jupyter_starts(checkout, monkeypatch, tmp_path):
    monkeypatch.setenv("WORKBENCH_GIVEN", "this run")
    place = "import os, sys\nfrom pathlib import Path\n[Path.cwd().name, sys.flags.hash_randomization, os.environ['WORKBENCH_GIVEN']]"
    record = "import workbench as wb\nwb.read_schema(wb.open_benchmark('bundled-dev').database('harbour'))"
    picture = "import matplotlib.pyplot as plt\n_ = plt.plot([1, 2])"
    (job,) = plan(checkout("limit: 3", one=[place, record, picture]))
    run([job])
    assert (job.state, job.error) == ("done", "")
    cells = nbformat.read(job.output, 4).cells
    kinds = [
        {*output.get("data", ())} for cell in cells[-3:] for output in cell.outputs
    ]
    folder, hashed, given = ast.literal_eval(cells[-3].outputs[0].data["text/plain"])
    assert (folder, hashed, given) == ("notebooks", 0, "this run")
    assert "text/html" in kinds[1]
    assert "image/png" in kinds[2]


def test_what_the_package_has_beside_the_desk_is_an_input(
    checkout, tmp_path, monkeypatch
):
    experiment = checkout(one=["1"])
    package = tmp_path / "package"
    monkeypatch.setattr(module, "_PACKAGE", package)

    def written(name):
        (package / name).parent.mkdir(parents=True, exist_ok=True)
        (package / name).write_text("x")
        return plan(experiment)[0].inputs_hash

    whole = written("a.py")
    assert written("cli/b.py") == written("explorer/b.js") == whole
    seen = {written(name) for name in ("sql/c.md", "report/papers/d.yaml", "e.sql")}
    assert len(seen - {whole}) == 3


def test_a_notebooks_inputs_are_all_that_it_depends_on(checkout, tmp_path, monkeypatch):
    whole = checkout(one=["1"])
    folder = tmp_path / "given"
    folder.mkdir()

    def key(**settings):
        return plan(replace(whole, **settings))[0].inputs_hash

    def after(name, text):
        (folder / name).write_text(text)
        return key(prompts=folder)

    keys = [
        key(),
        plan(checkout("limit: 4", one=["1"]))[0].inputs_hash,
        plan(checkout(one=["2"]))[0].inputs_hash,
    ]
    checkout(one=["1"])
    keys += [after("a.md", "one"), after("a.md", "two"), after("b.md", "two")]
    keys += [key(limit=3), key(train="bundled-train"), key(retrieval="spelling")]
    for server in ("http://127.0.0.1:1/v1", "http://127.0.0.1:2/v1"):
        monkeypatch.setenv("OPENAI_API_BASE", server)
        keys.append(key(model="openai/gpt-4o-mini"))
    label = Label(
        "me", "CHESS", ("Other",), "", "harbour", "1", "How many vessels?", "SELECT 1"
    )
    LabelStore.named("bundled-dev").add([label])
    keys.append(key())
    assert len(set(keys)) == len(keys)
    session = Session(whole, budget="x", offline=True)
    assert key(batch=True) == plan(session)[0].inputs_hash == keys[-1]


@pytest.mark.slow  # two kernels
def test_a_notebook_that_fails_is_told_by_its_cell_line_and_message_and_stops_no_other(
    checkout, command
):
    fails = "# a ratio\ny = (\n    x / 0)  # refused: sk-abcdefghijklmnop"
    path = checkout("limit: 3", bad=["x = 1", fails], good=["1"]).path
    code, said, _ = command(path)
    assert code == 1
    assert "good: done" in said
    told = "cell 3 (x / 0)  # refused: ***): ZeroDivisionError: division by zero"
    assert f"bad: failed: {told}" in said


@pytest.mark.slow  # four kernels
def test_figures_that_a_failed_notebook_did_not_draw_are_marked_until_the_next_good_run(
    checkout, command, tmp_path
):
    gallery = tmp_path / "figures" / "README.md"

    def drawn(*cells):
        path = checkout("limit: 3", one=[RUNS, *cells]).path
        return command(path)[0], gallery.read_text()

    assert drawn(SAVES, TWO)[0] == 0
    whole = gallery.read_text()
    assert "earlier" not in whole
    code, text = drawn(SAVES, "1 / 0", TWO)
    assert (code, "**1 of 2 pieces are of an earlier run**" in text) == (1, True)
    _, of_this_run, of_an_earlier = text.split("\n#### ")
    assert "Not drawn in the last run" not in of_this_run
    assert "Not drawn in the last run" in of_an_earlier
    assert drawn(SAVES, TWO) == (0, whole)


@pytest.mark.slow  # three kernels
def test_a_notebook_whose_calls_failed_is_run_again(checkout):
    broken = f"""import workbench as wb
from workbench.llm.send import scripted
from workbench.llm.faults import Refusal
from workbench.study import study as module
made = module.client_of
def refused(*given):
    client = made(*given)
    client.send = scripted([Refusal("rejected", "not today")], otherwise="SELECT 1")
    return client
module.client_of = refused
{RUNS}"""
    experiment = checkout("limit: 2", settings="model: some/model", one=[broken, SAVES])
    for _ in range(2):
        ((state, error),) = ran(experiment).values()
        assert (state, "run it again" in error) == ("done", True)


@pytest.mark.slow  # three kernels
def test_with_a_reply_pack_others_replay_the_numbers_offline_and_a_missing_reply_is_loud(
    checkout, command, tmp_path, monkeypatch
):
    path = checkout("limit: 3", one=[RUNS, SAVES]).path
    code, said, _ = command(path)
    assert (code, "\n3 calls asked, $0.0000\n" in said) == (0, True), said
    first = (tmp_path / "figures/mine/one.csv").read_bytes()
    pack = tmp_path / "pack.jsonl"
    exported = CliRunner().invoke(cache, ["export", str(pack), "--run", str(path)])
    assert exported.output.endswith("3 calls\n")
    monkeypatch.setenv("WORKBENCH_HOME", str(tmp_path / "other"))
    code, said, _ = command(path, "--from", pack, "--offline")
    assert (code, "\n0 calls asked, $0.0000\n" in said) == (0, True), said
    idle = (
        "{} of its {} calls were asked for by nobody, {} of {} requests are not in it"
    )
    assert f"{idle.format(0, 3, 0, 3)}; made on {platform.platform()}" in said
    assert "KeyboardInterrupt" not in said
    assert (tmp_path / "figures/mine/one.csv").read_bytes() == first
    monkeypatch.setenv("WORKBENCH_HOME", str(tmp_path / "third"))
    pack.write_bytes(b"".join(pack.read_bytes().splitlines(keepends=True)[2:]))
    code, said, _ = command(path, "--from", pack, "--offline")
    assert (code, "CacheMissError" in said) == (1, True), said
    assert re.search(
        r"[01] of its 2 calls were asked for by nobody, 1 of [123] requests", said
    )


@pytest.mark.slow  # a kernel
def test_the_executed_notebook_lies_beside_its_figures_without_times_and_paths(
    checkout, command, tmp_path
):
    path = checkout(
        "samples: 3", settings="limit: 3", one=[RUNS, "print(1)\nstudy"]
    ).path
    shown = 'study.save("one", study.costs({"one": run}).alone("One"))'
    checkout("samples: 3", settings="limit: 3", one=[RUNS, shown])
    assert command(path)[0] == 0
    written = tmp_path / "figures" / "mine" / "one.ipynb"
    notebook = nbformat.read(written, 4)
    text = written.read_text()
    assert str(tmp_path) not in text
    assert "<style" not in text
    assert "papermill" not in text
    assert 'experiment = "mine"' in notebook.cells[2].source
    assert [cell.id for cell in notebook.cells] == [f"cell-{n}" for n in range(5)]
    assert (tmp_path / "figures" / "README.md").read_text().count("## mine") == 1


@pytest.mark.parametrize(
    ("parameters", "named"),
    [
        ("sample: 3", "sample"),
        # A key would be written into the notebook.
        ("OPENAI_API_KEY: x", "OPENAI_API_KEY"),
    ],
)
def test_a_parameter_that_the_notebook_does_not_have_is_an_error(
    checkout, parameters, named
):
    with pytest.raises(BadInputError, match=rf"\b{named}\b"):
        plan(checkout(parameters, one=["1"]))


def test_what_the_experiment_does_not_have_is_an_error(checkout, tmp_path):
    experiment = checkout(one=["1"], two=["2"])
    assert [job.name for job in plan(experiment, ["two"])] == ["two"]
    with pytest.raises(BadInputError, match=r"three.*one.*two"):
        plan(experiment, ["three"])
    (tmp_path / "notebooks" / "one.ipynb").unlink()
    with pytest.raises(BadInputError, match=r"one\.ipynb: No such file"):
        plan(experiment)


def test_a_limit_keeps_its_results_apart(checkout):
    experiment = checkout(one=["1"])
    whole, part = plan(experiment)[0], plan(experiment, limit=4)[0]
    assert part.parameters["limit"] == 4
    assert (whole.output.parent, whole.figures) != (part.output.parent, part.figures)
    given = session_of(part.parameters["experiment"])
    assert given.figures == part.figures == experiment.folder / "figures" / "mine-4"


@pytest.mark.parametrize(
    "path", sorted(shipped("experiments").glob("*.yaml")), ids=lambda p: p.stem
)
def test_every_experiment_of_ours_has_its_notebooks_and_their_parameters(
    path, monkeypatch
):
    for variable in ("BIRD", "SPIDER", "BIRD_MINIDEV", "PREDICTIONS"):
        monkeypatch.setenv(variable, "/nowhere")
    session = Session(load_experiment(str(path)), preview=1)  # needs no benchmark
    assert [job.name for job in plan(session)] == list(session.experiment.notebooks)
