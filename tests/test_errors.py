"""An error in a file or a parameter is one line that names the file, or the parameter and its allowed values."""

import json
import os
from pathlib import Path
from urllib.parse import quote

import pytest

from workbench.errors import BadInputError, content_of, naming, redact

KEY = 'a "key" / of ünusual+characters???'


def test_what_the_system_refuses_names_the_file(tmp_path):
    with pytest.raises(BadInputError) as raised, naming(tmp_path):
        tmp_path.read_bytes()
    assert str(raised.value) == f"{tmp_path}: Is a directory"


def test_a_device_is_refused_since_it_may_never_end():
    with pytest.raises(BadInputError, match="/dev/zero is no file"):
        content_of(Path("/dev/zero"))


def test_every_other_error_stays_what_it_is(tmp_path):
    with pytest.raises(ValueError, match="mine"), naming(tmp_path):
        raise ValueError("mine")


@pytest.mark.parametrize("form", [KEY, quote(KEY, safe=""), json.dumps(KEY)])
def test_a_key_is_hidden_as_urls_and_json_write_it(monkeypatch, form):
    monkeypatch.setenv("SOME_API_KEY", KEY)
    assert redact(f"<{form}>").strip('<">') == "***"


@pytest.mark.parametrize(
    "value", [b"caf\xe9-secret-value", b"http://caf\xe9:secret-value@host"]
)
def test_a_secret_that_is_not_utf_8_is_hidden(monkeypatch, value):
    monkeypatch.setitem(os.environb, b"SOME_API_KEY", value)
    monkeypatch.setitem(os.environb, b"SOME_PROXY", value)
    assert redact(f"<{os.fsdecode(value)}>") == "<***>"
