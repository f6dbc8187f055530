"""What a query may return, in every shape that the grammar knows; which fits the weights will say."""

from workbench.embedded.groups import group_keys, groups, havings, shares_of
from workbench.embedded.head import Head, listing, unasked
from workbench.embedded.orders import extremes_of, ordered
from workbench.embedded.outputs import combinations, outputs
from workbench.embedded.reading import Reading
from workbench.embedded.totals import counts, formulas, totals

_KEPT = 72


def heads(reading: Reading) -> list[Head]:
    """The heads worth a thought, the best first."""
    singles = outputs(reading)
    lists = [listing(reading, parts) for parts in combinations(reading, singles)]
    lists.sort(key=lambda h: -h.score)
    extremes = extremes_of(reading)
    found = list(lists[:24])
    found += ordered(reading, lists[:10], extremes)
    found += counts(reading)
    found += totals(reading, extremes)
    found += formulas(reading, lists[:4])
    found += groups(reading, group_keys(reading, lists), found)
    found += havings(reading, lists[:8])
    found += shares_of(reading)
    for head in found:
        if head.shape != "formula":
            head.features |= unasked(reading, head.operations)
        head.score = reading.score(head.features)
    found.sort(key=lambda h: (-h.score, h.shape, str(h.select)))
    return found[:_KEPT]
