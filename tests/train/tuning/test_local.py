import itertools
import random
import shutil
from dataclasses import replace

import pytest

from tests.train.tuning.tiny import write_model, write_talks
from workbench.db.schema import read_schema
from workbench.errors import BadInputError
from workbench.lab import Lab
from workbench.llm.client import Client
from workbench.select.pairwise import Pairwise
from workbench.store import Store
from workbench.train.tuning import local
from workbench.train.tuning.causal import load
from workbench.train.tuning.checkpoint import Tuning
from workbench.train.tuning.local import adapter_folder, version
from workbench.train.tuning.lora import Lora
from workbench.train.tuning.prefixes import SHORTEST, Prefixes
from workbench.types import Candidate, Context, Execution, Question, Request, Trial

COLD = {"temperature": 0.0}


@pytest.fixture
def client(tmp_path):
    with Store(tmp_path / "lab.sqlite") as store:
        yield Client(store, retries=0)


def asked(name, talk, **parameters):
    return Request("select/pairwise", name, talk[:-1], {**COLD, **parameters})


@pytest.fixture
def models(tmp_path, monkeypatch):
    """The folder of the tuned models, in a home of its own."""
    monkeypatch.setenv("WORKBENCH_HOME", str(tmp_path / "home"))
    adapter_folder("judge").parent.mkdir(parents=True)
    return adapter_folder("judge").parent


@pytest.fixture
def judge(tuned, models):
    """The name of the model that has learned the rule."""
    shutil.copytree(tuned.folder, models / "judge")
    return "local/judge"


def test_it_has_learned_the_rule(judge, talks, client):
    answers = client.complete_many([asked(judge, talk) for talk in talks.unseen])
    assert [a.text for a in answers] == [talk[-1]["content"] for talk in talks.unseen]
    assert {(a.finish_reason, a.cost, a.fault) for a in answers} == {("stop", 0.0, "")}


def test_its_answers_are_cached_like_those_of_any_model(judge, talks, client, monkeypatch):
    first = client.complete(asked(judge, talks.unseen[0]))
    monkeypatch.setattr(local, "_model", None)  # it is not needed again
    again = client.complete(asked(judge, talks.unseen[0]))
    assert (again.text, again.cached) == (first.text, True)


def test_a_model_that_was_not_tuned_is_named_by_its_folder(tiny_model, talks, client):
    answer = client.complete(asked(f"local/{tiny_model}", talks.unseen[0], max_tokens=3))
    assert (answer.fault, answer.finish_reason, answer.usage.output) == ("", "length", 3)


def test_a_key_holds_the_adapter_and_the_base_model_and_not_their_place(judge, models):
    before = version(judge)
    shutil.move(models / "judge", models / "moved")
    assert version("local/moved") == before
    record = models / "moved" / "lora.json"
    kept = Tuning.of(record.read_bytes())
    record.write_text(replace(kept, model_hash="model:other").json())
    assert version("local/moved") != before


def test_the_key_of_a_model_changes_with_its_files(tiny_model, tmp_path):
    copy = shutil.copytree(tiny_model, tmp_path / "copy")
    before = version(f"local/{copy}")
    assert before == version(f"local/{tiny_model}")
    (copy / "generation_config.json").write_text('{"eos_token_id": 2, "max_length": 9}')
    assert before != version(f"local/{copy}")


def test_an_adapter_that_changed_since_its_training_is_refused(judge, models):
    weights = models / "judge" / "adapter_model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-1] + b"?")
    with pytest.raises(BadInputError, match=r"has changed since lora\.json was written"):
        version(judge)


def test_at_a_temperature_the_call_decides_what_is_drawn(judge, talks, tmp_path):
    hot = [asked(judge, talks.unseen[0], temperature=50.0, max_tokens=8)]
    hot += [replace(hot[0], sample=1)]
    drawn = []
    for book in ("one", "two"):
        with Store(tmp_path / book) as store:
            drawn.append([answer.text for answer in Client(store).complete_many(hot)])
    assert drawn[0] == drawn[1]
    assert drawn[0][0] != drawn[0][1]


def test_a_reply_that_was_cut_off_says_so(judge, talks, client):
    answer = client.complete(asked(judge, talks.unseen[0], max_tokens=1))
    assert (answer.text, answer.finish_reason) == (talks.unseen[0][-1]["content"], "length")


def test_what_is_longer_than_the_model_reads_is_a_fault(judge, client):
    long = [{"role": "user", "content": "price " * 600}, {}]
    answer = client.complete(asked(judge, long))
    assert answer.fault == "rejected"
    assert "tokens, and the model reads 512" in answer.error


def test_a_parameter_that_it_does_not_know_is_not_passed_over(judge, talks, client):
    with pytest.raises(BadInputError, match="temperature, top_p and max_tokens, not seed"):
        client.complete(asked(judge, talks.unseen[0], seed=3))


def test_a_base_model_that_changed_since_the_training_answers_nothing(
    judge, models, tiny_model, talks, tmp_path, client, monkeypatch
):
    monkeypatch.setattr(local, "_loaded", {})
    changed = shutil.copytree(tiny_model, tmp_path / "changed")
    (changed / "generation_config.json").write_text('{"eos_token_id": 2, "max_length": 9}')
    record = models / "judge" / "lora.json"
    record.write_text(replace(Tuning.of(record.read_bytes()), model=str(changed)).json())
    with pytest.raises(BadInputError, match=r"has changed since .* was tuned from it"):
        client.complete(asked(judge, talks.unseen[0]))


def test_an_unknown_name_ends_the_run_with_the_names_that_there_are(judge, talks, client):
    with pytest.raises(BadInputError, match="no model local/other: tuned here are judge; "):
        client.complete(asked("local/other", talks.unseen[0]))


def test_a_training_that_is_not_finished_is_no_model_yet(models):
    (models / "begun").mkdir()
    with pytest.raises(BadInputError, match=r"`workbench train lora --name begun` finishes one"):
        version("local/begun")


def test_a_name_that_is_a_path_is_refused():
    with pytest.raises(BadInputError, match=r"'\.\./judge' is no name for a model"):
        adapter_folder("../judge")


def test_tuned_on_what_pairwise_asks_it_selects_among_queries_it_never_saw(
    torch, tiny, client, models, tmp_path
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
    learn(file, model, models / "judge")

    choose = Pairwise("local/judge")
    for condition, other in itertools.permutations(["id", "name", "legs"], 2):
        trials = [trial("legs", condition, "zoo"), trial("legs", other, "RIGHT")]
        selection = choose(lab, context, trials)
        assert selection.scores == (0.0, 2.0)  # in both orders
        assert "RIGHT" in selection.sql


def test_a_prompt_that_begins_like_an_earlier_one_gets_the_reply_that_it_gets_alone(
    torch, tiny_model, monkeypatch
):
    causal = load(tiny_model)
    first, second = ([*range(4, 20)] * (SHORTEST // 16) + [last, 7] for last in (8, 9))
    options = {"temperature": 0, "max_tokens": 8}
    alone = local._generate(causal, Prefixes(), second, options, "a seed")
    prefixes = Prefixes()
    local._generate(causal, prefixes, first, options, "a seed")
    known = prefixes.begin(second)
    assert known.get_seq_length() == SHORTEST
    prefixes.keep(first, known)
    assert local._generate(causal, prefixes, second, options, "a seed") == alone
