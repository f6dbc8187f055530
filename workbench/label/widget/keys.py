"""The labeller's keys for steps and categories, which `keys={"skip": "x"}` changes."""

import string
from collections.abc import Mapping
from dataclasses import dataclass

from workbench.errors import BadInputError
from workbench.label.taxonomy import Choice, Taxonomy, choice_name

STEPS: Mapping[str, tuple[str, str]] = {
    "skip": ("s", "leave this case without a label"),
    "undo": ("u", "take back the last label"),
    "back": ("b", "return to the case that was shown last"),
    "previous": ("p", "the case before this one"),
    "next": ("n", "the case after this one"),
    "jump": ("J", "go to a case by its number"),
    "filter": ("F", "choose which cases are shown"),
    "note": ("/", "write a note"),
    "correct gold": ("G", "write the right query in place of gold's; it is run before it is saved"),
    "both right": ("R", "mark gold and the prediction as both right, or take that back"),
    "annotator": ("A", "change the annotator's name"),
    "advance": ("T", "show the next case after each label, or stay"),
    "help": ("?", "show these keys and what the categories mean"),
}
"""The key of each step, and what it does."""


@dataclass(frozen=True, slots=True)
class Keys:
    """The key of each step and of each choice; choices after the last letter have none."""

    steps: Mapping[str, str]
    choices: Mapping[Choice, str]


def keys(taxonomy: Taxonomy, changed: Mapping[str, str] | None = None) -> Keys:
    """Digits for the first nine categories, and small letters for the other choices.

    `changed` maps the name of a step or of a choice, such as "Vague Question / Column", to its key.
    """
    changed = changed or {}
    choices = {choice_name(*choice): choice for choice, _ in taxonomy.choices()}
    _check(changed, [*STEPS, *choices])
    steps = {step: changed.get(step, key) for step, (key, _) in STEPS.items()}
    given = {name: changed[name] for name in choices if name in changed}
    taken: dict[str, str] = {}
    for name, key in [*steps.items(), *given.items()]:
        if key in taken:
            raise BadInputError(
                f"key {key!r} is given to both {taken[key]!r} and {name!r}: give one of them another,"
                f" as in keys={{{name!r}: ...}}"
            )
        taken[key] = name
    without_key = [name for name in choices if name not in given]
    first = [name for name in without_key if not choices[name][1]]
    digits = [key for key in string.digits[1:] if key not in taken]
    letters = [key for key in string.ascii_lowercase if key not in taken]
    given |= dict(zip(first, digits, strict=False))
    given |= dict(zip((name for name in without_key if name not in given), letters, strict=False))
    return Keys(steps, {choice: given[name] for name, choice in choices.items() if name in given})


def _check(changed: Mapping[str, str], names: list[str]) -> None:
    for name, key in changed.items():
        if name not in names:
            raise BadInputError(
                f"no step or category {name!r} to give a key; there are {'; '.join(names)}"
            )
        if len(key) != 1 or key.isspace() or not key.isprintable():
            raise BadInputError(f"the key of {name!r} is {key!r}: give one character, no space")
