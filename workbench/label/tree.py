"""A view as a small tree, drawn alike by Python as HTML and by the widget as DOM.

A node is text, or a list of a tag, its attributes and its children. Text and attributes may come from
databases and models: both ways of drawing write them as text, and no tag or attribute comes from there.
"""

from html import escape
from typing import Any, TypeAlias

Node: TypeAlias = str | list[Any]


def node(tag: str, *children: Node | None, **attributes: str | None) -> Node:
    """`node("td", "text", class_="mark", data_testid="x")`; what is None is left out."""
    named = {
        name.rstrip("_").replace("_", "-"): value
        for name, value in attributes.items()
        if value is not None
    }
    return [tag, named, *(child for child in children if child is not None)]


def html(tree: Node) -> str:
    """The tree as HTML."""
    if isinstance(tree, str):
        return escape(tree)
    tag, attributes, *children = tree
    written = "".join(f' {name}="{escape(value)}"' for name, value in attributes.items())
    return f"<{tag}{written}>{''.join(map(html, children))}</{tag}>"
