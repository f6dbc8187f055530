"""A database of made-up names, streets, cities, products and codes, and what people type who look for them."""

import random
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

# ruff: noqa: SIM905  lists of words are read more easily as text
ONSETS = "b br c ch d dr f fl g gr h j k kl l m n p pr qu r s sh st t tr v w z".split()
NUCLEI = "a a a e e e i i o o u ai ea ie oo ou é ö".split()
CODAS = [
    "",
    "",
    "",
    "l",
    "n",
    "n",
    "r",
    "r",
    "s",
    "t",
    "ck",
    "ld",
    "nd",
    "ng",
    "rt",
    "st",
    "x",
]
ENDINGS = {
    "first": ["a", "ia", "en", "o", "us", "ette", "ine", "y", ""],
    "last": ["son", "man", "ez", "ski", "er", "berg", "ley", "ton", "i", ""],
    "place": [
        "ville",
        "burg",
        "ham",
        "ton",
        "ford",
        "dale",
        "port",
        "field",
        "stad",
        "a",
    ],
    "brand": ["ex", "ora", "ify", "co", "ium", "on", ""],
}
WAYS = "Street Avenue Road Lane Drive Court Place Way Boulevard Square".split()
SIDES = ["", "", "", "North ", "South ", "East ", "West ", "Old ", "Upper "]
TOWNS = ["", "", "", "", "Port ", "Saint ", "New ", "Lake ", "Mount ", "San ", "Bad "]
TAILS = [
    "",
    "",
    "",
    "",
    " Springs",
    " Heights",
    " Beach",
    " Park",
    " Falls",
    " on the Hill",
]
LOOKS = "Classic Deluxe Mini Steel Wooden Organic Blue Black Red Portable Electric Smart Soft".split()
THINGS = """Kettle Chair Lamp Table Backpack Jacket Bottle Knife Keyboard Blanket Drill Bicycle Mirror
    Shelf Notebook Toaster Umbrella Headphones Speaker Ladder Pillow Tent Wallet Razor Candle""".split()
SIZES = ["", "", "", " XL", " S", " 2-pack", " 500 ml", " 1 kg", " 30 cm", " 12 V"]


class Gazetteer:
    """Makers of values. Words are drawn as in life: few of them often, most of them seldom."""

    def __init__(self, seed: int = 1) -> None:
        self._random = random.Random(seed)
        self.words = {kind: self._lexicon(kind, 6000) for kind in ENDINGS}
        self.kinds: dict[str, Callable[[], str]] = {
            "name": lambda: f"{self._word('first')} {self._word('last')}",
            "street": self._street,
            "city": lambda: (
                f"{self._pick(TOWNS)}{self._word('place')}{self._pick(TAILS)}"
                if self._random.random() < 0.5
                else f"{self._word('place')}-{self._word('place')}"
            ),
            "product": lambda: (
                f"{self._word('brand')} {self._pick(LOOKS)} {self._pick(THINGS)}{self._pick(SIZES)}"
            ),
            "code": self._code,
        }

    def _lexicon(self, kind: str, size: int) -> list[str]:
        words: dict[str, None] = {}
        while len(words) < size:
            stem = "".join(
                self._pick(ONSETS) + self._pick(NUCLEI) + self._pick(CODAS)
                for _ in range(self._random.choice([1, 1, 2]))
            )
            words[(stem + self._pick(ENDINGS[kind])).capitalize()] = None
        return list(words)

    def _pick(self, choices: list[str]) -> str:
        return self._random.choice(choices)

    def _word(self, kind: str) -> str:
        words = self.words[kind]
        return words[int(len(words) * self._random.random() ** 3)]

    def _street(self) -> str:
        number = int(10 ** (1 + 3 * self._random.random()))
        return f"{number} {self._pick(SIDES)}{self._word('last')} {self._pick(WAYS)}"

    def _code(self) -> str:
        letters = "".join(self._random.choices("ABCDEFGHJKLMNPRSTUVWXYZ", k=3))
        return (
            f"{letters}-{self._random.randrange(10**6):06}-{self._pick(list('ABCDEF'))}"
        )

    def values(self, count: int, columns: int = 30) -> dict[str, list[str]]:
        """`count` distinct values over so many columns, of each kind in turn."""
        seen: set[str] = set()
        made: dict[str, list[str]] = {}
        for number in range(columns):
            kind = list(self.kinds)[number % len(self.kinds)]
            wanted = (count * (number + 1)) // columns - (count * number) // columns
            column: list[str] = []
            while len(column) < wanted:
                value = self.kinds[kind]()
                if value not in seen:
                    seen.add(value)
                    column.append(value)
            made[f"{kind}_{number}"] = column
        return made


def write(path: Path, values: dict[str, list[str]]) -> None:
    """A database with a table for each five columns."""
    names = list(values)
    with closing(sqlite3.connect(path)) as database:
        for start in range(0, len(names), 5):
            part = names[start : start + 5]
            table = f"table_{start // 5}"
            database.execute(
                f"CREATE TABLE {table} ({', '.join(f'{n} TEXT' for n in part)})"
            )
            marks = ", ".join("?" * len(part))
            rows = zip(*(values[n] + [None] for n in part), strict=False)
            database.executemany(f"INSERT INTO {table} VALUES ({marks})", rows)
        database.commit()


def queries(
    values: dict[str, list[str]], each: int, seed: int = 2
) -> Iterator[tuple[str, str, str]]:
    """(sort, what is typed, the value that is meant), so many of each sort."""
    chance = random.Random(seed)
    every = [value for column in values.values() for value in column]
    for sort, typed in (
        ("0 typos", lambda value: value),
        ("1 typo", lambda value: typo(value, chance)),
        ("2 typos", lambda value: typo(typo(value, chance), chance)),
        ("prefix", lambda value: value[: max(4, 2 * len(value) // 3)]),
        ("one word", lambda value: max(value.split(), key=len)),
        (
            "another case",
            lambda value: value.swapcase() if chance.random() < 0.5 else value.upper(),
        ),
    ):
        for _ in range(each):
            value = chance.choice(every)
            yield sort, typed(value), value


def typo(text: str, chance: random.Random) -> str:
    """A letter more, fewer, another, or two exchanged."""
    at = chance.randrange(len(text))
    letter = chance.choice("abcdefghijklmnopqrstuvwxyz")
    return chance.choice(
        [
            text[:at] + letter + text[at:],
            text[:at] + text[at + 1 :],
            text[:at] + letter + text[at + 1 :],
            text[:at] + text[at + 1 : at + 2] + text[at : at + 1] + text[at + 2 :],
        ]
    )
