"""HTML as a tree of frozen nodes: the only module that turns text of databases and models into markup.

A node is a string or an `Element`. Every string is escaped when the tree is written, so no caller can
forget it. Only `Raw` markup is written as it is.
"""

import html as stdlib_html
import re
from dataclasses import dataclass
from typing import Any, TypeAlias

from workbench.terminal import visible

TAGS = re.compile(
    "a|article|b|button|caption|code|details|div|h[1-5]|i|kbd|label|li|nav|ol|option|p|pre|section|select|span"
    "|strong|style|summary|table|tbody|td|th|thead|tr|ul|wbr"
)
ATTRIBUTES = re.compile(
    r"class|colspan|href|id|open|role|rowspan|scope|selected|tabindex|title|type|value|(?:aria|data)-[a-z]+"
)
# A link leads to a part of the page or to a file beside it, and never to another server or a script.
_LINK = re.compile(r"(?:[\w.-]+/)*[\w.-]*(?:#[\w.-]*)?")


@dataclass(frozen=True, slots=True)
class Raw:
    """Markup written as it stands. Never put text from a database, a model or a user's file here."""

    markup: str


@dataclass(frozen=True, slots=True)
class Element:
    """A tag with its attributes and children; build one with `element`."""

    tag: str
    attributes: tuple[tuple[str, str], ...] = ()
    children: tuple["Node", ...] = ()

    def __post_init__(self) -> None:
        if not TAGS.fullmatch(self.tag):
            raise ValueError(f"tag {self.tag!r} is not allowed: {TAGS.pattern}")
        for name, value in self.attributes:
            if not ATTRIBUTES.fullmatch(name):
                raise ValueError(f"attribute {name!r} is not allowed: {ATTRIBUTES.pattern}")
            if name == "href" and not _LINK.fullmatch(value):
                raise ValueError(f"link {value!r} leads out of the page and the files beside it")
        for child in self.children:
            if type(child) not in {str, Element, Raw}:
                raise TypeError(f"<{self.tag}> holds strings and elements, not {type(child)}")


Node: TypeAlias = str | Element | Raw


def element(tag: str, *children: Node | None, **attributes: str | None) -> Element:
    """`element("td", "text", class_="mark", data_testid="x")`; children and attributes of None are left out."""
    named = (
        (name.rstrip("_").replace("_", "-"), value)
        for name, value in attributes.items()
        if value is not None
    )
    return Element(tag, tuple(named), tuple(child for child in children if child is not None))


def escape(text: str) -> str:
    """The text as it may stand in an element or in a quoted attribute."""
    return stdlib_html.escape(visible(text))


def html(*nodes: Node) -> str:
    """The nodes as HTML."""
    return "".join(map(_written, nodes))


def _written(node: Node) -> str:
    if isinstance(node, str):
        return escape(node)
    if isinstance(node, Raw):
        return node.markup
    attributes = "".join(f' {name}="{escape(value)}"' for name, value in node.attributes)
    if node.tag == "wbr":
        return "<wbr>"
    return f"<{node.tag}{attributes}>{html(*node.children)}</{node.tag}>"


def plain_data(node: Node) -> Any:
    """The node as JSON data for a widget that builds it in the browser: [tag, attributes, *children]."""
    if isinstance(node, Raw):
        raise TypeError("a widget sets all text as text: raw markup cannot be sent to it")
    if isinstance(node, str):
        return visible(node)
    return [node.tag, dict(node.attributes), *map(plain_data, node.children)]
