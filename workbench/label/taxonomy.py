"""Taxonomies of errors: those of the three papers, and the user's own, all written in YAML.

A taxonomy names the cases that it sorts, its categories, and which of our causes (see `suggest`) suggests
which of them. Those of the papers lie in `taxonomies/`, to be copied and changed.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from pathlib import Path
from typing import Any

from workbench.errors import BadInputError
from workbench.yamlfile import read_yaml

_FOLDER = Path(__file__).with_name("taxonomies")
WHICH = (
    "wrong",
    "no correct candidate",
    "selection failed",
)  # the cases that a taxonomy can be for
FILTERS = ("all", "to do", "labelled", "skipped")  # beside the categories, so none is called that
CAUSES = (
    "gold likely wrong",
    "hint ignored",
    "missing table or join",
    "other column",
    "other literal",
    "aggregation",
    "function",
    "DISTINCT or NULL handling",
    "order and limit",
    "duplicates",
    "vague question",  # this and the next are known of a question, never concluded from queries
    "inconsistent columns",
)


@dataclass(frozen=True, slots=True)
class Category:
    """`apart` marks what is not one of the shares that the paper's figure shows."""

    name: str
    meaning: str = ""
    parts: tuple["Category", ...] = ()
    suggested_by: tuple[str, ...] = ()
    apart: bool = False


Choice = tuple[str, str]  # a category and its sub-category, "" for none


@dataclass(frozen=True, slots=True)
class Taxonomy:
    """`cases` says which cases it is for, and `share` what part of them its authors looked at."""

    name: str
    categories: tuple[Category, ...]
    source: str = ""
    cases: str = "wrong"
    share: Fraction = Fraction(1)

    def choices(self) -> Iterator[tuple[Choice, Category]]:
        """All that a case can be labelled: each category, followed by its sub-categories."""
        for category in self.categories:
            yield (category.name, ""), category
            for part in category.parts:
                yield (category.name, part.name), part

    def check(self, category: str, subcategory: str = "") -> None:
        """BadInputError where there is no such category."""
        known = [choice for choice, _ in self.choices()]
        if (category, subcategory) not in known:
            names = "; ".join(" / ".join(filter(None, choice)) for choice in known)
            raise BadInputError(
                f"{self.name} has no category {' / '.join(filter(None, (category, subcategory)))!r};"
                f" there are {names}"
            )

    def suggested(self, cause: str) -> Choice | None:
        """What a cause is called here; None where there is nothing of that kind."""
        return next((choice for choice, one in self.choices() if cause in one.suggested_by), None)


def open_taxonomy(name: str) -> Taxonomy:
    """One of the papers' by its name, in any case, or the user's own by its YAML file."""
    known = published()
    if name.lower() in known:
        return known[name.lower()]
    if Path(name).suffix in {".yaml", ".yml"}:
        own = load_taxonomy(Path(name))
        if known.get(own.name.lower(), own) != own:
            raise BadInputError(
                f"{name}: {own.name} is a paper's taxonomy and this is another: give it another name"
            )
        return own
    raise BadInputError(
        f"no taxonomy {name!r}; there are {', '.join(one.name for one in known.values())}, or give a"
        " file that ends in .yaml"
    )


@lru_cache(maxsize=1)
def published() -> dict[str, Taxonomy]:
    """The papers' taxonomies by their names in lower case."""
    found = [load_taxonomy(path) for path in sorted(_FOLDER.glob("*.yaml"))]
    return {one.name.lower(): one for one in found}


def load_taxonomy(path: Path) -> Taxonomy:
    """A taxonomy from its file, or one line on what is wrong with it."""
    try:
        return _taxonomy(read_yaml(path))
    except ValueError as error:
        raise BadInputError(f"{path}: {error}") from error


def _taxonomy(record: Any) -> Taxonomy:
    _fields(record, "the file", ("name", "categories", "source", "cases", "share"))
    cases = record.get("cases", "wrong")
    if cases not in WHICH:
        raise ValueError(f"cases is {cases!r}, not one of {', '.join(WHICH)}")
    try:
        share = Fraction(str(record.get("share", 1)))
    except (ValueError, ZeroDivisionError) as error:
        raise ValueError(f"share is {record['share']!r}, not a fraction such as 1/3") from error
    if not 0 < share <= 1:
        raise ValueError(f"share is {share}: it must be above 0 and at most 1")
    return Taxonomy(
        name=_name(record, "the file"),
        categories=_categories(record.get("categories"), "categories"),
        source=_text(record, "source", "the file", ""),
        cases=cases,
        share=share,
    )


def _categories(records: Any, where: str, *, parts: bool = True) -> tuple[Category, ...]:
    if not isinstance(records, list) or not records:
        raise ValueError(f"{where} must be a list of categories, each with a name")
    found = []
    for number, record in enumerate(records, 1):
        place = f"{where}, number {number}"
        if isinstance(record, str):
            record = {"name": record}  # noqa: PLW2901  the short way to write a category
        fields = ("name", "meaning", "suggested_by", "apart", *(("parts",) if parts else ()))
        _fields(record, place, fields)
        causes = record.get("suggested_by") or []
        if unknown := [c for c in _list(causes, place) if c not in CAUSES]:
            raise ValueError(f"{place}: suggested_by {unknown[0]!r} is none of {', '.join(CAUSES)}")
        apart = record.get("apart", False)
        if not isinstance(apart, bool):
            raise ValueError(f"{place}: apart must be true or false, not {apart!r:.60}")  # noqa: TRY004
        below = record.get("parts")
        found.append(
            Category(
                _name(record, place),
                _text(record, "meaning", place, ""),
                _categories(below, f"{place}, parts", parts=False) if below is not None else (),
                tuple(causes),
                apart,
            )
        )
    names = [one.name for one in found]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise ValueError(f"{where}: {twice!r} stands there twice")
    if parts and (taken := next((name for name in names if name.lower() in FILTERS), None)):
        raise ValueError(f"{where}: {taken!r} is what a filter is called: give another name")
    return tuple(found)


def _fields(record: Any, where: str, allowed: tuple[str, ...]) -> None:
    if not isinstance(record, dict):
        raise ValueError(f"{where} must have fields such as {allowed[0]}, not {record!r:.60}")  # noqa: TRY004
    if unknown := [key for key in record if key not in allowed]:
        raise ValueError(f"{where}: no field {unknown[0]!r}; there are {', '.join(allowed)}")


def _list(value: Any, where: str) -> list[Any]:
    if not isinstance(value, list):
        raise ValueError(f"{where}: suggested_by must be a list, not {value!r:.60}")  # noqa: TRY004
    return value


def _name(record: dict[str, Any], where: str) -> str:
    name = _text(record, "name", where).strip()
    if len(name.splitlines()) > 1:
        raise ValueError(f"{where}: name must be one line, not {name!r:.60}")
    return name


def _text(record: dict[str, Any], name: str, where: str, default: str | None = None) -> str:
    value = record.get(name, default)
    if not isinstance(value, str) or (default is None and not value.strip()):
        raise ValueError(f"{where}: {name} must be a text, not {value!r:.60}")
    return value
