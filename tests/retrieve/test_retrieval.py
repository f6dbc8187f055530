"""From a question to its context, as the papers' examples show it, with each part and without it."""

import json
from dataclasses import replace

import numpy as np
import pytest

import workbench as wb
from workbench.errors import BadInputError
from workbench.llm.faults import Refusal
from workbench.retrieve.retrieval import (
    Descriptions,
    Embedding,
    Keywords,
    Lexical,
    Matching,
    Retrieval,
    by_letters,
    with_retrieval,
)
from workbench.retrieve.values import Spelling
from workbench.sql.texts import context_data
from workbench.study.experiment import Experiment, Session
from workbench.study.study import open_study
from workbench.systems.baselines import direct
from workbench.systems.chase_sql import chase_sql
from workbench.systems.chess import chess_ir_ss_cg
from workbench.systems.system import rebuilt
from workbench.types import Column, Context, Question, Schema, Table

# Some of what CHASE-SQL's appendix A.5 lists, among values that nothing in its question resembles.
QUESTION = Question(
    "1",
    "schools",
    "What is the highest eligible free rate for K-12 students in the schools in Alameda County?",
)
KEYWORDS = '["free rate", "K-12", "schools", "Alameda County"]'
SCRIPT = """
CREATE TABLE schools(CDSCode TEXT, County TEXT, School TEXT, City TEXT, GSoffered TEXT, AdmFName1 TEXT, AdmLName1 TEXT, Doc INTEGER);
INSERT INTO schools VALUES
    ('01', 'Alameda', 'Alameda High', 'Alameda', 'K-12', 'Kate', 'Free', 54),
    ('02', 'Alameda', 'Alameda County Community', 'Hayward', '7-12', 'Nate', 'Oduya', 10),
    ('03', 'Fresno', 'Bullard TALENT', 'Fresno', 'K-8', 'Susanne', 'Lindqvist', 54),
    ('04', 'Los Angeles', 'Venice Senior', 'Venice', '9-12', 'Ming', 'Hooper', 54);
CREATE TABLE frpm(CDSCode TEXT, `County Name` TEXT, `School Type` TEXT);
INSERT INTO frpm VALUES ('01', 'Alameda', 'Preschool'), ('03', 'Fresno', 'Continuation');
"""
CHASE = Retrieval(Keywords("maker/model"))
SMALL = "openai/text-embedding-3-small"


def shown(
    opened, database, retrieval, keywords=KEYWORDS, question=QUESTION, script=SCRIPT
):
    lab = opened(database(script), [keywords])
    context = retrieval(lab, question, lab.schema(question.db_id))
    return context_data(context)["values"].splitlines()


def test_values_are_those_of_appendix_a5_column_by_column(opened, database):
    assert shown(opened, database, CHASE) == [
        "schools.County: 'Alameda'",
        "schools.School: 'Alameda County Community', 'Alameda High'",
        "schools.City: 'Alameda'",
        "schools.GSoffered: 'K-12'",
        "schools.AdmFName1: 'Kate', 'Nate'",
        "schools.AdmLName1: 'Free'",
        "frpm.`County Name`: 'Alameda'",
        "frpm.`School Type`: 'Preschool'",
    ]


def values_of(opened, database, matching, *keywords, script):
    return shown(
        opened,
        database,
        replace(CHASE, matching=matching),
        json.dumps(keywords),
        script=script,
    )


PLACES = "CREATE TABLE t(p TEXT); INSERT INTO t VALUES ('Alameda'), ('County'), ('Fellsider')"


def test_chess_shows_one_value_of_each_keyword_and_column(opened, database):
    chess = chess_ir_ss_cg().retrieve.retrieval.matching
    lines = shown(opened, database, replace(CHASE, matching=chess))
    assert "schools.AdmFName1: 'Kate'" in lines
    found = values_of(opened, database, chess, "Alameda County", script=PLACES)
    # The end of the keyword is no keyword of its own.
    assert found == ["t.p: 'Alameda'"]


def test_a_keyword_keeps_its_only_value_whatever_another_finds(opened, database):
    asked = ("Alameda", "Felside")
    for rule, found in (
        ("paper", ["t.p: 'Alameda', 'Fellsider'"]),
        ("released", ["t.p: 'Alameda'"]),
    ):
        assert (
            values_of(opened, database, Matching(rule=rule), *asked, script=PLACES)
            == found
        )


def test_by_the_released_rule_each_part_of_a_keyword_counts_as_one(opened, database):
    released = Matching(per_keyword=1, rule="released")
    found = values_of(opened, database, released, "Alameda County", script=PLACES)
    assert found == ["t.p: 'Alameda', 'County'"]


