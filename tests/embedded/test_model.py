"""The model through the client: what it reaches, its limits, and how well it answers the bundled questions."""

import subprocess
import sys
from collections import Counter
from dataclasses import replace

import pytest

import workbench as wb
from workbench.embedded import provider
from workbench.embedded.build_queries import WEIGHTS
from workbench.embedded.learn import learn
from workbench.errors import BadInputError

ALONE = """
import sys
from workbench.embedded.write_reply import answer
def refuse(event, arguments):
    if event in {"open", "sqlite3.connect", "socket.connect", "subprocess.Popen"}:
        raise RuntimeError(event)
text = "## Database schema\\nCREATE TABLE ship (\\n    a INTEGER\\n);\\n## Question\\nHow many ships?\\n## Answer\\n"
answer([{"role": "user", "content": text}])  # the first one loads modules
sys.addaudithook(refuse)
print(answer([{"role": "user", "content": text}], temperature=0.0))
"""


def test_it_opens_no_file_no_database_and_no_network_to_answer():
    done = subprocess.run(
        [sys.executable, "-c", ALONE], check=True, capture_output=True, text=True
    )
    assert "SELECT" in done.stdout


def ask(model=provider.MODEL, **parameters):
    text = (
        "## Question\nWho is Ada Lovelace?\n\n## Answer\nGive only a list of strings:\n"
    )
    return wb.Request(
        "keywords", model, [{"role": "user", "content": text}], parameters
    )


def test_it_is_reached_through_the_client_and_costs_nothing(tmp_path):
    with wb.Cache(tmp_path / "lab.sqlite") as cache:
        completion = wb.Client(cache).complete(ask(temperature=0.0))
        assert "Ada Lovelace" in completion.text
        assert (completion.cost, completion.cached) == (0.0, False)
        assert wb.Client(cache, offline=True).complete(ask(temperature=0.0)).cached


def test_other_models_and_embeddings_are_refused_by_name():
    for request in (ask(model="embedded/oracle"), ask(embedding=True)):
        with pytest.raises(BadInputError, match=provider.MODEL):
            provider.answer(request, "seed")


def test_an_output_limit_cuts_the_answer_and_says_so():
    (whole,) = provider.answer(ask(), "seed")["choices"]
    reply = provider.answer(ask(max_tokens=3), "seed")
    (cut,) = reply["choices"]
    assert whole["message"]["content"].startswith(cut["message"]["content"])
    assert (whole["finish_reason"], cut["finish_reason"]) == ("stop", "length")
    assert reply["usage"]["completion_tokens"] == 3


@pytest.mark.slow
def test_the_committed_weights_are_those_that_its_trainer_makes():
    assert learn() == WEIGHTS


RETRIEVAL = wb.Retrieval(wb.Keywords(provider.MODEL))
SYSTEM = replace(wb.direct(), retrieve=RETRIEVAL)


@pytest.fixture(scope="module")
def right(tmp_path_factory):
    """A function that gives gold's result and the candidates' results for bundled questions, by default every third."""
    benchmark = wb.open_benchmark("bundled-dev")
    path = tmp_path_factory.mktemp("accuracy") / "lab.sqlite"
    with wb.Cache(path) as cache, wb.Executor(cache) as executor:
        lab = wb.Lab(wb.Client(cache), executor, benchmark.database)

        def result(question, system):
            gold = (
                benchmark.database(question.db_id),
                benchmark.golds[question.id].sql,
            )
            trials = wb.solve(system, question, lab).trials
            prints = [t.execution.fingerprint if t.execution else "" for t in trials]
            return executor.result_fingerprints([gold])[0], prints

        yield lambda system, change=lambda q: q, every=3: [
            result(change(question), system)
            for question in benchmark.questions[::every]
        ]


def points(results):
    return 100 * sum(prints[0] == wanted for wanted, prints in results) / len(results)


@pytest.mark.slow
def test_it_answers_a_quarter_of_the_questions_and_fewer_without_values_or_hints(right):
    full = points(right(SYSTEM))
    assert 25 < full < 67
    assert (
        points(right(replace(SYSTEM, retrieve=replace(RETRIEVAL, index=None))))
        <= full - 5
    )
    assert (
        points(right(SYSTEM, lambda question: replace(question, evidence="")))
        <= full - 5
    )


@pytest.mark.slow
def test_samples_hold_right_queries_that_their_majority_lacks(right):
    drawn = tuple(
        replace(step, samples=10, temperature=0.8) for step in SYSTEM.generate
    )
    ten = right(replace(SYSTEM, generate=drawn), every=1)
    majority = [Counter(filter(None, p)).most_common(1)[:1] for _, p in ten]
    agreed = sum(
        wanted in dict(best) for best, (wanted, _) in zip(majority, ten, strict=True)
    )
    assert (
        100 * (sum(wanted in prints for wanted, prints in ten) - agreed) / len(ten) >= 5
    )
