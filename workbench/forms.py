"""The JSON objects that prompts ask for; with `structured` the lab sends their schemas as `response_format`."""

from typing import Any, Literal

from pydantic import BaseModel, RootModel


class _Reasoned(BaseModel, extra="forbid"):
    chain_of_thought_reasoning: str


class _Tables(_Reasoned):
    table_names: list[str]


class _Columns(_Reasoned, extra="allow"):  # the tables stand beside the reasoning
    __pydantic_extra__: dict[str, list[str]]


class _Relevance(_Reasoned):
    is_column_information_relevant: Literal["Yes", "No"]


class _Query(_Reasoned):
    SQL: str


class _Revision(_Reasoned):
    revised_SQL: str  # noqa: N815  the paper's name


class _Decisions(RootModel[dict[str, Literal["keep_all", "drop_all"] | list[str]]]):
    pass


_FORMS: dict[str, type[BaseModel]] = {
    "prune/select_tables": _Tables,  # CHESS, figures 8 to 12
    "prune/select_columns": _Columns,
    "prune/filter_column": _Relevance,
    "generate/chess_candidate": _Query,
    "fix/reviser": _Revision,
    "prune/mac_selector": _Decisions,  # MAC-SQL, appendix A.1
}


def response_format(prompt: str) -> dict[str, Any] | None:
    """The parameter that tells a provider the form of a prompt's answer; None where it is no JSON object."""
    if prompt not in _FORMS:
        return None
    schema = _FORMS[prompt].model_json_schema()
    strict = schema.get("additionalProperties") is False  # OpenAI's strict mode takes no others
    named = {"name": schema.pop("title").strip("_"), "schema": schema, "strict": strict}
    return {"type": "json_schema", "json_schema": named}
