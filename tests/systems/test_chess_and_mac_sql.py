"""The papers' systems run end to end on scripted models, and each ablation is the one it says it is."""

import sqlite3
from base64 import b64encode
from contextlib import closing
from dataclasses import replace

import numpy as np
import pytest

from tests.systems.conftest import EMPTY, QUESTION, REPLIES, RIGHT
from workbench.evaluate.around_gold import AroundGold
from workbench.evaluate.linking import linking_by_stage
from workbench.fix.reviser import Reviser
from workbench.report.papers import published
from workbench.retrieve.embed import Embedding
from workbench.retrieve.index.minhash import MinHash
from workbench.retrieve.keywords import Keywords
from workbench.retrieve.matching import CHESS
from workbench.retrieve.retrieval import Retrieval
from workbench.systems import chess, mac_sql
from workbench.systems.baselines import direct, zero_shot
from workbench.systems.chess import (
    ChessModels,
    InformationRetriever,
    chess_ir_cg_ut,
    chess_ir_ss_cg,
)
from workbench.systems.mac_sql import mac_sql as mac
from workbench.systems.system import prepare, stages
from workbench.types import Gold

GOLD = {"q1": Gold("q1", RIGHT)}


ALL = {
    "baseline": zero_shot("m/x"),
    "baseline at once": zero_shot("m/x", think=False),
    "our own prompt": direct("m/x"),
    "CHESS (IR, CG, UT)": chess_ir_cg_ut("m/x"),
    "by candidate": chess_ir_cg_ut("m/x", by="candidate"),
    **{f"CHESS {name}": system for name, system in chess.chess_table_4("m/x").items()},
    **{f"MAC-SQL {name}": system for name, system in mac_sql.mac_table_3("m/x").items()},
    **{f"MAC-SQL {name}": system for name, system in mac_sql.mac_table_4("m/x").items()},
}


@pytest.mark.parametrize("name", ALL)
def test_every_system_answers(zoo, name):
    assert zoo.run(ALL[name]).sql == RIGHT


@pytest.mark.parametrize("name", ALL)
def test_every_question_is_answered_even_if_all_replies_are_useless(zoo, name):
    zoo.replies = dict.fromkeys(REPLIES, "I am sorry.")
    selection = zoo.run(ALL[name])
    assert selection.chosen is not None
    assert selection.sql == ""


def sections(request):
    return request.messages[1]["content"]


