import itertools
import random
import shutil
from dataclasses import replace

import pytest

from tests.train.tuning.tiny import write_model, write_talks
from workbench.db.schema import read_schema
from workbench.errors import BadInputError
from workbench.lab import Lab
from workbench.llm import provider
from workbench.llm.client import Client
from workbench.select.pairwise import Pairwise
from workbench.store import Store
from workbench.train.tuning import judge
from workbench.train.tuning.judge import load_judge
from workbench.train.tuning.lora import Lora
from workbench.types import Candidate, Context, Execution, Question, Request, Trial

COLD = {"temperature": 0.0}


@pytest.fixture
def client(tmp_path):
    with Store(tmp_path / "lab.sqlite") as store:
        yield Client(store, retries=0)


def asked(name, talk, **parameters):
    return Request("select/pairwise", name, talk[:-1], {**COLD, **parameters})


def test_it_has_learned_the_rule(tuned, talks, client):
    name = load_judge(tuned.folder)
    answers = client.complete_many([asked(name, talk) for talk in talks.unseen])
    assert [a.text for a in answers] == [talk[-1]["content"] for talk in talks.unseen]
    assert {(a.finish_reason, a.cost, a.fault) for a in answers} == {("stop", 0.0, "")}


def test_its_answers_are_kept_like_any_models(tuned, talks, client, monkeypatch):
    name = load_judge(tuned.folder)
    first = client.complete(asked(name, talks.unseen[0]))
    monkeypatch.setattr(judge, "_judge", None)  # it is not needed again
    again = client.complete(asked(name, talks.unseen[0]))
    assert (again.text, again.cached) == (first.text, True)


def test_its_name_goes_with_the_adapter_and_the_model_not_with_their_place(tuned, tmp_path):
    moved = shutil.copytree(tuned.folder, tmp_path / tuned.folder.name)
    assert load_judge(moved) == load_judge(tuned.folder)
    record = moved / "lora.json"
    record.write_text(record.read_text().replace(tuned.record.model_hash, "model:other"))
    assert load_judge(moved) != load_judge(tuned.folder)


def test_an_adapter_that_changed_since_its_training_is_refused(tuned, tmp_path):
    copy = shutil.copytree(tuned.folder, tmp_path / "copy")
    weights = copy / "adapter_model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-1] + b"?")
    with pytest.raises(BadInputError, match=r"not the one that its lora\.json tells of"):
        load_judge(copy)


def test_at_a_temperature_the_call_decides_what_is_drawn(tuned, talks, tmp_path):
    name = load_judge(tuned.folder)
    hot = [asked(name, talks.unseen[0], temperature=50.0, max_tokens=8)]
    hot += [replace(hot[0], sample=1)]
    drawn = []
    for book in ("one", "two"):
        with Store(tmp_path / book) as store:
            drawn.append([answer.text for answer in Client(store).complete_many(hot)])
    assert drawn[0] == drawn[1]
    assert drawn[0][0] != drawn[0][1]


def test_a_reply_that_was_cut_off_says_so(tuned, talks, client):
    answer = client.complete(asked(load_judge(tuned.folder), talks.unseen[0], max_tokens=1))
    assert (answer.text, answer.finish_reason) == (talks.unseen[0][-1]["content"], "length")


def test_what_is_longer_than_the_model_reads_is_a_fault(tuned, client):
    long = [{"role": "user", "content": "price " * 600}, {}]
    answer = client.complete(asked(load_judge(tuned.folder), long))
    assert answer.fault == "rejected"
    assert "tokens, and the model reads 512" in answer.error


def test_a_parameter_that_it_does_not_know_is_not_passed_over(tuned, talks, client):
    with pytest.raises(BadInputError, match="temperature, top_p and max_tokens, not seed"):
        client.complete(asked(load_judge(tuned.folder), talks.unseen[0], seed=3))


def test_who_waits_too_long_for_a_turn_is_told_as_providers_do(tuned, talks, monkeypatch):
    monkeypatch.setattr(judge, "PATIENCE", 0.01)
    name = load_judge(tuned.folder)
    with judge._turn, pytest.raises(provider.Refusal) as refused:
        provider.send(asked(name, talks.unseen[0]), "call:1", "", 10.0)
    assert (refused.value.fault, refused.value.again) == ("rate_limit", True)


def test_a_model_that_changed_since_answers_nothing(tuned, tiny_model, talks, tmp_path, client):
    changed = shutil.copytree(tiny_model, tmp_path / "changed")
    (changed / "generation_config.json").write_text('{"eos_token_id": 2, "max_length": 9}')
    folder = shutil.copytree(tuned.folder, tmp_path / "another name")
    name = load_judge(folder, model=changed)
    with pytest.raises(BadInputError, match=r"is not the one that .* was tuned from"):
        client.complete(asked(name, talks.unseen[0]))


def test_the_name_of_a_model_that_is_not_loaded_ends_the_run_at_once(tuned, talks, client):
    load_judge(tuned.folder)
    with pytest.raises(BadInputError, match=r"no model local/other@0 here: load_judge\(FOLDER\)"):
        client.complete(asked("local/other@0", talks.unseen[0]))


def test_a_folder_without_a_finished_training_is_refused(tmp_path):
    with pytest.raises(BadInputError, match=r"no finished training \(No such file.*lora\.json"):
        load_judge(tmp_path)


def test_tuned_on_what_pairwise_asks_it_selects_among_queries_it_never_saw(
    torch, tiny, client, tmp_path
):
    tiny.write_databases(tmp_path / "databases")
    schema = read_schema(tmp_path / "databases" / "zoo" / "zoo.sqlite")
    context = Context(Question("q1", "zoo", "Which one?"), schema)
    lab = Lab(client, None, None)

    def trial(column, condition, word):
        sql = f"SELECT {column} FROM animal WHERE {condition} = 'x {word} x'"
        return Trial(Candidate(sql, "g"), Execution("ok", ("n",), ((sql,),), 1, fingerprint=sql))

    chance = random.Random(2)
    talks = []
    for _ in range(60):
        letter = chance.choice("AB")
        words = ("RIGHT", "zoo") if letter == "A" else ("zoo", "RIGHT")
        pair = [
            trial(chance.choice(["id", "name"]), chance.choice(["id", "name", "legs"]), word)
            for word in words
        ]
        asked = Pairwise("any/model").request(lab, context, *pair).messages
        talks.append([*asked, {"role": "assistant", "content": letter}])
    learn = Lora(epochs=8, learning_rate=1e-2, batch=10, micro_batch=10, dropout=0.0, seed=2)
    file, model = write_talks(tmp_path / "talks", talks), write_model(tmp_path / "model", seed=2)
    learn(file, model, tmp_path / "judge")

    choose = Pairwise(load_judge(tmp_path / "judge"), adaptive=False)
    for condition, other in itertools.permutations(["id", "name", "legs"], 2):
        trials = [trial("legs", condition, "zoo"), trial("legs", other, "RIGHT")]
        selection = choose(lab, context, trials)
        assert selection.scores == (0.0, 2.0)  # in both orders
        assert "RIGHT" in selection.sql
