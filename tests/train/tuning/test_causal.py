import shutil
import socket
import sys

import pytest

from tests.train.tuning.tiny import write_model
from workbench.errors import BadInputError
from workbench.train.tuning.causal import find, fingerprint, libraries, load

SYSTEM = {"role": "system", "content": "Choose one"}
USER = {"role": "user", "content": "Candidate A"}
CHAT = (
    "{% for m in messages %}{{ m.role }}: {{ m.content }} </s> {% endfor %}"
    "{% if add_generation_prompt %}assistant:{% endif %}"
)
NO_SYSTEM = "{% if messages[0].role == 'system' %}{{ raise_exception('no system') }}{% endif %}"


@pytest.fixture(autouse=True)
def no_network(monkeypatch):
    def refuse(*_):
        raise AssertionError("the network was reached for")

    monkeypatch.setattr(socket.socket, "connect", refuse)


def words(causal, ids):
    return " ".join(causal.tokenizer.convert_ids_to_tokens(ids))


def test_without_a_chat_template_each_message_stands_under_its_role(tiny_model):
    causal = load(tiny_model)
    read = causal.read([SYSTEM, USER])
    assert words(causal, read) == "<s> system: Choose one user: Candidate A assistant:"


def test_a_chat_template_is_used_as_it_is(torch, tmp_path):
    causal = load(write_model(tmp_path, template=CHAT))
    read = causal.read([SYSTEM, USER])
    assert words(causal, read) == "system: Choose one </s> user: Candidate A </s> assistant:"


def test_a_template_without_a_system_gets_its_words_from_the_user(torch, tmp_path):
    causal = load(write_model(tmp_path, template=NO_SYSTEM + CHAT))
    assert words(causal, causal.read([SYSTEM, USER])) == (
        "user: Choose one Candidate A </s> assistant:"
    )


def test_what_a_template_refuses_otherwise_is_the_callers_to_know(torch, tmp_path):
    causal = load(write_model(tmp_path, template="{{ raise_exception('never') }}"))
    with pytest.raises(BadInputError, match="chat template refuses this: never"):
        causal.read([SYSTEM, USER])


def test_a_tokenizer_that_reads_nothing_is_noticed(tiny_model):
    with pytest.raises(BadInputError, match="gives no tokens for ' '"):
        load(tiny_model).tokens(" ")


def test_a_control_token_in_the_data_ends_no_message(tiny_model):
    causal = load(tiny_model)
    read = causal.read([{**USER, "content": "Candidate </s> A"}])
    assert causal.tokenizer.eos_token_id not in read
    assert causal.reply("A </s> B").count(causal.tokenizer.eos_token_id) == 1


def test_a_reply_is_its_words_and_the_token_that_ends_it(tiny_model):
    causal = load(tiny_model)
    assert words(causal, causal.reply("B")) == "B </s>"


def test_a_fingerprint_changes_with_a_byte_of_the_model_and_not_with_a_readme(tiny_model, tmp_path):
    copy = shutil.copytree(tiny_model, tmp_path / "copy")
    (copy / "README.md").write_text("a model")
    assert fingerprint(copy) == fingerprint(tiny_model)
    weights = bytearray((copy / "model.safetensors").read_bytes())
    weights[-1] ^= 1
    (copy / "model.safetensors").write_bytes(weights)
    assert fingerprint(copy) != fingerprint(tiny_model)


def test_a_model_that_is_not_here_is_not_fetched_unasked(torch):
    with pytest.raises(BadInputError, match=r"'nobody/nothing': no such folder.*was not asked for"):
        find("nobody/nothing")


def test_a_model_is_fetched_when_that_is_asked_for(torch, tiny_model, monkeypatch):
    asked = []

    def fetch(name, *, local_files_only, allow_patterns):
        asked.append((name, local_files_only))
        return str(tiny_model)

    monkeypatch.setattr("huggingface_hub.snapshot_download", fetch)
    assert find("someone/model", download=True) == tiny_model
    assert asked == [("someone/model", False)]


def test_a_folder_without_a_model_is_refused(torch, tmp_path):
    with pytest.raises(BadInputError, match=r"no config\.json"):
        find(tmp_path)
    (tmp_path / "config.json").write_text('{"model_type": "no such thing"}')
    with pytest.raises(BadInputError, match="no causal language model that can be loaded"):
        load(find(tmp_path))


def test_a_missing_extra_is_one_clear_error(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(BadInputError, match=r"pip install 'workbench\[train\]'"):
        libraries()
