"""What is kept of the candidates, in which order, and why the rest fell out."""

import numpy as np
import pytest

from tests.retrieve.fakes import Shelf, schema_of
from workbench.retrieve.lexical import Lexical
from workbench.retrieve.matches import find_matches, parts
from workbench.retrieve.matching import CHESS, Matching

SCHOOLS = {
    ("schools", "County"): ["Alameda", "Fresno", "Los Angeles"],
    ("schools", "School"): ["Alameda High", "Alameda County Community", "Fresno High", "Preschool"],
    ("satscores", "cname"): ["Alameda", "Fresno"],
}
LEXICAL, MATCHING = Lexical(), Matching()


class Told:
    """A similarity that is what the test says, for texts that it names, and 1 for others."""

    alike = 0.5

    def __init__(self, scores=()):
        self.scores = dict(scores)

    def __call__(self, lab, queries, texts, *, collection=False):
        del lab, collection
        return np.array(
            [[self.scores.get(text, 1.0) for text in texts] for _ in queries], np.float32
        )


def found(keywords, values=SCHOOLS, similarity=LEXICAL, matching=MATCHING):
    matches = find_matches(None, Shelf(values), schema_of(values), keywords, similarity, matching)
    return [(m.table, m.column, m.value) for m in matches]


def test_values_stand_in_the_order_of_the_schema_the_closest_first():
    assert found(["Alameda", "Alameda High"]) == [
        ("schools", "County", "Alameda"),
        ("schools", "School", "Alameda High"),
        ("schools", "School", "Alameda County Community"),
        ("satscores", "cname", "Alameda"),
    ]


def test_a_typo_still_finds_its_value():
    assert ("schools", "County", "Los Angeles") in found(["Los Angelse"])


def test_case_and_accents_count_for_nothing():
    assert found(["MALAGA"], {("t", "city"): ["Málaga"]}) == [("t", "city", "Málaga")]


def test_a_word_of_a_phrase_finds_its_value_by_itself():
    assert ("schools", "County", "Fresno") in found(["schools near Fresno"])


def test_a_part_of_a_phrase_must_be_closer_than_a_whole_one():
    values = {("t", "name"): ["Holmes Grove"]}
    assert found(["Holme"], values) == [("t", "name", "Holmes Grove")]
    assert found(["Tall Holme"], values) == []


def test_the_parts_of_a_phrase_are_its_words_and_its_beginnings_and_ends():
    assert parts("county of Los Angeles") == [
        "county of Los",
        "county",
        "Los Angeles",
        "Angeles",
        "Los",
    ]
    assert parts("Fresno") == []


@pytest.mark.parametrize(
    ("value", "looser"),
    [
        ("zzzzaz", {"edit": 0.1, "keep": 0.1}),
        ("abcdgh", {"semantic": 0.1}),
        ("abcdxy", {"keep": 0.5}),
    ],
    ids=["spelling", "meaning", "much less close than the best of the column"],
)
def test_each_stage_drops_a_value_that_a_looser_threshold_keeps(value, looser):
    values = {("t", "a"): ["abcdef", "abcdxy", "zzzzaz"], ("t", "b"): ["abcdgh"]}
    told = Told({"abcdgh": 0.2})
    assert found(["abcdef"], values, told) == [("t", "a", "abcdef")]
    assert value in {v for *_, v in found(["abcdef"], values, told, Matching(**looser))}


def test_a_column_has_no_more_values_than_it_may():
    values = {("t", "a"): ["ward 12a", "ward 12b", "ward 12c"]}
    kept = found(["ward 12"], values, matching=Matching(per_column=2))
    assert kept == [("t", "a", "ward 12a"), ("t", "a", "ward 12b")]


def test_a_value_found_by_two_keywords_is_kept_for_the_closer():
    values = {("t", "a"): ["Fresno"]}
    keywords = ["Fresna", "Fresno"]
    (match,) = find_matches(None, Shelf(values), schema_of(values), keywords, LEXICAL)
    assert match.keyword == "Fresno"


