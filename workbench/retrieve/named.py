"""Value retrieval by name, as an experiment's setting `retrieval` chooses it.

- "default" is the retrieval that measures best here (tests/benchmarks/README.md): the trigram index, and similarity
  of letters.
- "paper" is CHESS's (appendix A.1), to which CHASE-SQL refers (section 2.2): LSH returns the values most like a
  keyword, and embedding similarity and edit distance rank them, with CHESS's thresholds and model.
- Settings by name change one of the two: `{like: paper, similarity: gemini/gemini-embedding-001, semantic: 0.7}`.

| setting | value |
| --- | --- |
| like | default or paper |
| index | trigram, minhash, or none for no values |
| similarity | letters, minilm, or an embedding model of LiteLLM, PROVIDER/MODEL |
| descriptions | how many descriptions are retrieved |
| permutations, ngram, threshold | those of `MinHash` |
| candidates, edit, semantic, ... | those of `Matching` |
"""

from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any, cast

from workbench.errors import BadInputError
from workbench.retrieve.descriptions import Descriptions
from workbench.retrieve.embed import Embedding, MiniLM, Similarity
from workbench.retrieve.index.minhash import MinHash
from workbench.retrieve.index.trigram import Trigram
from workbench.retrieve.index.values import IndexKind
from workbench.retrieve.lexical import Lexical
from workbench.retrieve.matching import CHESS, Matching
from workbench.retrieve.retrieval import Retrieval

PAPER = Retrieval(None, MinHash(), Embedding("openai/text-embedding-3-small"), CHESS)
_NAMED = {"default": Retrieval(None), "paper": PAPER}
_INDEXES: Mapping[str, Callable[[], IndexKind | None]] = {
    "trigram": Trigram,
    "minhash": MinHash,
    "none": lambda: None,
}
_SIMILARITIES: Mapping[str, Callable[[], Similarity]] = {"letters": Lexical, "minilm": MiniLM}
_OF_INDEX = ("permutations", "ngram", "threshold")
_OF_MATCHING = tuple(field.name for field in fields(Matching))
_SETTINGS = ("like", "index", "similarity", "descriptions", *_OF_INDEX, *_OF_MATCHING)


def retrieval_of(given: str | Mapping[str, Any]) -> Retrieval:
    """The retrieval that a setting names, without its keywords."""
    settings: dict[str, Any] = {"like": given} if isinstance(given, str) else dict(given)
    if odd := sorted(set(map(str, settings)) - set(_SETTINGS)):
        raise BadInputError(f"retrieval has no {', '.join(odd)}; there are {', '.join(_SETTINGS)}")
    chosen: Retrieval = _one(_NAMED, "", settings.pop("like", "default"))
    if "index" in settings:
        chosen = replace(chosen, index=_one(_INDEXES, "index", settings.pop("index"))())
    if name := settings.pop("similarity", ""):
        is_model = isinstance(name, str) and "/" in name
        similarity = Embedding(name) if is_model else _one(_SIMILARITIES, "similarity", name)()
        chosen = replace(chosen, similarity=similarity)
    if "best_of" in settings:
        _one({"keyword": 0, "question": 0}, "best_of", settings["best_of"])
    for name, value in settings.items():
        if name != "best_of" and (type(value) not in {int, float} or value < 0):
            raise BadInputError(f"retrieval: {name} is {value!r}, and should be a number from 0 on")
    if "descriptions" in settings:
        chosen = replace(chosen, descriptions=Descriptions(settings.pop("descriptions")))
    of_index: dict[str, Any] = {name: settings.pop(name) for name in _OF_INDEX if name in settings}
    if of_index:
        if not isinstance(chosen.index, MinHash):
            raise BadInputError(
                f"retrieval: {', '.join(of_index)} belong to the index minhash: add `index: minhash`, or leave"
                " them out"
            )
        chosen = replace(chosen, index=replace(chosen.index, **of_index))
    return replace(chosen, matching=replace(chosen.matching, **settings))


def with_retrieval(step: Any, chosen: Retrieval) -> Any:
    """A step that retrieves, with this index, similarity and thresholds in place of its own.

    What the step leaves out, values or descriptions, stays left out. Other steps are unchanged.
    """
    if isinstance(step, Retrieval):
        return replace(
            chosen,
            keywords=step.keywords,
            index=step.index and chosen.index,
            descriptions=step.descriptions and chosen.descriptions,
        )
    if not is_dataclass(step) or isinstance(step, type):
        return step
    parts = {field.name: getattr(step, field.name) for field in fields(step)}
    changed = {
        name: new
        for name, part in parts.items()
        if (new := with_retrieval(part, chosen)) is not part
    }
    return replace(cast(Any, step), **changed) if changed else step


def _one(known: Mapping[str, Any], what: str, name: object) -> Any:
    """The entry of that name."""
    if not isinstance(name, str) or name not in known:
        of = f"retrieval: {what}" if what else "retrieval"
        raise BadInputError(f"{of} is {name!r}, and should be {' or '.join(known)}")
    return known[name]
