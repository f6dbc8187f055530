"""Taxonomies of errors in YAML: the three papers' in `taxonomies/`, and the user's own.

A category lists the causes (see `rules`) that suggest it.
"""

from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, Field, ValidationError
from pydantic import StringConstraints as Constraints

from workbench.errors import BadInputError, read_yaml

PUBLISHED = {file.stem: file for file in Path(__file__).with_name("taxonomies").glob("*.yaml")}

# The causes that `rules` finds; only a known flaw of a question has one of the last two.
_Cause = Literal[
    "wrong gold", "hint ignored", "missing table or join", "other column", "other literal", "aggregation", "function",
    "DISTINCT or NULL handling", "order and limit", "vague question", "inconsistent columns",
]  # fmt: skip


def _different(parts: tuple[Any, ...]) -> tuple[Any, ...]:
    names = [part.name for part in parts]
    if len({*names}) < len(names) or " / " in "".join(names):
        raise ValueError("a name is used twice, or has ' / ', which stands before a sub-category")
    return parts


_Name = Annotated[str, Constraints(strict=True, strip_whitespace=True, pattern=r"^[^\r\n]+$")]
# The short form of a category is its name alone.
_LONG = BeforeValidator(lambda given: {"name": given} if isinstance(given, str) else given)


class Part(BaseModel, extra="forbid", frozen=True):
    """A sub-category."""

    name: _Name
    meaning: str = ""
    suggested_by: tuple[_Cause, ...] = ()
    apart: bool = False  # set apart from the shares that the paper's figure shows


class Category(Part, frozen=True):
    """A category, with its sub-categories."""

    parts: Annotated[tuple[Annotated[Part, _LONG], ...], AfterValidator(_different)] = ()


class Taxonomy(BaseModel, extra="forbid", frozen=True):
    """The categories into which a paper or a user sorts cases, and which cases those are."""

    name: _Name
    categories: Annotated[
        tuple[Annotated[Category, _LONG], ...], Field(min_length=1), AfterValidator(_different)
    ]
    source: str = ""  # the figure or section of the paper
    cases: Literal["wrong", "no correct candidate", "selection failed"] = "wrong"  # that it sorts
    several: Annotated[bool, Field(strict=True)] = False  # whether a case may have several labels
    # The share of these cases to label.
    share: Annotated[Fraction, BeforeValidator(str), Field(gt=0, le=1)] = Fraction(1)

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
        if not names or {*names} - {*known} or (len(names) > 1 and not self.several):
            some = "one or more" if self.several else "one"
            raise BadInputError(f"{self.name} gives a case {some} of {'; '.join(known)}: {names}")


def open_taxonomy(name: str) -> Taxonomy:
    """A paper's taxonomy by its name (upper and lower case are alike), or the user's own by its YAML file."""
    file = PUBLISHED.get(_stem(name), Path(name))
    if file.suffix not in {".yaml", ".yml"}:
        names = ", ".join(sorted(PUBLISHED))
        raise BadInputError(f"no taxonomy {name!r}; there are {names}, or give a .yaml file")
    try:
        found = Taxonomy.model_validate(read_yaml(file))
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"])) or "the file"
        raise BadInputError(f"{file}: {where}: {first['msg']}, not {first['input']!r}") from error
    if PUBLISHED.get(_stem(found.name), file) != file:
        raise BadInputError(f"{file}: a paper's taxonomy is named {found.name}: give another name")
    return found


def _stem(name: str) -> str:
    return name.lower().replace(" ", "-")
