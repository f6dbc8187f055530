"""The systems by their short names, with a judge of their own."""

import pytest

from workbench.cli.options import make_system
from workbench.errors import BadInputError


def test_the_judge_is_the_model_of_the_selector_alone():
    system = make_system("chase", "some/model", "local/judge")
    assert system.select.model == "local/judge"
    assert {step.model for step in system.generate} == {"some/model"}


def test_a_judge_is_refused_where_no_model_selects():
    with pytest.raises(BadInputError, match="the selector of mac asks no model"):
        make_system("mac", "some/model", "local/judge")
