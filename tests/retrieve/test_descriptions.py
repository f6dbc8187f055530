"""Which descriptions of the catalog a question is shown."""

from workbench.retrieve.descriptions import Descriptions
from workbench.retrieve.lexical import Lexical
from workbench.types import Column, Question, Schema, Table

BEES = Schema(
    "apiary",
    (
        Table(
            "keeper",
            (
                Column("grade", "TEXT", "examination passed", "M: master; B: basic"),
                Column("lapsed", "TEXT", "date on which the membership ended."),
                Column("town", "TEXT"),
            ),
        ),
        Table("hive", (Column("lastVisit", "TEXT", "when it was opened"),)),
    ),
)


def found(text, hint="", keywords=(), schema=BEES, **options):
    question = Question("1", "apiary", text, hint)
    return Descriptions(**options)(None, question, schema, keywords, Lexical())


def test_the_description_most_like_the_question_comes_first():
    first = found("who is a master?")[0]
    assert (first.table, first.column) == ("keeper", "grade")
    assert first.text == "examination passed; M: master; B: basic"


def test_the_hint_counts_as_the_question_does():
    assert found("who left?", "left refers to membership ended")[0].column == "lapsed"


def test_each_keyword_is_compared_with_descriptions_by_itself():
    assert found("which ones?", keywords=["membership"])[0].column == "lapsed"


def test_what_one_keyword_has_first_is_found_though_the_question_is_about_others():
    columns = tuple(Column(f"c{n}", "", f"vessel length of kind {n}") for n in range(30))
    schema = Schema("d", (Table("t", (*columns, Column("draught", "", "depth of the keel"))),))
    shown = found("Which vessel has the length?", keywords=["vessel length", "keel"], schema=schema)
    assert "draught" in [match.column for match in shown][:5]


def test_questions_without_a_hint_are_ranked_by_what_they_say_alone():
    assert found("who is a master?", hint="") == found("who is a master?", hint="  ")


def test_names_of_columns_are_read_as_words():
    assert found("last visit")[0].column == "lastVisit"


def test_at_most_top_descriptions_are_found_and_all_share_a_word():
    assert len(found("membership examination opened", top=2)) == 2
    assert found("zzz") == ()


def test_a_column_without_a_description_is_never_found():
    assert all(match.column != "town" for match in found("town", top=10))


def test_a_schema_without_descriptions_gives_none():
    assert found("town", schema=Schema("d", (Table("t", (Column("town"),)),))) == ()


def test_equal_scores_are_ordered_as_in_the_schema():
    twins = Schema("d", (Table("t", tuple(Column(name, "", "same text") for name in "ba")),))
    assert [match.column for match in found("same text", schema=twins)] == ["b", "a"]
