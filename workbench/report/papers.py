"""The papers' published numbers, by paper and by the table or figure that prints them."""

from workbench.errors import BadInputError
from workbench.report.numbers.chase_sql import TABLES as CHASE_TABLES
from workbench.report.numbers.chase_sql_figures import FIGURES as CHASE_FIGURES
from workbench.report.numbers.chess import CHESS
from workbench.report.numbers.mac_sql import MAC_SQL
from workbench.report.published import Published

__all__ = ["ALL", "Published", "published"]

ALL: tuple[Published, ...] = (*CHASE_TABLES, *CHASE_FIGURES, *CHESS, *MAC_SQL)


def published(paper: str, source: str) -> Published:
    """The numbers of, say, "CHASE-SQL" and "table 4"."""
    of_paper = {one.source: one for one in ALL if one.paper.casefold() == paper.casefold()}
    if not of_paper:
        known = ", ".join(dict.fromkeys(one.paper for one in ALL))
        raise BadInputError(f"no numbers of a paper {paper!r}; there are those of {known}")
    if source.casefold() not in of_paper:
        known = ", ".join(of_paper)
        raise BadInputError(f"no numbers of {source!r} in {paper}; there are {known}")
    return of_paper[source.casefold()]
