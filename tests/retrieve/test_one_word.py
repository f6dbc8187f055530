"""A keyword that is one word of a value finds the value, however many shorter values look like the word."""

import random
import sqlite3
from contextlib import closing

import pytest

from workbench.retrieve.index.trigram import Trigram
from workbench.retrieve.index.values import open_index
from workbench.retrieve.lexical import Lexical
from workbench.retrieve.matches import find_matches
from workbench.sql.schema import read_schema

PEOPLE, SURNAMES = 20_000, 40
_STARTS = ("B", "Br", "C", "D", "F", "Gr", "H", "K", "L", "M", "N", "P", "R", "St", "T", "V", "W")
_MIDDLES = ("a", "e", "i", "o", "ala", "eri", "ilto", "ono", "amil", "ecke", "isto", "ola")
_ENDS = ("n", "r", "s", "ck", "ld", "nd", "rt", "son", "ton", "berg", "man", "t")
_FIRST = [
    a + b
    for a in ("A", "E", "I", "J", "Lu", "Ma", "O", "Sa")
    for b in ("bi", "da", "ke", "na", "ri", "vo")
]


@pytest.fixture(scope="module")
def people(tmp_path_factory):
    """A database of 20,000 people, and 40 of them by a surname that nobody else has."""
    chance = random.Random(20_000)
    surnames = [a + b + c for a in _STARTS for b in _MIDDLES for c in _ENDS]
    chance.shuffle(surnames)
    rare, common = surnames[:SURNAMES], surnames[SURNAMES:]
    alone = {surname: f"{chance.choice(_FIRST)} {surname}" for surname in rare}
    every = [f"{first} {surname}" for first in _FIRST for surname in common]
    names = [*chance.sample(every, PEOPLE - SURNAMES), *alone.values()]
    path = tmp_path_factory.mktemp("people") / "people.sqlite"
    with closing(sqlite3.connect(path)) as database:
        database.execute("CREATE TABLE driver (id INTEGER PRIMARY KEY, name TEXT)")
        database.executemany("INSERT INTO driver (name) VALUES (?)", [(name,) for name in names])
        database.commit()
    return path, open_index(path, Trigram(), path.parent), alone


def test_every_surname_that_one_person_has_finds_this_person(people):
    path, index, alone = people
    schema = read_schema(path)
    kept = [
        surname
        for surname, name in alone.items()
        if name in {m.value for m in find_matches(None, index, schema, [surname], Lexical())}
    ]
    assert len(kept) == SURNAMES


def test_a_surname_in_a_longer_phrase_does_so_too(people):
    path, index, alone = people
    schema = read_schema(path)
    surname, name = next(iter(alone.items()))
    found = find_matches(None, index, schema, [f"the driver {surname}"], Lexical())
    assert name in {match.value for match in found}
