"""SQLite sorts NULL before all values, so an ascending order begins with the rows that have no value."""

from collections.abc import Iterator

from workbench.db.sql.derived.doubts.selects import Doubt, numbered, selects, text
from workbench.types import Schema


def nulls_first(sql: str, schema: Schema) -> Iterator[Doubt]:
    """A doubt for each ascending ORDER BY, in a subquery only with LIMIT; its probe returns result rows with NULL."""
    for select in selects(sql, schema):
        limits, orders, outputs = select.limits(), select.orders(), select.outputs()
        first = select.node.args["order"].expressions[0] if orders else None
        if first is None or orders[0][1] or not outputs or not (limits or select.outermost):
            continue
        if first.args.get("nulls_first") is False:  # NULLS LAST
            continue
        keys = numbered("key", [term for term, _ in orders])
        answer = select.rebuilt(numbered("result", outputs) | keys)
        order = ", ".join(key + " DESC" * down for key, (_, down) in zip(keys, orders, strict=True))
        cut = f" LIMIT {limits[0]} OFFSET {limits[1]}" if limits else ""
        yield Doubt(
            f"ORDER BY {text(orders[0][0])} puts rows first that have no value",
            select.probe(
                {
                    "audit_answer": answer,
                    "audit_result": f"SELECT * FROM audit_answer ORDER BY {order}{cut}",
                },
                "SELECT * FROM audit_result WHERE key1 IS NULL",
            ),
        )
