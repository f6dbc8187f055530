import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.errors import BadInputError
from workbench.evaluate.gold.schema import Linking, mean_linking

ITEMS = st.lists(
    st.tuples(st.sampled_from("abc"), st.one_of(st.none(), st.sampled_from("xyz"))), max_size=8
)


def linking(selected, used):
    return mean_linking([(selected, used)])


def test_one_question_by_hand():
    selected = [("singer", "name"), ("singer", "age"), ("singer", "id"), ("concert", "year")]
    used = [("singer", "name"), ("singer", "country")]
    assert linking(selected, used) == Linking(
        table_precision=1 / 2, table_recall=1, column_precision=1 / 4, column_recall=1 / 2
    )


def test_a_column_of_the_same_name_in_another_table_is_another_column():
    result = linking([("singer", "id")], [("concert", "id")])
    assert result == Linking(0, 0, 0, 0)


def test_case_does_not_count_and_neither_do_repetitions():
    assert linking([("Singer", "NAME"), ("SINGER", "name")], [("singer", "Name")]) == Linking(
        1, 1, 1, 1
    )


def test_a_table_may_be_used_without_a_column():
    result = linking([("singer", "id")], [("singer", None)])
    assert (result.table_precision, result.table_recall) == (1, 1)
    assert (result.column_precision, result.column_recall) == (0, 1)


def test_a_table_named_without_a_column_is_not_counted_twice():
    assert linking([("singer", "id")], [("Singer", None), ("singer", "id")]) == Linking(1, 1, 1, 1)


def test_an_empty_selection_has_precision_1_and_recall_0():
    assert linking([], [("singer", "id")]) == Linking(1, 0, 1, 0)


def test_recall_is_1_if_gold_uses_no_column():
    assert linking([("singer", "id")], []) == Linking(0, 1, 0, 1)


@given(ITEMS, ITEMS)
def test_precision_one_way_is_recall_the_other_way(selected, used):
    there, back = linking(selected, used), linking(used, selected)
    assert (there.table_precision, there.column_precision) == (
        back.table_recall,
        back.column_recall,
    )


def test_the_mean_lets_each_question_count_the_same():
    small = ([("a", "x")], [("a", "x")])
    large = ([("b", "x"), ("b", "y"), ("b", "z"), ("c", "x")], [("b", "x"), ("d", "x")])
    assert mean_linking([small, large]) == Linking(
        table_precision=(1 + 1 / 2) / 2,
        table_recall=(1 + 1 / 2) / 2,
        column_precision=(1 + 1 / 4) / 2,
        column_recall=(1 + 1 / 2) / 2,
    )


def test_a_mean_needs_questions():
    with pytest.raises(BadInputError, match="no questions"):
        mean_linking([])
