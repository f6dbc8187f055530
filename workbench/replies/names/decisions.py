"""What a reply decides on each table, in the form of MAC-SQL's Selector."""

import re
from typing import Any

from workbench.replies.json_values import json_values, member_name
from workbench.replies.names.columns import BRACKETS, columns_in
from workbench.replies.names.spelling import Names, Tables, plain
from workbench.replies.names.values import REASONS, without_bullet
from workbench.replies.text import answer_text

Decision = str | list[str]  # "keep_all", "drop_all", or the columns that stay

_WORDS = {
    f"{verb}{rest}": f"{verb}_all" for verb in ("keep", "drop") for rest in ("", "all", " all")
}


def read_decisions(reply: str, tables: Tables) -> dict[str, Decision]:
    """For each table that the reply decides on: "keep_all", "drop_all", or the columns that stay."""
    text, names = answer_text(reply), Names(tables)
    values = json_values(text)
    if "{" not in text and text.startswith('"'):  # an object without its braces, perhaps as a list
        members = re.sub(r",?[ \t]*\n[ \t]*(?:[-*\u2022][ \t]+)?", ", ", text)
        values = json_values(f"{{{members}}}")
    for _, _, value in reversed(values):
        if found := _decisions_in(value, names):
            return found
    return _of_lines(text, names)


def _of_lines(text: str, names: Names) -> dict[str, Decision]:
    """The decisions of lines such as `- ferry: keep_all`, `ferry -> drop_all` and `| ferry | keep_all |`."""
    found: dict[str, Decision] = {}
    for line in text.splitlines():
        row = re.split(r":|->|\u2192|=|\|", without_bullet(line.strip().strip("|")), maxsplit=1)
        table = names.table(row[0])
        if table and len(row) > 1 and (decision := _decision(table, row[1].strip(" |"), names)):
            found[table] = decision
    return found


def _decisions_in(value: Any, names: Names) -> dict[str, Decision]:
    """The decisions of an object by table, or of a list of objects that each name a table."""
    found: dict[str, Decision] = {}
    if isinstance(value, list):
        for row in value:
            if isinstance(row, dict):
                found |= _decision_of_row(row, names) or _decisions_in(row, names)
        return found
    if not isinstance(value, dict):
        return {}
    for key, item in value.items():
        if (word := _WORDS.get(plain(key))) and isinstance(item, list):  # {"keep_all": ["ferry"]}
            found |= {table: word for one in item if (table := names.table(one))}
        table = names.table(key)
        if table and (decision := _decision(table, item, names)) is not None:
            found[table] = decision
    if found:
        return found
    inner = [_decisions_in(item, names) for item in value.values() if isinstance(item, dict | list)]
    return next((one for one in reversed(inner) if one), {})


def _decision_of_row(row: dict[str, Any], names: Names) -> dict[str, Decision]:
    """The decision of `{"table": "ferry", "decision": "keep_all"}`."""
    texts = {key: item for key, item in row.items() if isinstance(item, str)}
    named = {key: table for key, item in texts.items() if (table := names.table(item))}
    others = {k: v for k, v in row.items() if k not in named and plain(k) not in REASONS}
    if not named or not others:
        return {}
    table = next(iter(named.values()))
    decision = _decision(table, others, names)
    return {} if decision is None else {table: decision}


def _decision(table: str, value: Any, names: Names) -> Decision | None:
    """What a word, a list of columns, or an object of these decides on a table; None where it is unclear."""
    if not value:
        return [] if isinstance(value, list | None) else None
    if isinstance(value, dict):
        value = _of_members({plain(key): item for key, item in value.items()})
    if isinstance(value, list) and len(value) == 1 and str(value[0]).strip():
        value = value[0] if plain(value[0]) in _WORDS else value
    if isinstance(value, str):
        spaced = member_name(value)
        if word := _WORDS.get(spaced):
            return word
        if verb := re.match(r"(keep|drop) ?all\b", spaced):
            return f"{verb[1]}_all"
        value = BRACKETS.sub("", value)
    pairs = columns_in(value, names, table)
    return [column for owner, column in dict.fromkeys(pairs) if owner == table] or None


def _of_members(members: dict[str, Any]) -> Any:
    """The member that decides: a list of columns, else a decision, else all members together."""
    columns = members.get("columns") or members.get("keep") or members.get("keep columns")
    decision = members.get("decision", members.get("action"))
    if decision and not isinstance(columns, list):
        return decision
    return columns or (members.get("keep all") and "keep_all") or [*members.values()]
