"""A stamp says whose numbers these are; of a frame, those of the runs in it."""

from dataclasses import replace

import pandas as pd

from workbench.report.drawing.style import canvas
from workbench.report.stamp import Stamp, stamped

STAMP = Stamp(
    "openai/o9",
    "bird",
    7,
    "EX (Spider)",
    models_by_run={"a1": ("openai/o9", "openai/o1"), "b2": ("embedded/parser",), "c3": ()},
)


def rows(*runs):
    return pd.DataFrame({"run": runs, "EX": 1.0})


def test_a_stamp_names_the_model_the_benchmark_and_the_number_of_questions():
    assert str(STAMP) == "openai/o9 on bird, N = 7, EX (Spider)"


def test_a_stamp_names_the_parameters_that_a_model_refuses():
    stamp = replace(STAMP, left_out={"openai/o1": ["temperature", "top_p"]})
    assert str(stamp) == "openai/o9 on bird, N = 7, EX (Spider)"
    assert str(stamp.of(rows("a1"))).startswith(
        "openai/o9, openai/o1 (takes no temperature, top_p) on"
    )


def test_only_the_embedded_model_is_called_a_parser():
    both = STAMP.of(rows("a1 b2"))
    assert str(both).startswith(
        "openai/o9, openai/o1, embedded/parser (a small statistical parser, no language model) on"
    )
    assert both.models == "openai/o9, openai/o1, embedded/parser"


def test_the_models_are_those_of_the_runs_in_a_frame():
    assert STAMP.of(rows("b2")).models == "embedded/parser"
    assert STAMP.of(rows("b2", "a1", "b2")).models == "embedded/parser, openai/o9, openai/o1"


def test_a_stamp_stays_unchanged_without_a_run_that_asked_a_model():
    for frame in (rows("c3"), rows("another"), rows(None), rows(), pd.DataFrame({"EX": [1.0]})):
        assert STAMP.of(frame) == STAMP


def test_replacing_a_field_keeps_the_models_of_each_run():
    assert str(replace(STAMP, ex="").of(rows("a1"))) == "openai/o9, openai/o1 on bird, N = 7"


def test_a_stamp_may_be_any_text():
    assert stamped("of nobody", rows("a1")) == "of nobody"
    assert stamped(STAMP, None) == str(STAMP)


def test_a_figure_names_the_models_of_its_data():
    with canvas(3.0, 2.0, rows("a1"), STAMP) as figure:
        figure.subplots()
    assert figure.get_supxlabel().startswith("openai/o9, openai/o1 on bird")
