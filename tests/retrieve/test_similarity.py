"""Similarities are interchangeable: by letters, and by a model's vectors, which are paid once."""

import json
import math
import threading
from base64 import b64encode
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.errors import CacheMissError
from workbench.lab import Lab
from workbench.llm.client import Client
from workbench.llm.faults import Refusal
from workbench.retrieve.retrieval import Embedding, Lexical

MODEL = "openai/text-embedding-3-small"


def vector(*numbers):
    return b64encode(np.array(numbers, np.float32).tobytes()).decode()


TEXTS = st.lists(st.text(max_size=30), max_size=5)


@given(TEXTS, TEXTS, st.booleans())
def test_letters_give_a_number_from_0_to_1_for_each_pair(queries, texts, collection):
    scores = Lexical()(None, queries, texts, collection=collection)
    assert scores.shape == (len(queries), len(texts))
    assert ((scores >= 0) & (scores <= 1)).all()
    for row, query in enumerate(queries):
        for column, text in enumerate(texts):
            alone = Lexical()(None, [query], [text])[0, 0]
            assert collection or scores[row, column] == pytest.approx(alone, abs=1e-6)
            if query == text and any(map(str.isalnum, query)):
                assert scores[row, column] == pytest.approx(1, abs=1e-5)


@pytest.mark.parametrize(
    ("query", "near", "far"),
    [
        ("translation", "translations", "lady"),
        ("Köln", "KOLN", "Bonn"),
        ("county name", "name of the county", "school type"),
        ("free rate", "Free", "Alameda"),
    ],
)
def test_letters_know_spelling_and_inflection(query, near, far):
    ((alike, other),) = Lexical()(None, [query], [near, far])
    assert alike >= Lexical().alike > other


def test_in_a_collection_what_most_texts_share_counts_less():
    texts = ["id of the tug", "id of the pier", "id of the crane", "id of the berth"]
    (scores,) = Lexical()(None, ["id of the crane driver"], texts, collection=True)
    (plain,) = Lexical()(None, ["id of the crane driver"], texts)
    assert scores.argmax() == 2
    assert scores[0] < plain[0] / 2


def test_similarity_of_an_embedding_model_is_the_cosine_of_its_vectors(opened):
    lab = opened(replies=[vector(3, 4), vector(4, 3), vector(-3, -4)], at_once=1)
    scores = Embedding(MODEL)(lab, ["a"], ["a", "b", "c"])
    assert scores.tolist() == [pytest.approx([1.0, 0.96, 0.0])]


def test_a_text_is_embedded_once(opened):
    Embedding(MODEL)(opened(replies=[vector(1, 0)] * 2), ["a", "b"], ["a", "b", " a "])
    offline = opened(offline=True)
    assert Embedding(MODEL)(offline, ["a"], ["b"])[0, 0] == pytest.approx(1)
    with pytest.raises(CacheMissError):
        Embedding("openai/other", 0.6)(offline, ["a"], ["b"])


def test_a_failing_call_gives_no_number_and_an_empty_text_is_not_asked_for(opened):
    lab = opened(replies=[vector(1, 0), Refusal("server", "down")], at_once=1)
    scores = Embedding(MODEL)(lab, ["a"], ["b", "", "a"])[0]
    assert [math.isnan(score) for score in scores] == [True, True, False]


@pytest.mark.parametrize(
    ("model", "reply"),
    [
        (
            MODEL,
            {"data": [{"object": "embedding", "index": 0, "embedding": [0.6, 0.8]}]},
        ),
        ("ollama/all-minilm", {"embeddings": [[0.6, 0.8]], "prompt_eval_count": 3}),
    ],
)
def test_vectors_come_over_the_wire_through_litellm(opened, monkeypatch, model, reply):
    bodies = []
    usage = {"prompt_tokens": 3, "total_tokens": 3}
    sent = json.dumps(reply | {"object": "list", "model": "m", "usage": usage}).encode()

    class Answer(BaseHTTPRequestHandler):
        def log_message(self, *_):
            pass

        def do_POST(self):
            bodies.append(
                json.loads(self.rfile.read(int(self.headers["content-length"])))
            )
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(sent)))
            self.end_headers()
            self.wfile.write(sent)

    monkeypatch.setenv("OPENAI_API_KEY", "sk-canary-0123456789")
    server = ThreadingHTTPServer(("127.0.0.1", 0), Answer)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        url = f"http://127.0.0.1:{server.server_address[1]}" + "/v1" * model.startswith(
            "openai"
        )
        lab = Lab(Client(opened().client.cache, api_base=url), None, None)
        scores = Embedding(model, 0.6)(lab, ["a"], ["b"])
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
    assert scores[0, 0] == pytest.approx(1)
    assert sorted(body["input"] for body in bodies) == [["a"], ["b"]]
    assert (
        lab.client.ledger.frame().groupby("prompt").input.sum()["retrieve/embed"] == 6
    )
