"""A table of the English words and phrases that ask for operations.

Each line of `CUES` gives a cue and the phrases that express it. A cue is only a hint: which operation
follows is for the learned weights to say.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from workbench.english.words import NUMBERS, Token, stem

CUES = """
count     how many | number of | count | count of | amount of | how often | the number
sum       total | sum | in total | altogether | combined | overall | how much | total number of | total amount
avg       average | mean | on average | avg | averages
max       maximum | max | highest | largest | biggest | greatest | top | peak | upper | best | maximal
max       longest | heaviest | tallest | most expensive | richest | strongest | brightest | fastest | deepest
max       most recent | newest | latest | last | youngest | most recently | farthest | furthest | costliest
max       widest | busiest | hottest | the most | most | leading | highest-paid | record
min       minimum | min | lowest | smallest | least | shortest | cheapest | oldest | earliest | first | fewest
min       least expensive | lightest | slowest | worst | weakest | nearest | closest | minimal | bottom | the least
min       narrowest | poorest | coldest | eldest
most      most | the most | most common | most frequent | most often | most popular | most frequently | biggest
most      largest number of | highest number of | greatest number of | maximum number of | more often
most      most commonly | top | largest | largest amount of | highest count of | busiest | as many
fewest    fewest | least | least common | least frequent | least often | smallest number of | rarest
fewest    lowest number of | least popular | fewest number of | minimum number of | least commonly
percent   percentage | percent | percentages | % | proportion | what share | share of | fraction
ratio     ratio | how many times | times as many | times more | proportion | rate | per
differ    difference | differ | how many more | how much more | how much higher | how many fewer | minus | gap
each      each | every | per | for each | for every | respective | for all | grouped by | in each | across
distinct  different | distinct | unique | distinctive | kinds of | types of
not       leaving out | outside | not | no | never | without | n't | except | excluding | neither | nor | other than | don't | doesn't
not       didn't | isn't | aren't | wasn't | weren't | hasn't | haven't | cannot | none | apart from | non | lack
more      more than | over | above | greater than | exceed | exceeds | exceeding | exceeded | larger than | beyond
more      higher than | bigger than | older than | longer than | heavier than | upwards of | > | taller than
more      better than | more | higher | longer | greater | larger | surpass | surpasses | in excess of
less      less than | under | below | fewer than | smaller than | lower than | shorter than | younger than | <
less      lighter than | cheaper than | fewer | lower | worse than | short of
atleast   at least | or more | no less than | minimum of | not less than | no fewer than | >= | ≥ | or higher | or above
atleast   or over | or greater | or longer | or older | not below | from
atmost    at most | or less | up to | no more than | maximum of | not more than | <= | ≤ | or fewer | or below | or lower
atmost    not exceeding | not above | or under | or younger
after     or later | or after | and later | after | since | later than | following | onwards | from | as of | past
before    or earlier | or before | and earlier | before | prior to | earlier than | until | till | by | up to
between   between | from | ranging from | ranges from
sortdesc  descending | decreasing | from most | highest to lowest | from highest | from high | reverse | most recent first
sortdesc  from the highest | from oldest | largest first | highest first | from the most | from largest
sortasc   ascending | increasing | alphabetical | alphabetically | lexicographic | lowest to highest | from low
sortasc   ordered by | sorted by | order by | sort by | in order of | in the order of | ordered | sorted | rank | from youngest
null      missing | unknown | no | without | blank | empty | null | lack | not recorded | not have | unrecorded | not yet | never
notnull   known | recorded | available | not missing | not null | with a | has a | have a | specified
both      both | and also | as well as | and | but also
either    or | either
start     start with | starts with | starting with | begin with | begins with | beginning with | prefix
end       end with | ends with | ending with | ending in | ends in | suffix
contain   contain | contains | containing | include | includes | including | substring | has the word | with the word | mention | mentions | mentioning
wh        what | which | who | when | where | whose | list | show | give | find | return | name | state | tell
wh        provide | indicate | identify | display | mention | write | please | calculate | compute | determine | report
wh        how old | how long | how high | how tall | how far | how big | how heavy | how large | get | describe | select
who       who | whose | whom
when      when | what date | which date | what day | on what date
where     where
"""

# What an adjective measures, as stems to look for in names and descriptions: "the cheapest" is about a price.
ATTRIBUTES = {
    "old": "age birth date year build found", "young": "age birth date year", "new": "date year build",
    "late": "date time year", "early": "date time year", "recent": "date time year", "long": "length duration time minut",
    "short": "length height duration time minut", "tall": "height", "high": "height altitude", "heavi": "weight mass", "light": "weight mass",
    "cheap": "price cost fee fare rate", "expensiv": "price cost fee fare rate", "cost": "price cost",
    "fast": "speed time velocity", "slow": "speed time velocity", "large": "size area capacity population amount",
    "big": "size area capacity population amount", "small": "size area capacity population amount",
    "rich": "income revenue earn balance wealth", "deep": "depth", "near": "distance", "close": "distance",
    "far": "distance", "bright": "magnitud brightness", "wide": "width", "popul": "popul", "hot": "temperatur", "cold": "temperatur", "best": "score rank rate point grade", "worst": "score rank rate point grade",
    "who": "name surnam forenam", "when": "date time year day", "where": "city country locat address place town region", "often": "frequenc count",
    "first": "date time year", "last": "date time year", "start": "date time year", "end": "date time year",
    "into": "target destin arriv", "from": "sourc origin depart", "to": "target destin arriv",
    "experienc": "experienc year", "strong": "strength power force", "valu": "price cost amount worth"
}  # fmt: skip

# Adjectives of age point the other way on dates of birth and of building.
OLD = frozenset(
    {"oldest", "older", "eldest", "old", "youngest", "younger", "young", "newest", "newer"}
)


@dataclass(frozen=True, slots=True)
class Cue:
    """A phrase that asks for something: tokens `first` up to but not including `end`."""

    kind: str
    first: int
    end: int
    word: str

    @property
    def mask(self) -> int:
        return (1 << self.end) - (1 << self.first)


def _table() -> dict[str, list[tuple[tuple[str, ...], str]]]:
    """The phrases that start with each word, the longest first."""
    table: dict[str, list[tuple[tuple[str, ...], str]]] = {}
    for line in CUES.strip().splitlines():
        kind, _, phrases = line.partition(" ")
        for phrase in phrases.split("|"):
            words = tuple(phrase.split())
            table.setdefault(words[0], []).append((words, kind))
    return {first: sorted(found, key=lambda item: -len(item[0])) for first, found in table.items()}


_CUES = _table()
_ATTRIBUTES = {
    word: tuple(stem(name) for name in names.split()) for word, names in ATTRIBUTES.items()
}


def cues(question: Sequence[Token]) -> list[Cue]:
    """The cues in a question, of each kind the longest that starts at a word."""
    lows = [token.low for token in question]
    found: list[Cue] = []
    for index, low in enumerate(lows):
        if question[index].quoted:
            continue
        kinds: set[str] = set()
        for words, kind in _CUES.get(low, ()):
            end = index + len(words)
            if kind not in kinds and tuple(lows[index:end]) == words:
                kinds.add(kind)
                found.append(Cue(kind, index, end, words[-1]))
        if low.endswith("n't") and "not" not in kinds:
            found.append(Cue("not", index, index + 1, low))
        if low.endswith("est") and len(low) > 4 and not kinds & {"max", "min"}:
            found.append(Cue("max", index, index + 1, low))
        following = lows[index + 1 : index + 2] == ["than"]
        if low.endswith("er") and following and not kinds:
            found.append(Cue("more", index, index + 2, low))
    return [c for c in found if not any(_inside(c, other) for other in found)]


def _inside(cue: Cue, other: Cue) -> bool:
    """Whether the cue is a part of a longer one, as "least" is of "at least"."""
    if other.kind in {"wh", "contain"} or (
        other.kind in {"most", "fewest"} and cue.kind in {"max", "min"}
    ):
        return False
    shorter = cue.end - cue.first < other.end - other.first
    return shorter and other.first <= cue.first and cue.end <= other.end


def attributes(words: Sequence[str]) -> tuple[str, ...]:
    """The stems that name what these adjectives measure, themselves included."""
    found: list[str] = []
    for word in words:
        for root in (word, *(word.removesuffix(ending) for ending in ("est", "er", "st"))):
            for base in (root, root + "e", root[:-1]):
                found += _ATTRIBUTES.get(base, ())
        found.append(stem(word))
    return tuple(dict.fromkeys(found))


def small_number(token: Token) -> int | None:
    """A count as "top 5" or "three most" gives it."""
    if token.number is not None and token.number == int(token.number) and 0 < token.number <= 1000:
        return int(token.number)
    return NUMBERS.get(token.low)
