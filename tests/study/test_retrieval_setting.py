"""The experiment's `retrieval` is that of every system it runs, and a preview answers for its embedding model."""

from dataclasses import replace

import pytest

from workbench.retrieve.embed import Embedding
from workbench.retrieve.index.minhash import MinHash
from workbench.retrieve.index.trigram import Trigram
from workbench.study import open_study
from workbench.study.settings import Experiment
from workbench.systems.baselines import direct
from workbench.systems.chase_sql import chase_sql
from workbench.systems.chess import chess_ir_ss_cg


@pytest.fixture
def opened(tmp_path):
    def study(**settings):
        return open_study(Experiment("small", **settings), limit=1, figures=tmp_path)

    return study


def test_every_system_retrieves_as_the_experiment_says(opened):
    with opened(retrieval={"index": "minhash"}) as study:
        assert study.with_settings(chase_sql()).retrieve.index == MinHash()
        assert study.with_settings(chess_ir_ss_cg()).retrieve.retrieval.index == MinHash()
        assert study.with_settings(direct()) == direct()


def test_without_the_setting_systems_keep_their_own(opened):
    with opened() as study:
        assert study.with_settings(chase_sql()) == chase_sql()


def test_the_ablation_without_values_keeps_without(opened):
    whole = chase_sql()
    without = replace(whole, retrieve=replace(whole.retrieve, index=None))
    with opened(retrieval="paper") as study:
        assert study.with_settings(without).retrieve.index is None


def test_a_run_and_its_contexts_use_that_retrieval(opened):
    with opened(retrieval={"index": "minhash"}) as study:
        run = study.run(chess_ir_ss_cg())
        assert run.system.retrieve.retrieval.index == MinHash()
        assert chess_ir_ss_cg().retrieve.retrieval.index == Trigram()
        assert study.run(chess_ir_ss_cg()).id == run.id


def test_a_preview_needs_no_embedding_model(opened, monkeypatch):
    monkeypatch.setenv("WORKBENCH_PREVIEW", "1")
    with opened(retrieval="paper") as study:
        compare = Embedding("openai/text-embedding-3-small")
        ((same, other),) = compare(study.lab, ["harbour"], ["harbour", "xyz"])
        assert same > 0.99
        assert other < 0.5