TOWNS = "CREATE TABLE t(town TEXT); INSERT INTO t VALUES ('Great Holme'), ('Fellside'), ('TX'), ('MT'), ('Málaga');"


@pytest.mark.parametrize(
    ("keyword", "retrieval", "values"),
    [
        ("Grate Holme", CHASE, "'Great Holme'"),  # a typo
        ("TX", CHASE, "'TX'"),  # shorter than an n-gram
        ("near Fellside", CHASE, "'Fellside'"),  # the end of a phrase
        ("MALAGA", replace(CHASE, index=Spelling()), "'Málaga'"),
        ("MALAGA", CHASE, ""),  # hashes know no letter case
        ("zzz", replace(CHASE, index=Spelling()), ""),
        ("Grate Holme", CHASE.without_values(), ""),
        ("Grate Holme", replace(CHASE, matching=Matching(edit=0.95)), ""),
        ("Grate Holme", replace(CHASE, matching=Matching(semantic=0.95)), ""),
    ],
)
def test_a_keyword_finds_the_values_that_are_like_it(
    opened, database, keyword, retrieval, values
):
    lines = shown(opened, database, retrieval, json.dumps([keyword]), script=TOWNS)
    assert lines == ([f"t.town: {values}"] if values else [])


def test_where_the_embedding_model_fails_spelling_decides(opened, database):
    failing = replace(CHASE, similarity=Embedding("maker/embedding", 0.6))
    lab = opened(
        database(TOWNS),
        ['["Grate Holme"]', *[Refusal("server", "down")] * 9],
        at_once=1,
    )
    context = failing(lab, QUESTION, lab.schema("schools"))
    assert [match.value for match in context.values] == ["Great Holme"]


@pytest.mark.parametrize(
    "reply", ["", "none", "{}", Refusal("server", "down"), '["  "]']
)
def test_a_reply_without_keywords_finds_nothing(opened, database, reply):
    lab = opened(database(SCRIPT), [reply, reply])  # an unread one is asked for again
    assert CHASE(lab, QUESTION, lab.schema("schools")).values == ()


def test_keywords_of_ones_own_ask_no_model(opened, database):
    lab = opened(database(TOWNS))
    own = replace(CHASE, keywords=lambda _, question: tuple(question.text.split()))
    found = own(lab, Question("1", "d", "in Fellside"), lab.schema("d"))
    assert [match.value for match in found.values] == ["Fellside"]


def test_without_values_and_descriptions_no_call_is_made(opened, database):
    lab = opened(database(TOWNS))
    schema = lab.schema("d")
    assert CHASE.without_values()(lab, QUESTION, schema) == Context(QUESTION, schema)
    assert lab.client.send.history == []


def test_a_changed_database_has_its_new_values(opened, database):
    for town in ("Fellside", "Fellsidd"):
        lines = shown(
            opened,
            database,
            CHASE,
            '["Fellside"]',
            script=TOWNS.replace("Fellside", town),
        )
        assert lines == [f"t.town: '{town}'"]


# retrieve_context.


def catalog(**described):
    columns = (
        Column(name, "TEXT", description=text) for name, text in described.items()
    )
    return Schema("d", (Table("boat", tuple(columns)),))


class Told:
    """A similarity that notes the queries, and is what the test says of texts that contain a word."""

    threshold = 0.5

    def __init__(self, **scores):
        self.scores, self.queries = scores, []

    def __call__(self, lab, queries, texts, *, collection=False):
        del lab, collection
        self.queries += queries

        def score(text):
            known = (s for word, s in self.scores.items() if word in text)
            return next(known, 0.0)

        return np.array([[score(text) for text in texts] for _ in queries], np.float32)


def test_each_keyword_is_a_query_with_the_question_and_another_with_the_hint():
    asked, told = Question("1", "d", "how long?", "in metres"), Told(length=1.0)
    Descriptions()(
        None, asked, catalog(length="length overall"), ["long", "metres"], told
    )
    assert told.queries == [
        *("how long? long", "how long? metres"),
        *("in metres long", "in metres metres"),
    ]


def test_a_query_retrieves_its_five_best_descriptions_and_none_that_is_unlike():
    scores = {f"c{n}": n / 10 for n in range(1, 9)} | {"bad": float("nan")}
    schema = catalog(
        **{name: f"{name} text" for name in scores}, other="unlike", silent=""
    )
    asked = Question("1", "d", "q")
    found = Descriptions()(None, asked, schema, [], Told(**scores))
    assert [match.column for match in found] == ["c8", "c7", "c6", "c5", "c4"]
    few = Descriptions(top=9)(None, asked, schema, [], Told(c1=0.5))
    assert [(match.column, match.score) for match in few] == [("c1", 0.5)]
    assert Descriptions()(None, asked, catalog(silent=""), ["x"], Told()) == ()