class TestChess:
    def test_a_high_budget_asks_for_20_candidates_and_10_tests(self, zoo):
        zoo.replies["generate/chess_candidate"] = [RIGHT, "SELECT name FROM animal"] * 10
        zoo.run(chess_ir_cg_ut("m/x"))
        assert len(zoo.asked["generate/chess_candidate"]) == 20
        assert "Write 10 unit tests" in sections(zoo.asked["select/unit_tests"][0])
        assert {r.parameters["temperature"] for r in zoo.asked["generate/chess_candidate"]} == {0.5}

    def test_a_low_budget_asks_for_one_candidate_and_at_most_three_revisions(self, zoo):
        others = [f"SELECT name FROM animal WHERE legs = {n} - 0" for n in (4, 5, 6, 7)]
        zoo.replies["fix/reviser"] = list(others)
        selection = zoo.run(chess_ir_ss_cg("m/x"))
        assert len(zoo.asked["generate/chess_candidate"]) == 1
        assert len(zoo.asked["fix/reviser"]) == 3
        assert selection.sql == others[0]  # the last with rows

    def test_every_agent_after_the_schema_selector_sees_the_pruned_schema(self, zoo):
        zoo.run(chess_ir_ss_cg("m/x"))
        for prompt in ("generate/chess_candidate", "fix/reviser"):
            text = sections(zoo.asked[prompt][0])
            assert "CREATE TABLE animal" in text
            assert "legs" in text
            assert "home" not in text
            assert "cage" not in text

    def test_retrieved_values_and_descriptions_are_shown_in_the_schema(self, zoo):
        system = chess_ir_cg_ut("m/x")
        context = prepare(system, QUESTION, zoo.lab)
        home, legs = (
            context.schema.column("animal", "home"),
            context.schema.column("animal", "legs"),
        )
        assert home.examples[0] == "Gobi desert"
        assert (legs.description, context.values, context.descriptions) == (
            "how many legs it has",
            (),
            (),
        )

    def test_the_papers_own_retrieval_can_replace_the_default(self, zoo):
        model, system = "m/x", chess_ir_ss_cg("m/x")
        paper = replace(system, retrieve=InformationRetriever(Retrieval(Keywords(model), MinHash(), Embedding("openai/text-embedding-3-small"), CHESS)))  # fmt: skip
        zoo.replies["retrieve/embed"] = b64encode(np.ones(3, np.float32).tobytes()).decode()
        schema = next(stages(paper, QUESTION, zoo.lab)).schema
        assert schema.column("animal", "home").examples[0] == "Gobi desert"
        assert schema.column("animal", "legs").description == "how many legs it has"
        texts = {r.messages[0]["content"] for r in zoo.asked["retrieve/embed"]}
        assert {"Gobi", "Gobi desert", "animal legs how many legs it has"} <= texts
        assert {r.model for r in zoo.asked["retrieve/embed"]} == {"openai/text-embedding-3-small"}
        assert zoo.run(paper).sql == RIGHT

    def test_without_retrieval_every_column_is_described_and_no_call_is_made(self, zoo):
        system = chess.chess_table_4("m/x")["w/o retrieve_entity & _context"]
        context = next(stages(system, QUESTION, zoo.lab))
        assert (
            context.schema.column("animal", "home").description == "the place where it was caught"
        )
        assert zoo.asked == {}

    @pytest.mark.parametrize(
        ("row", "left_out"),
        [
            ("w/o retrieve_entity & _context", "retrieve/keywords"),
            ("w/o filter_column", "prune/filter_column"),
            ("w/o select_tables", "prune/select_tables"),
            ("w/o select_columns", "prune/select_columns"),
            ("w/o revise", "fix/reviser"),
        ],
    )
    def test_an_ablation_leaves_out_exactly_the_named_part(self, zoo, row, left_out):
        tools = {prompt for prompt in REPLIES if prompt.startswith(("retrieve", "prune", "fix"))}
        zoo.run(chess.chess_table_4("m/x")[row])
        expected = tools - {left_out, "prune/mac_selector", "fix/refiner", "fix/fixer"}
        assert set(zoo.asked) - {"generate/chess_candidate"} == expected

    def test_the_number_of_revisions_is_the_parameter(self):
        (reviser,) = chess.chess_table_4("m/x")["with 1-time revise"].fix
        assert reviser == Reviser("m/x", 1, sound=True)

    def test_a_model_for_each_agent(self, zoo):
        zoo.run(chess_ir_ss_cg(ChessModels("m/cheap", "m/tuned", "m/best")))
        speakers = {prompt: {r.model for r in asked} for prompt, asked in zoo.asked.items()}
        assert speakers.pop("prune/filter_column") == {"m/cheap"}
        assert speakers.pop("generate/chess_candidate") == {"m/tuned"}
        assert set().union(*speakers.values()) == {"m/best"}

    def test_the_rows_of_table_8_are_the_papers(self):
        roles = {"filtering": "m/cheap", "tuned": "m/tuned", "rest": "m/best", "open": "m/open"}
        engines = chess.chess_table_8(roles)
        assert list(engines) == published("CHESS", "table 8").frame()["label"].tolist()
        row = "cheap, tuned, strong"
        models = ChessModels("m/cheap", "m/tuned", "m/best")
        assert engines[row] == replace(chess_ir_ss_cg(models), name=row)

    @pytest.mark.parametrize(
        ("roles", "rows"),
        [
            ({}, []),
            ({"open": "m/x"}, ["open, open, open"]),
            ({"open": "m/x", "tuned": "m/y"}, ["open, open, open", "open, tuned, open"]),
            ({"filtering": "m/x", "rest": "m/y"}, ["cheap, strong, strong", "cheap, cheap, cheap"]),
            (dict.fromkeys(("filtering", "rest", "tuned", "open"), "m/x"), ["cheap, cheap, cheap"]),
        ],
    )
    def test_a_row_of_table_8_exists_where_its_models_are_named(self, roles, rows):
        assert list(chess.chess_table_8(roles)) == rows

    def test_the_stages_of_pruning_and_how_well_they_fit_gold(self, zoo):
        found = list(stages(chess_ir_ss_cg("m/x"), QUESTION, zoo.lab))
        assert [len(context.schema.columns()) for context in found] == [7, 7, 4, 3]
        whole, filtered, tables, columns = linking_by_stage([(found, GOLD["q1"])])
        assert whole == filtered
        assert (whole.table_recall, whole.table_precision) == (1, 0.5)
        assert (tables.table_precision, tables.column_precision) == (1, 0.5)
        assert (columns.column_recall, columns.column_precision) == (1, 2 / 3)


