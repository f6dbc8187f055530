"""A run on a benchmark of one's own is exported and reported with that benchmark, not with another of its name."""

import base64
import gzip
import json
import re
import shutil

import pandas as pd
import pytest

from tests.exchange.conftest import write
from workbench.errors import BadInputError
from workbench.experiment.report import write_report
from workbench.study import open_study
from workbench.systems.baselines import direct


@pytest.fixture
def own(tiny, tmp_path, monkeypatch):
    """A study on bird.json, which is also the short name of BIRD's dev split, and its run."""
    monkeypatch.chdir(tmp_path)
    tiny.write_bird(tmp_path, file="bird.json", databases="databases")
    with open_study("bird.json", root="databases", model="embedded/parser") as study:
        yield study, study.run(direct())


def test_its_file_and_databases_are_named_by_options(own, tmp_path):
    study, run = own
    options = ("--benchmark", "bird.json", "--root", "databases")
    frame = pd.read_csv(write(run.id, tmp_path / "run.csv", *options), dtype={"question_id": str})
    assert frame["question"].tolist() == [q.text for q in study.benchmark.questions]
    assert frame["correct"].tolist() == run.questions["correct"].tolist()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ((), r"bird is a benchmark of your own: give its file bird\.json"),
        (("--root", "dev"), r"bird is a benchmark of your own: give its file bird\.json"),
        (("--root", "dev", "--benchmark", "other.json"), r"and other\.json is another: give"),
    ],
)
def test_another_benchmark_is_not_taken_for_it(own, tiny, tmp_path, options, message):
    _, run = own
    tiny.write_bird(tmp_path / "dev")
    shutil.copy("bird.json", "other.json")
    with pytest.raises(BadInputError, match=message):
        write(run.id, tmp_path / "run.csv", *options)


def test_a_file_of_its_name_with_other_questions_is_refused(own, tiny, tmp_path):
    _, run = own
    other = [dict(item, question_id=11 - n) for n, item in enumerate(tiny.bird_items())]
    (tmp_path / "bird.json").write_text(json.dumps(other))
    with pytest.raises(BadInputError, match=r"is of another bird: bird .* has no question '0' on"):
        write(run.id, tmp_path / "run.csv", "--benchmark", "bird.json", "--root", "databases")


def test_its_report_shows_its_questions(own, tmp_path):
    study, run = own
    study.save("table", study.table(run))
    store = study.lab.client.store
    write_report(study.saved.folder, store, {}, tmp_path / "databases", "bird.json")
    text = (study.saved.folder / "report" / "questions-0.js").read_text()
    packed = re.fullmatch(r'arrived\("[^"]+", "([^"]+)"\)\n', text)[1]
    shown = json.loads(gzip.decompress(base64.b64decode(packed)))
    assert {key: value[0] for key, value in shown.items()} == {
        question.id: question.text for question in study.benchmark.questions
    }
