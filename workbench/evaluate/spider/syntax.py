"""The parts of a query in the grammar of Spider's evaluation script."""

from typing import NamedTuple, Union


class ColumnUse(NamedTuple):
    aggregate: str
    column: str  # `table.column` in lower case, or `*`
    distinct: bool


class Expression(NamedTuple):
    """A column, or two with an arithmetic operator between them."""

    operator: str
    left: ColumnUse
    right: ColumnUse | None


Value = Union[None, float, str, ColumnUse, "Query"]


class Condition(NamedTuple):
    negated: bool
    operator: str
    left: Expression
    value: Value
    upper: Value  # of BETWEEN


class Conditions(NamedTuple):
    units: tuple[Condition, ...] = ()
    connectors: tuple[str, ...] = ()


class Query(NamedTuple):
    """One SELECT. A table is a name or a subquery. Only the presence of LIMIT is recorded, not its number."""

    select: tuple[tuple[str, Expression], ...] = ()
    distinct: bool = False
    tables: tuple[Union[str, "Query"], ...] = ()
    on: Conditions = Conditions()
    where: Conditions = Conditions()
    group: tuple[ColumnUse, ...] = ()
    having: Conditions = Conditions()
    order: tuple[str, tuple[Expression, ...]] | None = None
    limit: bool = False
    combined: tuple[str, "Query"] | None = None  # INTERSECT, UNION or EXCEPT, and its second query

    @property
    def units(self) -> tuple[Condition, ...]:
        """The conditions of ON, WHERE and HAVING."""
        return self.on.units + self.where.units + self.having.units

    @property
    def connectors(self) -> tuple[str, ...]:
        """Each AND and OR of ON, WHERE and HAVING."""
        return self.on.connectors + self.where.connectors + self.having.connectors
