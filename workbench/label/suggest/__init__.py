"""Causes that rules suggest, and the labels made from them."""

from workbench.label.suggest.suggest import (
    AUTOMATIC,
    Suggestion,
    against_labels,
    automatic_labels,
    known_flaws,
    suggest,
    suggested,
)

__all__ = [
    "AUTOMATIC",
    "Suggestion",
    "against_labels",
    "automatic_labels",
    "known_flaws",
    "suggest",
    "suggested",
]
