"""Systems on enlarged schemas, and what their rows of a table count."""

from dataclasses import replace

import pytest

from workbench.errors import BadInputError
from workbench.study.measures import (
    distinct_columns,
    industrial,
    merged,
    pass_at,
    prompt_tokens,
)
from workbench.systems.chess import chess_ir_cg_ut
from workbench.systems.system import prepare

SAMPLES = 2


@pytest.fixture
def system(study):
    return replace(chess_ir_cg_ut(study.model, candidates=SAMPLES), fix=())


@pytest.fixture
def few(study):
    return study.sample(2)


def test_the_schema_has_as_many_columns_as_asked_for(study, system):
    for question in study.benchmark.questions[:2]:
        context = prepare(industrial(study, system, 130), question, study.lab)
        assert len(context.schema.columns()) == 130


def test_the_bundled_dev_and_train_databases_are_merged_and_no_column_repeats(study, system):
    study = replace(study, experiment=replace(study.experiment, train="bundled-train"))
    said = distinct_columns(study)
    assert said == "The columns are drawn from 765 distinct ones in 80 tables of 8 databases"
    question = study.benchmark.questions[0]
    context = prepare(industrial(study, system, 765), question, study.lab)
    known = {
        (one.name.lower(), *(column.name for column in one.columns))
        for schema in merged(study)
        for one in schema.tables
    }
    assert len(known) == 80
    assert len(context.schema.columns()) == 765
    with pytest.raises(
        BadInputError, match="columns is 4,337, but the schemas have 765 distinct columns"
    ):
        prepare(industrial(study, system, 4337), question, study.lab)


def test_it_is_the_same_whichever_questions_are_asked(study, few, system):
    assert industrial(study, system, 130) == industrial(few, system, 130)


def test_pass_at_1_is_the_mean_candidate_and_pass_at_k_any_right_one(few, system):
    run = few.run(system)
    row = pass_at(run)
    assert row["pass@1"] == pytest.approx(100 * run.trials["correct"].mean())
    assert row[f"pass@{SAMPLES}"] == pytest.approx(100 * run.questions["oracle"].mean())
    assert row["n"] == 2


def test_prompts_of_larger_schemas_have_more_tokens(few, system):
    small, large = (few.run(industrial(few, system, size)) for size in (0, 130))
    assert 0 < 2 * prompt_tokens(few, small) < prompt_tokens(few, large)
    assert prompt_tokens(few, large) * SAMPLES < large.questions["input_tokens"].mean()
