import json
import math
import shutil
import socket
from dataclasses import replace
from types import SimpleNamespace

import pytest

from tests.train.tuning.tiny import bare, write_model, write_talks
from workbench.errors import BadInputError
from workbench.train.tuning.causal import load, unwarned
from workbench.train.tuning.lora import Lora
from workbench.train.tuning.loss import loss_of

QUICK = Lora(epochs=3, learning_rate=1e-2, batch=4, micro_batch=4)


@pytest.fixture(autouse=True)
def no_network(monkeypatch):
    def refuse(*_):
        raise AssertionError("the network was reached for")

    monkeypatch.setattr(socket.socket, "connect", refuse)


@pytest.fixture(scope="session")
def quick(tiny_model, talks, tmp_path_factory):
    """What QUICK makes of twelve conversations."""
    out = tmp_path_factory.mktemp("quick")
    return SimpleNamespace(folder=out, record=QUICK(talks.few, tiny_model, out))


def test_the_papers_settings_are_the_defaults():
    assert (Lora().rank, Lora().epochs) == (16, 10)


def test_the_loss_falls(tuned):
    first, *_, last = tuned.record.losses
    assert len(tuned.record.losses) == 6
    assert last < first / 5


def test_the_record_says_what_the_adapter_was_made_of(tuned, tiny_model):
    found = json.loads((tuned.folder / "lora.json").read_text())
    assert found["settings"]["rank"] == 16
    assert found["model"] == str(tiny_model)
    assert found["data_hash"] == tuned.record.data_hash
    assert found["examples"] == 100
    assert found["losses"] == list(tuned.record.losses)
    assert found["versions"].keys() == {"torch", "transformers", "peft"}


def test_the_folder_holds_the_adapter_in_pefts_own_form_and_the_record(tuned):
    names = {path.name for path in tuned.folder.iterdir()}
    assert names == {"adapter_config.json", "adapter_model.safetensors", "lora.json"}


def test_the_adapter_reloads_and_scores_as_it_did(torch, quick, tiny_model, talks, tmp_path):
    peft = pytest.importorskip("peft")
    causal = load(tiny_model)
    asked = [(causal.read(talk[:-1]), causal.reply(talk[-1]["content"])) for talk in talks.first]
    rows = [(read + reply, len(read)) for read, reply in asked]
    before = loss_of(bare(causal.model), rows).item() / 24
    with unwarned():
        again = peft.PeftModel.from_pretrained(load(tiny_model).model, quick.folder)
    after = loss_of(again, rows).item() / 24
    assert after < quick.record.losses[-1] < before


def test_the_same_seed_gives_the_same_adapter(quick, tiny_model, talks, tmp_path):
    again = QUICK(talks.few, tiny_model, tmp_path)
    assert again.adapter == quick.record.adapter
    assert again.losses == quick.record.losses


def test_another_seed_gives_another(quick, tiny_model, talks, tmp_path):
    other = replace(QUICK, seed=1)(talks.few, tiny_model, tmp_path)
    assert other.adapter != quick.record.adapter


def test_chance_outside_is_left_as_it_was(torch, tiny_model, talks, tmp_path):
    torch.manual_seed(7)
    expected = torch.rand(3)
    torch.manual_seed(7)
    replace(QUICK, epochs=1)(talks.few, tiny_model, tmp_path)
    assert torch.equal(torch.rand(3), expected)


def test_a_training_that_was_stopped_ends_as_one_that_was_not(quick, tiny_model, talks, tmp_path):
    def stop(done, total):
        assert total == 9
        if done == 5:  # in the second of three epochs of three steps
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        QUICK(talks.few, tiny_model, tmp_path, progress=stop)
    steps = []
    again = QUICK(talks.few, tiny_model, tmp_path, progress=lambda done, _: steps.append(done))
    assert steps == [4, 5, 6, 7, 8, 9]
    assert (again.adapter, again.losses) == (quick.record.adapter, quick.record.losses)


def test_a_finished_training_is_not_done_again(quick, tiny_model, talks):
    def never(*_):
        raise AssertionError("it trained")

    assert QUICK(talks.few, tiny_model, quick.folder, progress=never) == quick.record


def test_a_folder_with_another_training_is_left_alone(quick, tiny_model, talks, tmp_path):
    with pytest.raises(BadInputError, match="other rank, seed: name a new folder"):
        replace(QUICK, rank=8, seed=3)(talks.few, tiny_model, quick.folder)
    with pytest.raises(BadInputError, match="other data_hash"):
        QUICK(talks.file, tiny_model, quick.folder)
    with pytest.raises(BadInputError, match="other model_hash"):
        QUICK(talks.few, write_model(tmp_path, seed=1), quick.folder)


def test_a_folder_with_other_things_is_left_alone(tiny_model, talks, tmp_path):
    (tmp_path / "thesis.tex").write_text("...")
    with pytest.raises(BadInputError, match=r"contains thesis\.tex"):
        QUICK(talks.few, tiny_model, tmp_path)


@pytest.mark.parametrize("change", [{"micro_batch": 1}, {"checkpointing": True}])
def test_what_saves_memory_changes_the_loss_by_rounding_only(
    quick, tiny_model, talks, tmp_path, change
):
    plain = replace(QUICK, dropout=0.0, epochs=1)
    expected = plain(talks.few, tiny_model, tmp_path / "plain").losses
    found = replace(plain, **change)(talks.few, tiny_model, tmp_path / "saving").losses
    assert found == pytest.approx(expected, rel=1e-4)


def test_what_is_too_long_is_left_out_and_counted(tiny_model, talks, tmp_path):
    long = [{"role": "user", "content": "price " * 100}, talks.first[0][-1]]
    file = write_talks(tmp_path / "talks.jsonl", [*talks.first, long])
    short = replace(QUICK, epochs=1, max_tokens=60)
    record = short(file, tiny_model, tmp_path / "out")
    assert (record.examples, record.left_out) == (12, 1)
    with pytest.raises(BadInputError, match="every conversation is longer than 10 tokens"):
        replace(short, max_tokens=10)(file, tiny_model, tmp_path / "none")


def test_a_model_that_takes_no_adapter_is_refused(torch, tiny_model, talks, tmp_path):
    import transformers

    folder = shutil.copytree(tiny_model, tmp_path / "model")
    config = transformers.MambaConfig(vocab_size=22, hidden_size=32, num_hidden_layers=1)
    transformers.MambaForCausalLM(config).save_pretrained(folder)
    with pytest.raises(BadInputError, match="no adapter can be put on this model"):
        QUICK(talks.few, folder, tmp_path / "out")


def test_a_training_that_runs_away_is_stopped_and_not_kept(tiny_model, talks, tmp_path):
    with pytest.raises(BadInputError, match="lower learning_rate"):
        replace(QUICK, learning_rate=math.inf)(talks.few, tiny_model, tmp_path)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "wrong", [{"rank": 0}, {"epochs": 0}, {"batch": -1}, {"learning_rate": 0.0}, {"dropout": 1.0}]
)
def test_settings_that_mean_nothing_are_refused(wrong):
    with pytest.raises(BadInputError, match="counts are 1 or more"):
        replace(Lora(), **wrong)