def test_descriptions_that_are_equally_alike_come_in_the_order_of_their_names():
    schema = catalog(zeta="pier", alpha="pier", beta="pier")
    (first, *rest) = Descriptions(1)(
        None, Question("1", "d", "q"), schema, [], Told(pier=0.5)
    )
    assert [first.column, *(match.column for match in rest)] == [
        "alpha",
        "beta",
        "zeta",
    ]


# The setting of an experiment.


@pytest.mark.parametrize(
    ("given", "changed"),
    [
        ("lsh", {}),
        ("spelling", {"index": Spelling()}),
        ({"index": "none"}, {"index": None}),
        ({"similarity": "letters", "index": "spelling"}, {"index": Spelling()}),
        ({"similarity": "a/b", "alike": 0.7}, {"similarity": Embedding("a/b", 0.7)}),
        ({"similarity": "letters", "alike": 0.7}, {"similarity": Lexical(0.7)}),
        ({"similarity": SMALL}, {"similarity": Embedding(SMALL)}),
    ],
)  # fmt: skip
def test_a_setting_changes_what_it_names_in_every_system(given, changed, tmp_path):
    with open_study(
        Experiment("own", retrieval=given), limit=1, figures=tmp_path
    ) as study:
        own, chess = chase_sql().retrieve, chess_ir_ss_cg().retrieve.retrieval
        assert study.with_settings(chase_sql()).retrieve == replace(own, **changed)
        found = study.with_settings(chess_ir_ss_cg()).retrieve.retrieval
        assert (found.matching.per_keyword, found.descriptions) == (
            1,
            chess.descriptions,
        )
        assert study.with_settings(direct()) == direct()


def test_what_a_system_leaves_out_stays_left_out():
    without = with_retrieval(
        CHASE.without_values(), {"index": "spelling", "descriptions": 9}
    )
    assert without == CHASE.without_values()
    described = replace(CHASE, descriptions=Descriptions())
    assert with_retrieval(described, {"descriptions": 9}).descriptions == Descriptions(
        9
    )


def test_a_setting_of_none_leaves_a_step_as_it_is():
    step = replace(CHASE, similarity=Embedding(SMALL), descriptions=Descriptions(3))
    assert with_retrieval(step, {"index": None, "descriptions": None}) == step


def test_the_setting_reaches_the_examples_that_are_picked_by_similarity():
    picked = wb.Generate("generate/synthetic_examples", "m/x", examples=wb.Nearest(()))
    system = replace(chase_sql(), generate=(picked,))
    changed = rebuilt(
        system,
        lambda step: with_retrieval(step, {"similarity": SMALL, "index": "none"}),
    )
    assert changed.generate[0].examples == wb.Nearest((), similarity=Embedding(SMALL))
    assert not by_letters(changed)


def test_a_setting_names_the_released_rule_of_matching():
    low = rebuilt(
        chess_ir_ss_cg(), lambda step: with_retrieval(step, {"matching": "released"})
    )
    assert low.retrieve.retrieval.matching == Matching(per_keyword=1, rule="released")


def test_an_embedding_model_without_a_known_threshold_needs_one():
    assert Embedding(SMALL).threshold == 0.6
    assert Embedding("ollama/all-minilm", 0.5).threshold == 0.5
    for make in (
        lambda: Embedding("ollama/all-minilm"),
        lambda: replace(Embedding(SMALL), model="ollama/all-minilm"),
        lambda: Embedding(SMALL, 2),
        lambda: Experiment("own", retrieval={"similarity": "ollama/all-minilm"}),
    ):
        with pytest.raises(BadInputError, match="0 to 1"):
            make()


def test_a_preview_needs_no_embedding_model(tmp_path):
    with open_study(
        Session(Experiment("own"), preview=1), limit=1, figures=tmp_path
    ) as study:
        ((same, other),) = Embedding("a/b", 0.6)(
            study.lab, ["harbour"], ["harbour", "xyz"]
        )
    assert same > 0.99
    assert other < 0.5


def test_a_stamp_says_where_similarity_is_by_letters(tmp_path):
    assert by_letters(chase_sql())
    assert not by_letters(direct())
    assert not by_letters(
        replace(chase_sql(), retrieve=replace(CHASE, similarity=Embedding(SMALL)))
    )
    assert not by_letters(replace(chase_sql(), retrieve=CHASE.without_values()))
    assert by_letters(
        replace(chase_sql(), retrieve=replace(CHASE, similarity=Lexical(0.9)))
    )
    with open_study(Experiment("own"), limit=1, figures=tmp_path) as study:
        runs = [study.run(system).trials for system in (chase_sql(), direct())]
        assert ["by letters" in str(study.stamp.of(trials)) for trials in runs] == [
            True,
            False,
        ]
