"""The departures that save calls and tokens, and nothing else, distinguish a system from its cheaper form."""

from dataclasses import replace

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


def test_chess_keeps_its_filtering_model_where_none_is_given():
    system = chess_ir_ss_cg("m/main")
    assert cheaper(system).prune == (FilterColumns("m/main", group=12), *system.prune[1:])


def test_a_system_without_such_steps_stays_as_it_is():
    assert cheaper(mac_sql("m/main"), "m/cheap") == mac_sql("m/main")
