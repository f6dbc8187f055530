"""LIMIT cuts through rows that are equal under ORDER BY, so chance decides which of these rows the query returns."""

from collections.abc import Iterator

from workbench.db.sql.derived.doubts.selects import Doubt, numbered, selects
from workbench.types import Schema


def ties(sql: str, schema: Schema) -> Iterator[Doubt]:
    """A doubt for each ORDER BY with a LIMIT; its probe returns tied rows that differ in the result columns."""
    for select in selects(sql, schema):
        limits, orders, outputs = select.limits(), select.orders(), select.outputs()
        if not limits or not orders or not outputs:
            continue
        count, skipped = limits
        results = numbered("result", outputs)
        keys = numbered("key", [term for term, _ in orders])
        answer = select.rebuilt(results | keys)
        descending = (" DESC" if down else "" for _, down in orders)
        order = ", ".join(key + down for key, down in zip(keys, descending, strict=True))
        places = (
            f"SELECT *, RANK() OVER (ORDER BY {order}) AS place,"
            f" COUNT(*) OVER (PARTITION BY {', '.join(keys)}) AS tied FROM audit_answer"
        )
        # Chance decides only where equal rows lie on both sides of a cut: after OFFSET, or after LIMIT.
        cuts = [cut for cut in (skipped, skipped + count) if cut]
        across = " OR ".join(f"(place <= {cut} AND place + tied - 1 > {cut})" for cut in cuts)
        yield Doubt(
            f"rows are tied at LIMIT {count}" + f" OFFSET {skipped}" * bool(skipped),
            select.probe(
                {
                    "audit_answer": answer,
                    "audit_places": places,
                    "audit_tie": f"SELECT * FROM audit_places WHERE {across}",
                    "audit_kinds": f"SELECT DISTINCT {', '.join(results)} FROM audit_tie",
                },
                f"SELECT {', '.join([*results, *keys])} FROM audit_tie"
                " WHERE (SELECT COUNT(*) FROM audit_kinds) > 1",
            ),
        )
