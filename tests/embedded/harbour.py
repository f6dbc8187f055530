"""A small schema to parse questions about, and what builds a context from a question."""

from workbench.embedded.prompt.schema_reading import read_create_tables
from workbench.types import Context, Question, ValueMatch

SCHEMA = read_create_tables("""
CREATE TABLE ship (
    ship_id INTEGER PRIMARY KEY, -- ship id; unique id of the ship
    sname TEXT, -- ship name; examples: 'Alma', 'Berta'
    flag TEXT, -- country of registration; examples: 'Norway', 'Malta'
    built INTEGER, -- year in which the ship was built; examples: 1998, 2007
    len_m REAL -- length in metres; examples: 80.5, 120.0
);
CREATE TABLE pilot (
    pilot_id INTEGER PRIMARY KEY,
    fname TEXT, -- first name
    surname TEXT, -- examples: 'Holm', 'Reid'
    mentor INTEGER, -- pilot who trained this one
    FOREIGN KEY (mentor) REFERENCES pilot (pilot_id)
);
CREATE TABLE visit (
    visit_id INTEGER PRIMARY KEY,
    ship_id INTEGER,
    pilot_id INTEGER,
    arrived TEXT, -- day of arrival; examples: '2021-03-04', '2022-11-30'
    st TEXT, -- status; K: cancelled, A: arrived; examples: 'K', 'A'
    dues REAL, -- harbour dues in euros; examples: 120.0, 99.5
    FOREIGN KEY (ship_id) REFERENCES ship (ship_id),
    FOREIGN KEY (pilot_id) REFERENCES pilot (pilot_id)
);
""")


def asking(question, hint="", values=(), examples=()):
    """A context; values are written (table, column, value)."""
    matches = tuple(ValueMatch(*value, "", 0.0, 0.0) for value in values)
    return Context(Question("", "", question, hint), SCHEMA, matches, (), examples)
