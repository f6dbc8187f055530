import json

import pytest

from workbench.errors import BadInputError
from workbench.train.tuning.conversations import read_conversations

USER = {"role": "user", "content": "A or B?"}
REPLY = {"role": "assistant", "content": "B"}


def test_the_messages_are_read_and_what_stands_beside_them_is_not(tmp_path):
    file = tmp_path / "pairs.jsonl"
    line = {"id": 7, "messages": [{**USER, "name": "x"}, REPLY]}
    file.write_text(f"{json.dumps(line)}\n\n{json.dumps({'messages': [USER, REPLY]})}\n")
    assert read_conversations(file) == [(USER, REPLY)] * 2


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("not JSON", "invalid literal"),
        ("[1, 2]", "no list of messages"),
        (json.dumps({"contents": [{"role": "user", "parts": []}]}), "no list of messages"),
        (json.dumps({"messages": [REPLY]}), "no list of messages"),
        (json.dumps({"messages": ["A or B?", "B"]}), "a message that is 'A or B\\?'"),
        (json.dumps({"messages": [{"role": "model", "content": "B"}, REPLY]}), "role 'model'"),
        (json.dumps({"messages": [{"role": "user", "content": [1]}, REPLY]}), "content of list"),
        (json.dumps({"messages": [REPLY, USER]}), "no reply"),
        (json.dumps({"messages": [USER, {**REPLY, "content": ""}]}), "no reply"),
    ],
)
def test_a_line_of_another_form_is_named_with_the_form_expected(tmp_path, line, complaint):
    file = tmp_path / "pairs.jsonl"
    file.write_text(f"{json.dumps({'messages': [USER, REPLY]})}\n{line}\n")
    with pytest.raises(BadInputError, match=f"line 2: .*{complaint}.*expected .*messages"):
        read_conversations(file)


def test_a_file_that_is_missing_or_empty_is_refused(tmp_path):
    with pytest.raises(BadInputError, match="No such file"):
        read_conversations(tmp_path / "none.jsonl")
    (tmp_path / "empty.jsonl").write_text("\n")
    with pytest.raises(BadInputError, match="no conversation"):
        read_conversations(tmp_path / "empty.jsonl")
