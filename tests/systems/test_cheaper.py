"""The departures that save calls and tokens, and nothing else, distinguish a system from its cheaper form."""

from dataclasses import replace

import pytest

import workbench as wb
from workbench.errors import BadInputError
from workbench.prune.filter_columns import FilterColumns
from workbench.systems.chase_sql import chase_sql
from workbench.systems.cheaper import cheaper
from workbench.systems.chess import chess_ir_ss_cg
from workbench.systems.mac_sql import mac_sql


def test_chase_sql_filters_in_groups_on_the_cheap_model_and_shows_examples_in_one_order():
    system = chase_sql("m/main")
    divide, plan, synthetic = cheaper(system, "m/cheap", group=9).generate
    assert (divide, plan) == system.generate[:2]
    columns = FilterColumns("m/cheap", group=9)
    assert synthetic == replace(system.generate[2], shuffle=False, columns=columns)


def test_chase_sql_retrieves_no_descriptions_that_its_schema_shows_anyway():
    system = chase_sql("m/main")
    assert cheaper(system).retrieve == replace(system.retrieve, descriptions=None)


def test_chess_keeps_its_filtering_model_where_none_is_given_and_its_retrieved_descriptions():
    system = chess_ir_ss_cg("m/main")
    found = cheaper(system)
    assert found.prune == (FilterColumns("m/main", group=12), *system.prune[1:])
    assert found.retrieve == system.retrieve


def test_a_system_without_such_steps_stays_as_it_is():
    assert cheaper(mac_sql("m/main"), "m/cheap") == mac_sql("m/main")


@pytest.mark.parametrize(
    ("part", "changed"),
    [("columns", "generate"), ("examples", "generate"), ("descriptions", "retrieve")],
)
def test_each_part_can_be_had_alone(part, changed):
    system = chase_sql("m/main")
    found = cheaper(system, parts=[part])
    assert found != system
    assert replace(found, **{changed: getattr(system, changed)}) == system


def test_no_part_is_the_paper_s_system():
    assert cheaper(chase_sql("m/main"), "m/cheap", parts=()) == chase_sql("m/main")


def test_it_is_among_the_names_of_the_front_door():
    assert wb.cheaper is cheaper


def test_a_part_that_there_is_not_is_refused():
    with pytest.raises(BadInputError, match=r"part is 'colums': it must be .*'columns'"):
        cheaper(chase_sql("m/main"), parts=["colums"])
