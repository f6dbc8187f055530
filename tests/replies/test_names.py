"""Replies that name tables or columns, and what each names in the schema's spelling."""

import pytest

from workbench.replies.names import read_columns, read_decisions, read_tables

FERRIES = {
    "ferry": ["ferry_id", "name", "built", "capacity"],
    "sailing": ["sailing_id", "ferry_id", "route_id", "departs", "status"],
    "route": ["route_id", "from_port", "to_port", "minutes"],
    "ticket": ["ticket_id", "sailing_id", "fare", "class"],
}
SCHOOL = {
    "Pupil": ["PupilID", "First Name", "Last Name", "Year"],
    "Course": ["CourseID", "Title", "Teacher"],
    "Enrolment": ["PupilID", "CourseID", "Mark", "Term"],
    "Room": ["RoomNo", "Seats"],
}
READERS = {"tables": read_tables, "columns": read_columns, "decisions": read_decisions}
REPLIES = [
    ('["sailing", "route"]', "tables", FERRIES, ["sailing", "route"]),
    ("sailing, route", "tables", FERRIES, ["sailing", "route"]),
    ("The tables sailing and route are needed.", "tables", FERRIES, ["sailing", "route"]),
    ('{"tables": "sailing, route"}', "tables", FERRIES, ["sailing", "route"]),
    (
        '{"tables": [{"name": "sailing", "why": "status"}, {"name": "route"}]}',
        "tables",
        FERRIES,
        ["sailing", "route"],
    ),
    (
        "1. sailing - holds the status\n2. route - the ports\n\nticket is not needed.",
        "tables",
        FERRIES,
        ["sailing", "route"],
    ),
    ('{"tables": {"sailing": true, "ferry": false}}', "tables", FERRIES, ["sailing"]),
    ("None of the tables fit.", "tables", FERRIES, []),
    (
        '{"columns": {"ferry": "name, built", "sailing": ["departs"]}}',
        "columns",
        FERRIES,
        {"ferry": ["name", "built"], "sailing": ["departs"]},
    ),
    (
        "ferry: name, built\nsailing: departs",
        "columns",
        FERRIES,
        {"ferry": ["name", "built"], "sailing": ["departs"]},
    ),
    (
        "- ferry.name: asked for\n- sailing.departs: the day",
        "columns",
        FERRIES,
        {"ferry": ["name"], "sailing": ["departs"]},
    ),
    (
        '{"columns": [{"table": "ferry", "columns": ["name"]}, {"table": "sailing", "columns": ["status"]}]}',
        "columns",
        FERRIES,
        {"ferry": ["name"], "sailing": ["status"]},
    ),
    (
        '{"ferry": ["name"], "sailing": ["status"]}',
        "columns",
        FERRIES,
        {"ferry": ["name"], "sailing": ["status"]},
    ),
    (
        '{"columns": {"Pupil": ["First Name", "last_name"]}}',
        "columns",
        SCHOOL,
        {"Pupil": ["First Name", "Last Name"]},
    ),
    ('{"columns": {"ferry": ["ferry.name"]}}', "columns", FERRIES, {"ferry": ["name"]}),
    ('{"reasoning": "x", "columns": {"ferry": ["name"', "columns", FERRIES, {}),
    (
        '{\n "ferry": "keep_all", // main\n "ticket": "drop_all",\n}',
        "decisions",
        FERRIES,
        {"ferry": "keep_all", "ticket": "drop_all"},
    ),
    (
        "ferry: keep_all\nticket: drop_all\nsailing: [departs, status]",
        "decisions",
        FERRIES,
        {"ferry": "keep_all", "ticket": "drop_all", "sailing": ["departs", "status"]},
    ),
    (
        '{"Pupil": "Keep All", "Course": ["Title"], "Room": "drop"}',
        "decisions",
        SCHOOL,
        {"Pupil": "keep_all", "Course": ["Title"], "Room": "drop_all"},
    ),
    (
        '```json\n{"answer": {"ferry": "keep_all"}}\n```',
        "decisions",
        FERRIES,
        {"ferry": "keep_all"},
    ),
]


@pytest.mark.parametrize(("reply", "want", "schema", "named"), REPLIES)
def test_names_come_back_as_the_schema_spells_them(reply, want, schema, named):
    assert READERS[want](reply, schema) == named
