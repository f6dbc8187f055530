"""Doubts about ORDER BY: LIMIT cuts through equal rows, and NULL sorts before all values."""

from collections.abc import Iterator

from workbench.db.sql.derived.doubts.selects import (
    Doubt,
    QuerySelect,
    numbered,
    of_each_select,
    text,
)


@of_each_select
def ties(select: QuerySelect) -> Iterator[Doubt]:
    """Doubt an ORDER BY with a LIMIT that cuts through equal rows, so that chance decides which of them are returned.

    The probe returns tied rows that differ in the result columns.
    """
    limits, orders, outputs = select.limits(), select.orders(), select.outputs()
    if not limits or not orders or not outputs:
        return
    count, skipped = limits
    results = numbered("result", outputs)
    keys = numbered("key", [term for term, _ in orders])
    order = ", ".join(key + " DESC" * down for key, (_, down) in zip(keys, orders, strict=True))
    places = (
        f"SELECT *, RANK() OVER (ORDER BY {order}) AS place,"
        f" COUNT(*) OVER (PARTITION BY {', '.join(keys)}) AS tied FROM audit_answer"
    )
    # Chance decides only where equal rows lie on both sides of a cut: after OFFSET, or after LIMIT.
    cuts = [cut for cut in (skipped, skipped + count) if cut]
    across = " OR ".join(f"(place <= {cut} AND place + tied - 1 > {cut})" for cut in cuts)
    steps = {
        "audit_answer": select.rebuilt(results | keys),
        "audit_places": places,
        "audit_tie": f"SELECT * FROM audit_places WHERE {across}",
        "audit_kinds": f"SELECT DISTINCT {', '.join(results)} FROM audit_tie",
    }
    yield Doubt(
        f"rows are tied at LIMIT {count}" + f" OFFSET {skipped}" * bool(skipped),
        select.probe(
            steps,
            f"SELECT {', '.join([*results, *keys])} FROM audit_tie"
            " WHERE (SELECT COUNT(*) FROM audit_kinds) > 1",
        ),
    )


@of_each_select
def nulls_first(select: QuerySelect) -> Iterator[Doubt]:
    """Doubt an ascending ORDER BY, in a subquery only with LIMIT, which begins with the rows without a value.

    The probe returns result rows with NULL.
    """
    limits, orders, outputs = select.limits(), select.orders(), select.outputs()
    first = select.node.args["order"].expressions[0] if orders else None
    if first is None or orders[0][1] or not outputs or not (limits or select.outermost):
        return
    if first.args.get("nulls_first") is False:  # NULLS LAST
        return
    keys = numbered("key", [term for term, _ in orders])
    order = ", ".join(key + " DESC" * down for key, (_, down) in zip(keys, orders, strict=True))
    cut = f" LIMIT {limits[0]} OFFSET {limits[1]}" if limits else ""
    steps = {
        "audit_answer": select.rebuilt(numbered("result", outputs) | keys),
        "audit_result": f"SELECT * FROM audit_answer ORDER BY {order}{cut}",
    }
    yield Doubt(
        f"ORDER BY {text(orders[0][0])} puts rows first that have no value",
        select.probe(steps, "SELECT * FROM audit_result WHERE key1 IS NULL"),
    )
