"""The judge and the generator are asked with the very prompts that they are tuned on."""

from dataclasses import replace

import pytest

import workbench as wb
from workbench.systems.baselines import Proposed
from workbench.train.data import NoisySchema, Pairs
from workbench.types import Candidate

WRONG = "SELECT 'nothing'"


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    """Three bundled questions; for some, values and descriptions are found."""
    folder = tmp_path_factory.mktemp("study")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WORKBENCH_HOME", str(folder))
        with wb.open_study(
            "bundled-dev", limit=3, figures=folder / "figures"
        ) as opened:
            yield opened


def sent(study, system, question):
    """The messages of each call, by its prompt, that the system makes for a question."""
    calls = {}

    def watch(request, data):
        calls.setdefault(request.prompt, []).append(tuple(request.messages))

    wb.solve(system, question, replace(study.lab, watch=watch))
    return calls


def test_a_judge_is_asked_byte_for_byte_what_it_was_tuned_on(study):
    golds = study.benchmark.golds
    candidates = {
        q.id: (Candidate(golds[q.id].sql, "good"), Candidate(WRONG, "poor"))
        for q in study.benchmark.questions
    }
    system = replace(wb.chase_sql(), generate=(Proposed(candidates),), fix=())
    talks = list(Pairs(system)(study.lab, study.benchmark, candidates))
    assert len(talks) == 3
    for question, talk in zip(study.benchmark.questions, talks, strict=True):
        *tuned_on, _ = talk.messages
        assert tuple(tuned_on) in sent(study, system, question)["select/pairwise"]


def test_a_generator_is_asked_byte_for_byte_what_it_was_tuned_on(study):
    noisy = NoisySchema()

    def prune(lab, context):
        gold = study.benchmark.golds[context.question.id]
        return replace(context, schema=noisy.noisy(lab, context.schema, gold))

    system = replace(wb.chess_ir_ss_cg(), prune=(prune,), fix=())
    talks = list(noisy(study.lab, study.benchmark))
    assert len(talks) == 3
    for question, talk in zip(study.benchmark.questions, talks, strict=True):
        *tuned_on, _ = talk.messages
        assert sent(study, system, question)["generate/chess_candidate"] == [
            tuple(tuned_on)
        ]