def test_two_keywords_may_each_have_their_value_in_one_column():
    both = ["Alameda", "Fresmo"]
    assert ("schools", "County", "Fresno") in found(both)
    assert ("schools", "County", "Fresno") not in found(both, matching=CHESS)


@pytest.mark.parametrize(
    ("keyword", "meant"),
    [
        ("Hamilton", "Lewis Hamilton"),
        ("hamilton", "Lewis Hamilton"),
        ("Perez", "Sergio Pérez Mendoza"),
        ("New York", "New York City Hall"),
        ("driver Hamilton", "Lewis Hamilton"),
    ],
)
def test_a_shorter_lookalike_does_not_displace_a_value_with_the_word(keyword, meant):
    lookalikes = ["Milton", "Hamlin", "Peres", "Perec", "New Yorke"]
    assert ("t", "a", meant) in found([keyword], {("t", "a"): [*lookalikes, meant]})


def test_the_value_itself_is_closer_than_one_with_further_words():
    values = {("t", "a"): ["Fresno", "Fresno Unified School District"]}
    assert found(["Fresno"], values) == [("t", "a", "Fresno")]


def test_the_single_closest_value_of_each_keyword_and_column_is_a_setting():
    values = {("t", "a"): ["Fresnos", "Alameda", "Fresnot"], ("t", "b"): ["Fresnon"]}
    one = Matching(per_keyword=1)
    assert len(found(["Fresno"], values)) == 3
    assert found(["Fresno"], values, matching=one) == [("t", "a", "Fresnos"), ("t", "b", "Fresnon")]
    assert len(found(["Fresno", "Alameda"], values, matching=one)) == 3
    assert CHESS.per_keyword == 1


def test_the_semantic_threshold_is_the_similaritys_own_unless_one_is_given():
    values, similarity = {("t", "a"): ["Fresno High"]}, Told({"Fresno High": 0.55})
    assert found(["Fresno"], values, similarity)
    assert not found(["Fresno"], values, similarity, Matching(semantic=0.6))


def test_a_value_spelled_almost_alike_needs_no_similarity_of_meaning():
    values, similarity = {("t", "a"): ["Fresno"]}, Told({"Fresno": 0.1})
    assert found(["Frenso"], values, similarity)
    assert not found(["Frenso"], values, similarity, Matching(sure=0.9))


def test_without_an_answer_about_meaning_spelling_alone_decides():
    values = {("t", "a"): ["Fresno"]}
    (match,) = find_matches(
        None, Shelf(values), schema_of(values), ["Fresno"], Told({"Fresno": np.nan})
    )
    assert (match.edit, match.semantic) == (1.0, 0.0)


@pytest.mark.parametrize("keywords", [[], ["?"], ["of the"]])
def test_no_keywords_find_no_values(keywords):
    assert found(keywords) == []


def test_the_order_of_keywords_and_of_the_index_changes_nothing():
    turned = {column: values[::-1] for column, values in reversed(SCHOOLS.items())}
    keywords = ["Alameda", "Fresno High", "County"]
    one = find_matches(None, Shelf(SCHOOLS), schema_of(SCHOOLS), keywords, Lexical())
    two = find_matches(None, Shelf(turned), schema_of(SCHOOLS), keywords[::-1], Lexical())
    assert one == two


def test_chess_keeps_to_the_thresholds_of_its_code():
    assert (CHESS.candidates, CHESS.edit, CHESS.semantic, CHESS.keep) == (10, 0.3, 0.6, 0.9)


def test_an_abbreviation_is_found_with_points_and_words_in_another_order():
    values = {("t", "a"): ["U.K.", "Exhibition (touring)"]}
    assert [value for *_, value in found(["UK", "touring exhibitions"], values)] == values["t", "a"]
