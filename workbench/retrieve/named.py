"""The setting `retrieval` of an experiment: `lsh` (the papers'), `trigram` (finds more), or settings by name.

| setting | value |
| --- | --- |
| index | lsh, trigram, or none for no values |
| similarity | letters, minilm, or an embedding model of LiteLLM, PROVIDER/MODEL |
| descriptions | how many descriptions a query retrieves, where a system retrieves them |
| candidates, edit, semantic, keep, per_keyword | those of `Matching` |

It changes what it names in each system's own retrieval, and nothing else: CHESS keeps one value of a keyword and column,
CHASE-SQL several.
"""

from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any

from workbench.errors import BadInputError, one_of
from workbench.retrieve.descriptions import Descriptions
from workbench.retrieve.lsh import LSH
from workbench.retrieve.matches import Matching
from workbench.retrieve.retrieval import Retrieval
from workbench.retrieve.similarity import Embedding, Lexical, MiniLM
from workbench.retrieve.trigram import Trigram

_INDEXES: Mapping[str, Any] = {"lsh": LSH(), "trigram": Trigram(), "none": None}
_SIMILARITIES: Mapping[str, Any] = {"letters": Lexical(), "minilm": MiniLM()}
_MATCHING = {field.name for field in fields(Matching)}


def settings_of(given: str | Mapping[str, Any]) -> dict[str, Any]:
    """The checked fields of `Retrieval` that a setting names; those of `Matching` stand by their names."""
    if isinstance(given, str):
        one_of(_INDEXES, retrieval=given)
    named: dict[str, Any] = {"index": given} if isinstance(given, str) else dict(given)
    changes: dict[str, Any] = {}
    for name, value in named.items():
        one_of(("index", "similarity", "descriptions", *sorted(_MATCHING)), retrieval=name)
        if name == "index":
            one_of(_INDEXES, index=value)
            changes[name] = _INDEXES[value]
        elif name == "similarity" and not (isinstance(value, str) and "/" in value):
            one_of(_SIMILARITIES, similarity=value)
            changes[name] = _SIMILARITIES[value]
        elif name == "similarity":
            changes[name] = Embedding(value)
        elif type(value) not in {int, float}:
            raise BadInputError(f"retrieval: {name} is {value!r}, and should be a number")
        else:
            changes[name] = Descriptions(value) if name == "descriptions" else value
    replace(Matching(), **{name: changes[name] for name in _MATCHING & set(changes)})
    return changes


def with_retrieval(step: Any, given: str | Mapping[str, Any]) -> Any:
    """The step with the setting, if it is a `Retrieval`. What that leaves out stays left out."""
    if not isinstance(step, Retrieval) or not (step.index or step.descriptions):
        return step
    changes = settings_of(given)
    own = {name: changes.pop(name) for name in _MATCHING & set(changes)}
    kept = {name: new for name, new in changes.items() if getattr(step, name) is not None}
    return replace(step, matching=replace(step.matching, **own), **kept)


def by_letters(step: Any) -> bool:
    """Whether anything in a system is compared by letters, for want of an embedding model."""
    if isinstance(step, Retrieval) and not (step.index or step.descriptions):
        return False
    if isinstance(step, tuple):
        return any(map(by_letters, step))
    if not is_dataclass(step) or isinstance(step, Lexical):
        return isinstance(step, Lexical)
    return any(by_letters(getattr(step, field.name)) for field in fields(step))
