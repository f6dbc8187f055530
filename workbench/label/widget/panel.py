"""The labelling panel as a node: progress, categories with their keys, and the case.

A button's `data-do` and `data-value` are the step that it takes, `data-key` is the key that presses it, and
`data-ask` is the input that the annotator gives first. The JavaScript part knows nothing else about the buttons.
"""

from collections import Counter
from collections.abc import Iterator
from typing import Any

from workbench.html.parts import NO_MATH, beside, heading, table
from workbench.html.tree import Element, Node, element
from workbench.label.store import Label
from workbench.label.store.golds import BOTH_RIGHT, CORRECTED, GOLD, gold_verdict
from workbench.label.taxonomy import FILTERS, Choice, Part, choice_name
from workbench.label.widget.keys import STEPS
from workbench.label.widget.session import Session
from workbench.label.widget.view import case_node


def panel(session: Session) -> Element:
    """Everything that the widget shows for a session."""
    if not session.cases:
        kind = "disputes to settle" if session.adjudicates else "cases to label"
        return element("p", f"There are no {kind}.", data_testid="empty")
    body = _help(session) if session.help else _case(session)
    return element(
        "div",
        element("div", *_top(session), class_="wb-bar"),
        element(
            "div", *_choices(session), class_="wb-choices", role="group", aria_label="Categories"
        ),
        element(
            "div",
            *body,
            class_="wb-case",
            tabindex="0",
            role="document",
            data_testid="keys" if session.help else "case",
            data_case=str(session.at),
        ),
        class_=NO_MATH,
    )


def _case(session: Session) -> Iterator[Element]:
    if session.adjudicates:
        yield _opinions(session)
    case = session.cases[session.at]
    given = gold_verdict(session.store, case, session.annotator)
    corrected = given.note if given and given.category == CORRECTED else ""
    yield case_node(case, corrected=corrected)


def _top(session: Session) -> Iterator[Node | None]:
    total = len(session.cases)
    done = sum(session.label(at) is not None for at in range(total))
    yield element("span", f"case {session.at + 1} of {total}", data_testid="position")
    yield element("span", f"{done} of {total} labelled", data_testid="progress")
    key = session.keys.steps

    def button(step: str, text: str, **more: Any) -> Element:
        return _button(step, text, key=key[step], **more)

    for step in ("skip", "undo", "back", "previous", "next"):
        yield button(step, step.capitalize())
    yield button("jump", "Jump", ask=f"Number of the case, 1 to {total}")
    yield button("note", "Note", ask="Note")
    case = session.cases[session.at]
    given = gold_verdict(session.store, case, session.annotator)
    verdict = given.category if given else ""
    sql = given.note if given and verdict == CORRECTED else ""
    text = {"ask": "The right query", "prefilled": sql or case.gold}
    yield button("correct gold", "Correct gold", pressed=verdict == CORRECTED, **text)
    yield button("both right", "Both right", pressed=verdict == BOTH_RIGHT)
    if not session.adjudicates:
        name = session.annotator
        yield button("annotator", f"By {name}", ask="Annotator", prefilled=name)
    on = session.advance
    yield button("advance", f"Auto-advance: {'on' if on else 'off'}", pressed=on)
    yield button("help", "Keys", pressed=session.help)
    names = [*FILTERS, *(category.name for category in session.taxonomy.categories)]
    options = (
        element("option", name, value=name, selected="" if name == session.filter else None)
        for name in names
    )
    select = element(
        "select", *options, data_do="filter", data_key=key["filter"], data_testid="filter"
    )
    yield element("label", element("kbd", key["filter"]), "Show ", select)


def _help(session: Session) -> Iterator[Element]:
    """All steps and categories with their keys and their meaning."""
    steps = [(session.keys.steps[step], what) for step, (_, what) in STEPS.items()]
    choices = [
        (session.keys.choices.get(choice, ""), choice_name(*choice), part.meaning)
        for choice, part in session.taxonomy.choices()
    ]
    yield beside(
        table(("key", "what it does"), [*steps, ("Esc", "leave the field, or this list")]),
        table(("key", "category", "what it means"), choices),
    )


def _opinions(session: Session) -> Element:
    items = [element("li", *_opinion(label)) for label in opinions(session)]
    title = heading("The annotators' labels")
    return element("div", title, element("ul", *items), data_testid="opinions")


def opinions(session: Session) -> Iterator[Label]:
    """The other annotators' labels of the case that is shown, and their verdicts on its gold query."""
    key = session.cases[session.at].key
    for label in session.store.labels(automatic=False):
        about = label.key == key and label.taxonomy in {session.taxonomy.name, GOLD}
        if about and label.annotator != session.annotator:
            yield label


def _opinion(label: Label) -> Iterator[Node]:
    yield f"{label.annotator}: "
    yield element("strong", choice_name(label.category, label.subcategory))
    if label.note:
        yield f" ({label.note})"


def _choices(session: Session) -> Iterator[Element]:
    labels = [session.label(at) for at in range(len(session.cases))]
    given = [(label.category, label.subcategory) if label else None for label in labels]
    counts, current = Counter(given), given[session.at]

    def choice_button(choice: Choice, category: Part) -> Element:
        chosen = choice == current
        count = f" ({counts[choice]})" if counts[choice] else ""
        return _button(
            "choose",
            f"{'✓ ' if chosen else ''}{category.name}{count}",
            key=session.keys.choices.get(choice),
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
    ask: str | None = None,
    prefilled: str | None = None,
) -> Element:
    return element(
        "button",
        element("kbd", key) if key else None,
        text,
        type="button",
        title=title or STEPS.get(step, ("", None))[1],
        data_do=step,
        data_value=value,
        data_key=key,
        data_ask=ask,
        data_text=prefilled,
        data_testid=testid or step,
        aria_pressed=None if pressed is None else str(pressed).lower(),
        aria_keyshortcuts=key,
    )
