"""The JSON objects that prompts ask for, as schemas that a `structured` lab sends."""

from typing import Any

_TEXT, _LIST = {"type": "string"}, {"type": "array", "items": {"type": "string"}}
_REASONING = {"chain_of_thought_reasoning": _TEXT}
_DECISION = {"anyOf": [{"enum": ["keep_all", "drop_all"]}, _LIST]}
_YES_OR_NO = {"type": "string", "enum": ["Yes", "No"]}
# By prompt: the object's members, and the form of further ones, which stand for tables.
_FORMS: dict[str, tuple[dict[str, Any], Any]] = {
    "prune/select_tables": ({**_REASONING, "table_names": _LIST}, False),  # CHESS, figures 8 to 12
    "prune/select_columns": (_REASONING, _LIST),
    "prune/filter_column": ({**_REASONING, "is_column_information_relevant": _YES_OR_NO}, False),
    "generate/chess_candidate": ({**_REASONING, "SQL": _TEXT}, False),
    "fix/reviser": ({**_REASONING, "revised_SQL": _TEXT}, False),
    "prune/mac_selector": ({}, _DECISION),  # MAC-SQL, appendix A.1
}


def response_format(prompt: str) -> dict[str, Any] | None:
    """The parameter that tells a provider the form of a prompt's answer; None if it is no object."""
    if prompt not in _FORMS:
        return None
    members, others = _FORMS[prompt]
    schema = {"type": "object", "properties": members, "required": list(members),
              "additionalProperties": others}  # fmt: skip
    strict = others is False  # OpenAI's strict mode takes no others
    named = {"name": prompt.partition("/")[2], "schema": schema, "strict": strict}
    return {"type": "json_schema", "json_schema": named}