class TestMacSql:
    def test_a_small_database_is_not_simplified(self, zoo):
        zoo.run(mac("m/x"))
        assert set(zoo.asked) == {"generate/decomposer"}

    def test_a_query_without_rows_is_refined(self, zoo):
        zoo.replies["generate/decomposer"] = f"```sql\n{EMPTY}\n```"
        assert zoo.run(mac("m/x")).sql == RIGHT
        assert zoo.run(mac_sql.mac_table_3("m/x")["w/o Refiner"]).sql == EMPTY

    def test_its_agents_see_up_to_six_short_values_of_each_column(self, zoo):
        with closing(sqlite3.connect(zoo.path)) as database, database:
            rows = [(n, "home" * 20 if n == 3 else f"home {n}") for n in range(3, 12)]
            database.executemany("INSERT INTO animal(id, home) VALUES (?, ?)", rows)
        needy = replace(mac("m/x").prune[0], mean_columns=1, least_tables=1)
        zoo.replies["generate/decomposer"] = EMPTY
        zoo.run(replace(mac("m/x"), prune=(needy,)))
        assert set(zoo.asked) == {"prune/mac_selector", "generate/decomposer", "fix/refiner"}
        for (request,) in zoo.asked.values():
            schema = sections(request).split("\n## Database schema\n")[1]
            assert (
                "(home, the place where it was caught. Value examples: ['Gobi desert', 'Delhi', "
                "'home 4', 'home 5', 'home 6', 'home 7'].)"
            ) in schema
            assert "(id, Value examples: [1, 2, 3, 4, 5, 6].)" in schema

    def test_the_decomposer_sees_what_the_selector_left(self, zoo):
        system = mac("m/x")
        (selector,) = system.prune
        needy = replace(selector, mean_columns=1, least_tables=1)
        zoo.run(replace(system, prune=(needy,)))
        schema = sections(zoo.asked["generate/decomposer"][0]).split("\n## Database schema\n")[1]
        assert "# Table: animal" in schema
        assert "cage" not in schema

    def test_a_column_that_holds_a_null_shows_it(self, zoo):
        with closing(sqlite3.connect(zoo.path)) as database, database:
            database.execute("INSERT INTO animal(id, home) VALUES (3, NULL)")
        zoo.run(mac("m/x"))
        (request,) = zoo.asked["generate/decomposer"]
        assert "Value examples: ['Gobi desert', 'Delhi', NULL].)" in sections(request)

    def test_without_the_decomposer_one_call_answers_the_same_prompt_without_its_chain(self, zoo):
        zoo.run(mac_sql.mac_table_3("m/x")["w/o Decomposer"])
        zoo.run(mac_sql.mac_table_4("m/x")["0-shot"])
        at_once, chain = map(sections, zoo.asked["generate/decomposer"])
        task, answer = "\n\nWhen you write SQL", "\n\n## Answer\n"
        assert at_once.partition(task)[2].partition(answer)[0] == chain.partition(task)[2].partition(answer)[0]  # fmt: skip
        assert "sub-question" in chain
        assert "sub" not in at_once.casefold().replace("substr", "")
        assert at_once.endswith("Give only the query, in a fence:\n```sql\nSELECT ...\n```")

    @pytest.mark.parametrize("shots", [0, 1, 2])
    def test_so_many_shots(self, zoo, shots):
        zoo.run(mac_sql.mac_table_4("m/x")[f"{shots}-shot"])
        (request,) = zoo.asked["generate/decomposer"]
        assert sections(request).count("## Worked example\n") == shots

    def test_temperature_0_arrives_as_0(self, zoo):
        zoo.replies["generate/decomposer"] = EMPTY
        zoo.run(mac("m/x", temperature=0.0))
        assert {r.parameters["temperature"] for asked in zoo.asked.values() for r in asked} == {0.0}


@pytest.mark.parametrize("system", [mac("m/x"), chess_ir_ss_cg("m/x")], ids=["MAC-SQL", "CHESS"])
def test_with_the_oracle_schema_the_generator_sees_golds_columns_and_keys_alone(zoo, system):
    oracle = replace(system, retrieve=AroundGold(system.retrieve, GOLD), prune=())
    assert prepare(oracle, QUESTION, zoo.lab).schema.columns() == (
        ("animal", "id"), ("animal", "name"), ("animal", "legs"),
    )  # fmt: skip
    assert zoo.run(oracle).sql == RIGHT
    assert RIGHT not in repr(oracle)


def test_the_name_and_the_repr_describe_the_system():
    assert "Reviser(model='m/x', revisions=3, sound=True" in repr(chess_ir_ss_cg("m/x"))
    assert len({system.name for system in ALL.values()}) >= len(ALL) - 2
