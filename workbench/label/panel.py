"""The labelling panel as a tree: progress, categories with their keys, and the case.

A button says in `data-do` and `data-value` what it does, and in `data-key` which key presses it: the widget
needs to know no more of them.
"""

import string
from collections import Counter
from collections.abc import Iterator

from workbench.label.session import Session
from workbench.label.store import Label
from workbench.label.taxonomy import FILTERS, Category, Choice, Taxonomy
from workbench.label.tree import Node, node
from workbench.label.view import NO_MATH, case_node, folded

_STEPS = {"skip": "s", "undo": "u", "back": "b", "previous": "p", "next": "n"}


def keys(taxonomy: Taxonomy) -> dict[Choice, str]:
    """The key of each choice: digits for categories, letters for sub-categories and what is left.

    Letters that do something else are left out; what comes after z has no key.
    """
    choices = [choice for choice, _ in taxonomy.choices()]
    digits = dict(zip([one for one in choices if not one[1]], string.digits[1:], strict=False))
    letters = [letter for letter in string.ascii_lowercase if letter not in _STEPS.values()]
    return digits | dict(zip([one for one in choices if one not in digits], letters, strict=False))


def panel(session: Session) -> Node:
    """All that the widget shows."""
    if not session.cases:
        what = "disputes to settle" if session.adjudicates else "cases to label"
        return node("p", f"There are no {what}.", data_testid="empty")
    return node(
        "div",
        node("div", *_top(session), class_="wb-bar"),
        node("div", *_choices(session), class_="wb-choices", role="group", aria_label="Categories"),
        node(
            "div",
            _said(session) if session.adjudicates else None,
            case_node(session.cases[session.at], suggestions=session.suggestions),
            class_="wb-case",
            tabindex="0",
            role="document",
            data_testid="case",
            data_case=str(session.at),
        ),
        class_=NO_MATH,
    )


def _top(session: Session) -> Iterator[Node | None]:
    total = len(session.cases)
    done = sum(session.label(at) is not None for at in range(total))
    yield node("span", f"case {session.at + 1} of {total}", data_testid="position")
    yield node("span", f"{done} of {total} labelled", data_testid="progress")
    for do, key in _STEPS.items():
        yield _button(do, do.capitalize(), key=key)
    yield _switch("advance", "Auto-advance", on=session.advance)
    yield _switch("suggestions", "Suggestions", on=session.suggestions)
    names = [*FILTERS, *(category.name for category in session.taxonomy.categories)]
    options = (
        node("option", name, value=name, selected="" if name == session.filter else None)
        for name in names
    )
    yield node("label", "Show ", node("select", *options, data_do="filter", data_testid="filter"))
    yield _meanings(session.taxonomy)


def _meanings(taxonomy: Taxonomy) -> Node | None:
    """What the titles of the buttons say, for those who have no mouse."""
    lines = [
        node("li", node("strong", _called(*choice)), f": {one.meaning}")
        for choice, one in taxonomy.choices()
        if one.meaning
    ]
    text = node("ul", *lines, class_="wb-meanings", tabindex="0")
    return folded("meanings", "What the categories mean", text) if lines else None


def _said(session: Session) -> Node:
    lines = [node("li", *_opinion(label)) for label in session.said(session.at)]
    return node(
        "div", node("h4", "What the annotators said"), node("ul", *lines), data_testid="said"
    )


def _opinion(label: Label) -> Iterator[Node]:
    yield f"{label.annotator}: "
    yield node("strong", _called(label.category, label.subcategory))
    if label.note:
        yield f" ({label.note})"


def _called(category: str, part: str) -> str:
    return f"{category} / {part}" if part else category


def _choices(session: Session) -> Iterator[Node]:
    label = session.label(session.at)
    given = (label.category, label.subcategory) if label else None
    seen = Counter(
        (label.category, label.subcategory)
        for at in range(len(session.cases))
        if (label := session.label(at))
    )
    key = keys(session.taxonomy)
    for category in session.taxonomy.categories:
        choices = [((category.name, ""), category)]
        choices += [((category.name, part.name), part) for part in category.parts]
        buttons = (
            _choice(choice, one, key.get(choice), seen[choice], on=choice == given)
            for choice, one in choices
        )
        yield node("div", *buttons, role="group", aria_label=category.name)


def _choice(choice: Choice, category: Category, key: str | None, seen: int, *, on: bool) -> Node:
    return _button(
        "choose",
        category.name + (f" ({seen})" if seen else ""),
        key=key,
        value="\n".join(choice),
        title=category.meaning or None,
        on=on,
        testid=f"choice {_called(*choice)}",
    )


def _switch(do: str, text: str, *, on: bool) -> Node:
    return _button(do, f"{text}: {'on' if on else 'off'}", on=on)


def _button(
    do: str,
    text: str,
    *,
    key: str | None = None,
    value: str = "",
    title: str | None = None,
    on: bool | None = None,
    testid: str = "",
) -> Node:
    return node(
        "button",
        node("kbd", key) if key else None,
        ("✓ " if on and do == "choose" else "") + text,
        type="button",
        title=title,
        data_do=do,
        data_value=value,
        data_key=key,
        data_testid=testid or do,
        aria_pressed=None if on is None else str(on).lower(),
        aria_keyshortcuts=key,
    )
