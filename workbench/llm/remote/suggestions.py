"""Names of models that LiteLLM lists and that resemble one that no provider has."""

from difflib import get_close_matches

from workbench.llm.remote.listed import listed_names

_LIKE = 0.6  # of difflib's ratio, where 1 is the same name
_MOST = 3  # names


def suggestion(model: str) -> str:
    """A question with the names that resemble the model's; "" if there are none."""
    provider, _, name = model.partition("/")
    names = listed_names()
    if provider in names:
        close = get_close_matches(name, names[provider] - {name}, _MOST, _LIKE)
        found = [f"{provider}/{like}" for like in close]
    else:
        found = [f"{like}/{name}" for like in get_close_matches(provider, names, _MOST, _LIKE)]
    return f"did you mean {' or '.join(found)}?" if found else ""
