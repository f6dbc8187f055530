"""The papers' systems answer one bundled question over OpenAI's, Anthropic's and Gemini's protocols.

The server on loopback reads each protocol's request, has the embedded parser answer its messages,
and writes the reply in the protocol's form: what LiteLLM loses on the way changes the answer.
"""

import threading
from dataclasses import replace

import pytest

import workbench as wb
from tests.llm.server import Server
from tests.llm.test_providers import MODELS, anthropic, gemini, openai
from workbench.benchmarks.benchmark import open_benchmark
from workbench.embedded.write_reply import answer
from workbench.lab import Lab
from workbench.sql.executor import Executor
from workbench.systems.system import solve

QUESTION = 139  # which the parser answers right in every system
PROTOCOLS = ("OpenAI", "Anthropic", "Gemini")
SYSTEMS = {
    "CHASE-SQL": lambda model: wb.chase_sql(model, samples=1),
    "CHESS (IR, CG, UT)": lambda model: wb.chess_ir_cg_ut(model, candidates=2, tests=2),
    "CHESS (IR, SS, CG)": wb.chess_ir_ss_cg,
    "MAC-SQL": wb.mac_sql,
}
_parsing = threading.Lock()


def text(content):
    """The text of a message, which two protocols send in parts."""
    return (
        content
        if isinstance(content, str)
        else "".join(part["text"] for part in content)
    )


def messages(path, body):
    """The messages of a request in any of the protocols."""
    if path.endswith("/chat/completions"):
        return [(m["role"], text(m["content"])) for m in body["messages"]]
    if path.endswith("/messages"):
        system = [("system", text(body["system"]))] if "system" in body else []
        return system + [(m["role"], text(m["content"])) for m in body["messages"]]
    assert ":generateContent" in path
    first = body.get("system_instruction") or body.get("systemInstruction")
    system = [("system", text(first["parts"]))] if first else []
    names = {"model": "assistant"}
    return system + [
        (names.get(m["role"], m["role"]), text(m["parts"])) for m in body["contents"]
    ]


def reply(path, said):
    """A reply with this text in the protocol's form."""
    if path.endswith("/chat/completions"):
        return openai(said)
    return anthropic(said) if path.endswith("/messages") else gemini(said)


@pytest.fixture(scope="module")
def benchmark():
    return open_benchmark("bundled-dev")


@pytest.mark.parametrize("name", SYSTEMS)
def test_a_system_answers_alike_over_each_protocol(tmp_path, benchmark, name):
    question = benchmark.questions[QUESTION]
    gold = benchmark.golds[question.id]
    answers, asked = {}, {}
    for protocol in PROTOCOLS:
        model = MODELS[protocol]
        heard = set()

        def respond(path, body, heard=heard):
            found = messages(path, body)
            heard.add(tuple(found))
            sent = [{"role": role, "content": content} for role, content in found]
            with _parsing:
                return 200, reply(path, answer(sent, temperature=0.0)), {}

        cache = wb.Cache(tmp_path / f"{protocol}.sqlite")
        with Server(respond=respond) as server, Executor() as executor:
            base = server.root if protocol == "Anthropic" else server.url
            client = wb.Client(cache, api_base=base, retries=0)
            lab = Lab(client, executor, benchmark.database)
            selection = solve(SYSTEMS[name](model), question, lab)
            paid = client.ledger.total()
            assert paid.calls == server.calls == server.requests
            assert paid.cost > 0
            assert (paid.unpriced, client.ledger.failed.total()) == (0, 0)
            right = lab.run(question, gold.sql)
            assert lab.run(question, selection.sql).fingerprint == right.fingerprint
            offline = replace(lab, client=wb.Client(cache, api_base=base, offline=True))
            assert solve(SYSTEMS[name](model), question, offline).sql == selection.sql
        answers[protocol] = selection.sql
        asked[protocol] = {tuple(part.strip() for _, part in one) for one in heard}
    assert len(set(answers.values())) == 1
    assert asked["OpenAI"] == asked["Anthropic"] == asked["Gemini"]
