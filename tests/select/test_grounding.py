"""Values looked up in the columns where queries look for them."""

from workbench.select.grounding import absent_values


def look(zoo, *wanted):
    return absent_values(zoo.lab(None).executor, zoo.path, wanted)


def test_values_that_a_column_does_not_hold_by_sqlites_own_equality(zoo):
    absent = {("animal", "name", "Cat"), ("animal", "legs", 5), ("animal", "name", "it's")}
    present = {("animal", "name", "cat"), ("animal", "legs", "4"), ("animal", "legs", 4.0)}
    assert look(zoo, *absent, *present) == absent


def test_more_values_than_one_query_asks_for(zoo):
    wanted = [("animal", "legs", n) for n in range(120)]
    assert len(look(zoo, *wanted)) == 117


def test_a_value_that_cannot_be_looked_up_counts_as_present(zoo):
    assert look(zoo, ("no such table", "name", "cat")) == frozenset()
    assert look(zoo, ("animal", "name", "\0"), ("animal", "name", "x" * 1000)) == frozenset()
