"""Taxonomies of errors in YAML: those of the three papers, and the user's own.

A taxonomy names the cases that it sorts and its categories; a category lists the causes (see `suggest`)
that suggest it. The papers' taxonomies lie in `taxonomies/`, to be copied and changed.
"""

from collections.abc import Iterator
from dataclasses import fields
from fractions import Fraction
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Literal, TypeAlias, get_args

from pydantic import (
    AfterValidator,
    BeforeValidator,
    ConfigDict,
    Field,
    StrictBool,
    StrictStr,
    TypeAdapter,
    ValidationError,
)
from pydantic.dataclasses import dataclass
from pydantic_core import ErrorDetails

from workbench.errors import BadInputError
from workbench.yamlfile import read_yaml

_FOLDER = Path(__file__).with_name("taxonomies")
# The labeller's filters, whose names no category may have.
FILTERS = ("all", "to do", "labelled", "skipped")

Which: TypeAlias = Literal["wrong", "no correct candidate", "selection failed"]
WHICH: tuple[Which, ...] = get_args(Which)
Cause: TypeAlias = Literal[
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
    "vague question",  # this cause and the next come from known flaws of questions, not from rules
    "inconsistent columns",
]
CAUSES: tuple[Cause, ...] = get_args(Cause)
Choice: TypeAlias = tuple[str, str]  # a category and its sub-category, "" for none


def _one_line(text: str) -> str:
    name = text.strip()
    if len(name.splitlines()) != 1:
        raise ValueError("a name is one line of text")
    return name


def _different(parts: tuple["Part", ...]) -> tuple["Part", ...]:
    names = [part.name for part in parts]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise ValueError(f"the name {twice!r} is used twice")
    if not names:
        raise ValueError("name at least one category")
    return parts


def _no_filters(parts: tuple["Part", ...]) -> tuple["Part", ...]:
    if taken := next((part.name for part in parts if part.name.lower() in FILTERS), None):
        raise ValueError(f"{taken!r} is the name of a filter: give another name")
    return parts


def _long_form(value: object) -> object:
    """The short form of a category is its name alone."""
    return {"name": value} if isinstance(value, str) else value


_none_is_empty = BeforeValidator(lambda value: () if value is None else value)
_FORBID = ConfigDict(extra="forbid")


@dataclass(frozen=True, slots=True, config=_FORBID)
class Part:
    """A sub-category."""

    name: Annotated[StrictStr, AfterValidator(_one_line)]
    meaning: StrictStr = ""
    suggested_by: Annotated[tuple[Cause, ...], _none_is_empty] = ()
    apart: StrictBool = False  # set apart from the shares that the paper's figure shows


@dataclass(frozen=True, slots=True, config=_FORBID)
class Category(Part):
    """A category, with its sub-categories."""

    parts: Annotated[
        tuple[Annotated[Part, BeforeValidator(_long_form)], ...],
        AfterValidator(_different),
        _none_is_empty,
    ] = ()


@dataclass(frozen=True, slots=True, config=_FORBID)
class Taxonomy:
    """The categories by which a paper, or a user, sorts cases."""

    name: Annotated[StrictStr, AfterValidator(_one_line)]
    categories: Annotated[
        tuple[Annotated[Category, BeforeValidator(_long_form)], ...],
        AfterValidator(_different),
        AfterValidator(_no_filters),
    ]
    source: StrictStr = ""  # the figure or section of the paper
    cases: Which = "wrong"  # which wrong answers the taxonomy sorts
    # The share of these cases to label.
    share: Annotated[Fraction, BeforeValidator(str), Field(gt=0, le=1)] = Fraction(1)

    def choices(self) -> Iterator[tuple[Choice, Part]]:
        """All choices for a label: each category, followed by its sub-categories."""
        for category in self.categories:
            yield (category.name, ""), category
            for part in category.parts:
                yield (category.name, part.name), part

    def check(self, category: str, subcategory: str = "") -> None:
        """Raise BadInputError if the taxonomy does not have the category."""
        known = [choice for choice, _ in self.choices()]
        if (category, subcategory) not in known:
            raise BadInputError(
                f"{self.name} has no category {choice_name(category, subcategory)!r};"
                f" there are {'; '.join(choice_name(*choice) for choice in known)}"
            )

    def suggested(self, cause: str) -> Choice | None:
        """The first choice that a cause suggests, or None."""
        return next((choice for choice, part in self.choices() if cause in part.suggested_by), None)


def choice_name(category: str, subcategory: str) -> str:
    return f"{category} / {subcategory}" if subcategory else category


def open_taxonomy(name: str) -> Taxonomy:
    """A paper's taxonomy by its name (upper and lower case are alike), or the user's own by its YAML file."""
    known = published()
    if name.lower() in known:
        return known[name.lower()]
    if Path(name).suffix in {".yaml", ".yml"}:
        own = load_taxonomy(Path(name))
        if known.get(own.name.lower(), own) != own:
            raise BadInputError(
                f"{name}: a paper's taxonomy has the name {own.name}: give yours another name"
            )
        return own
    raise BadInputError(
        f"no taxonomy {name!r}; there are {', '.join(one.name for one in known.values())}, or give a"
        " file that ends in .yaml"
    )


@lru_cache(maxsize=1)
def published() -> dict[str, Taxonomy]:
    """The papers' taxonomies by their names in lower case."""
    loaded = map(load_taxonomy, sorted(_FOLDER.glob("*.yaml")))
    return {taxonomy.name.lower(): taxonomy for taxonomy in loaded}


def load_taxonomy(path: Path) -> Taxonomy:
    """Read a taxonomy from its file; a BadInputError names in one line the field that is wrong."""
    try:
        return TypeAdapter(Taxonomy).validate_python(read_yaml(path))
    except ValidationError as error:
        raise BadInputError(f"{path}: {_explained(error.errors()[0])}") from error


def _explained(error: ErrorDetails) -> str:
    """A pydantic error as one line: the field's path in the file, what is allowed, what was given."""
    path = [f"number {part + 1}" if isinstance(part, int) else part for part in error["loc"]]
    where = ", ".join(path) or "the file"
    if error["type"] == "missing":
        return f"{where}: the field is missing"
    if error["type"] == "unexpected_keyword_argument":
        model = Part if "parts" in path[:-1] else Category if len(path) > 1 else Taxonomy
        return f"{where}: no such field; there are {', '.join(one.name for one in fields(model))}"
    if error["type"] == "dataclass_type":
        return f"{where}: expected fields such as name, not {error['input']!r:.60}"
    if error["type"] == "value_error" and isinstance(error["input"], list):
        return f"{where}: {error['ctx']['error']}"
    message = (
        error["msg"]
        .removeprefix("Value error, ")
        .replace("Input should", "it must")
        .replace("Input is not", "it is not")
    )
    return f"{where}: {message.replace('tuple', 'list')}, not {error['input']!r:.60}"
