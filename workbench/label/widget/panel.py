"""The labelling panel as a node: progress, categories with their keys, and the case.

A button's `data-do` and `data-value` say what it does, its `data-key` which key presses it; the JavaScript
part sends them and knows nothing else about the buttons.
"""

import string
from collections import Counter
from collections.abc import Iterator

from workbench.html.parts import NO_MATH, heading
from workbench.html.tree import Element, Node, element
from workbench.label.store import Label
from workbench.label.taxonomy import FILTERS, Choice, Part, Taxonomy, choice_name
from workbench.label.widget.session import Session
from workbench.label.widget.view import case_node, folded

_STEPS = {"skip": "s", "undo": "u", "back": "b", "previous": "p", "next": "n"}


def keys(taxonomy: Taxonomy) -> dict[Choice, str]:
    """The key of each choice: digits for the first nine categories, letters for the other choices.

    Letters of the steps are left out; choices after the last letter have no key.
    """
    choices = [choice for choice, _ in taxonomy.choices()]
    categories = [choice for choice in choices if not choice[1]]
    digits = dict(zip(categories, string.digits[1:], strict=False))
    letters = [letter for letter in string.ascii_lowercase if letter not in _STEPS.values()]
    others = [choice for choice in choices if choice not in digits]
    return digits | dict(zip(others, letters, strict=False))


def panel(session: Session) -> Element:
    """Everything that the widget shows for a session."""
    if not session.cases:
        kind = "disputes to settle" if session.adjudicates else "cases to label"
        return element("p", f"There are no {kind}.", data_testid="empty")
    return element(
        "div",
        element("div", *_top(session), class_="wb-bar"),
        element(
            "div", *_choices(session), class_="wb-choices", role="group", aria_label="Categories"
        ),
        element(
            "div",
            _opinions(session) if session.adjudicates else None,
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
    yield element("span", f"case {session.at + 1} of {total}", data_testid="position")
    yield element("span", f"{done} of {total} labelled", data_testid="progress")
    for step, key in _STEPS.items():
        yield _button(step, step.capitalize(), key=key)
    for switch, name, on in (
        ("advance", "Auto-advance", session.advance),
        ("suggestions", "Suggestions", session.suggestions),
    ):
        yield _button(switch, f"{name}: {'on' if on else 'off'}", pressed=on)
    names = [*FILTERS, *(category.name for category in session.taxonomy.categories)]
    options = (
        element("option", name, value=name, selected="" if name == session.filter else None)
        for name in names
    )
    select = element("select", *options, data_do="filter", data_testid="filter")
    yield element("label", "Show ", select)
    yield _meanings(session.taxonomy)


def _meanings(taxonomy: Taxonomy) -> Element | None:
    """The meanings of the categories as a list, for readers who cannot hover over the buttons."""
    items = [
        element("li", element("strong", choice_name(*choice)), f": {category.meaning}")
        for choice, category in taxonomy.choices()
        if category.meaning
    ]
    listed = element("ul", *items, class_="wb-meanings", tabindex="0")
    return folded("meanings", "What the categories mean", listed) if items else None


def _opinions(session: Session) -> Element:
    items = [element("li", *_opinion(label)) for label in session.opinions(session.at)]
    title = heading("The annotators' labels")
    return element("div", title, element("ul", *items), data_testid="opinions")


def _opinion(label: Label) -> Iterator[Node]:
    yield f"{label.annotator}: "
    yield element("strong", choice_name(label.category, label.subcategory))
    if label.note:
        yield f" ({label.note})"


def _choices(session: Session) -> Iterator[Element]:
    labels = [session.label(at) for at in range(len(session.cases))]
    given = [(label.category, label.subcategory) if label else None for label in labels]
    counts, current = Counter(given), given[session.at]
    key = keys(session.taxonomy)

    def choice_button(choice: Choice, category: Part) -> Element:
        chosen = choice == current
        count = f" ({counts[choice]})" if counts[choice] else ""
        return _button(
            "choose",
            f"{'✓ ' if chosen else ''}{category.name}{count}",
            key=key.get(choice),
            value="\n".join(choice),
            title=category.meaning or None,
            pressed=chosen,
            testid=f"choice {choice_name(*choice)}",
        )

    for category in session.taxonomy.categories:
        buttons = [choice_button((category.name, ""), category)]
        buttons += [choice_button((category.name, part.name), part) for part in category.parts]
        yield element("div", *buttons, role="group", aria_label=category.name)


def _button(
    step: str,
    text: str,
    *,
    key: str | None = None,
    value: str = "",
    title: str | None = None,
    pressed: bool | None = None,
    testid: str = "",
) -> Element:
    return element(
        "button",
        element("kbd", key) if key else None,
        text,
        type="button",
        title=title,
        data_do=step,
        data_value=value,
        data_key=key,
        data_testid=testid or step,
        aria_pressed=None if pressed is None else str(pressed).lower(),
        aria_keyshortcuts=key,
    )
