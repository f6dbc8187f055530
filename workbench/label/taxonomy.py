"""Taxonomies of errors in YAML: those of the three papers, and the user's own.

A taxonomy names the cases that it sorts and its categories; a category lists the causes (see `rules`) that suggest it.
The papers' taxonomies lie in `taxonomies/`, to be copied and changed.
"""

from fractions import Fraction
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError
from pydantic import StringConstraints as Constraints

from workbench.errors import BadInputError, read_yaml

_FOLDER = Path(__file__).with_name("taxonomies")

Cause = Literal[
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


def _different(parts: tuple[Any, ...]) -> tuple[Any, ...]:
    names = [part.name for part in parts]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise ValueError(f"the name {twice!r} is used twice")
    if slashed := next((name for name in names if " / " in name), None):
        raise ValueError(f"the name {slashed!r} has ' / ', which stands before a sub-category")
    return parts


def _long_form(value: object) -> object:
    """The short form of a category is its name alone; no value is an empty list."""
    given = [] if value is None else value
    if not isinstance(given, list):
        return given
    return tuple({"name": one} if isinstance(one, str) else one for one in given)


# One line.
Name = Annotated[str, Constraints(strict=True, strip_whitespace=True, pattern=r"^[^\r\n]+$")]
_STRICT = ConfigDict(extra="forbid", frozen=True, strict=True)


class Part(BaseModel):
    """A sub-category."""

    model_config = _STRICT
    name: Name
    meaning: str = ""
    suggested_by: Annotated[
        tuple[Cause, ...], BeforeValidator(lambda value: tuple(value or ()))
    ] = ()
    apart: bool = False  # set apart from the shares that the paper's figure shows


class Category(Part):
    """A category, with its sub-categories."""

    parts: Annotated[tuple[Part, ...], BeforeValidator(_long_form), AfterValidator(_different)] = ()


class Taxonomy(BaseModel):
    """The categories by which a paper, or a user, sorts cases."""

    model_config = _STRICT
    name: Name
    categories: Annotated[
        tuple[Category, ...], Field(min_length=1), BeforeValidator(_long_form), AfterValidator(_different)
    ]  # fmt: skip
    source: str = ""  # the figure or section of the paper
    cases: Literal["wrong", "no correct candidate", "selection failed"] = "wrong"  # that it sorts
    several: bool = False  # whether a case may have several labels
    # The share of these cases to label.
    share: Annotated[Fraction, BeforeValidator(str), Field(gt=0, le=1, strict=False)] = Fraction(1)

    def choices(self) -> dict[str, Part]:
        """All names of a label, such as "Vague Question" and "Vague Question / Column", in order."""
        found: dict[str, Part] = {}
        for category in self.categories:
            found[category.name] = category
            found |= {f"{category.name} / {part.name}": part for part in category.parts}
        return found

    def check(self, names: tuple[str, ...]) -> None:
        """Raise BadInputError for a label that the taxonomy does not have."""
        known = self.choices()
        if wrong := [name for name in names if name not in known]:
            raise BadInputError(f"{self.name} has no {wrong[0]!r}; there are {'; '.join(known)}")
        if not names or (len(names) > 1 and not self.several):
            raise BadInputError(f"{len(names)} labels for a case: {self.name} gives a case one")

    def suggested(self, cause: str) -> str | None:
        """The first label that a cause suggests, or None."""
        return next((n for n, part in self.choices().items() if cause in part.suggested_by), None)


def open_taxonomy(name: str) -> Taxonomy:
    """A paper's taxonomy by its name (upper and lower case are alike), or the user's own by its YAML file."""
    known = published()
    if name.lower() in known:
        return known[name.lower()]
    if Path(name).suffix not in {".yaml", ".yml"}:
        names = ", ".join(one.name for one in known.values())
        raise BadInputError(f"no taxonomy {name!r}; there are {names}, or give a .yaml file")
    own = load_taxonomy(Path(name))
    if known.get(own.name.lower(), own) != own:
        raise BadInputError(f"{name}: a paper's taxonomy is named {own.name}: give another name")
    return own


@lru_cache(maxsize=1)
def published() -> dict[str, Taxonomy]:
    """The papers' taxonomies by their names in lower case."""
    loaded = map(load_taxonomy, sorted(_FOLDER.glob("*.yaml")))
    return {taxonomy.name.lower(): taxonomy for taxonomy in loaded}


def load_taxonomy(path: Path) -> Taxonomy:
    """Read a taxonomy from its file; a BadInputError names the field that is wrong."""
    try:
        return Taxonomy.model_validate(read_yaml(path))
    except ValidationError as error:
        first = error.errors()[0]
        where = ", ".join(f"number {at + 1}" if isinstance(at, int) else at for at in first["loc"])
        raise BadInputError(
            f"{path}: {where or 'the file'}: {first['msg']}, not {first['input']!r:.60}"
        ) from error
