"""Value retrieval as an experiment names it: default, paper, or settings."""

from dataclasses import replace

import pytest

from workbench.evaluate.around_gold import AroundGold
from workbench.retrieve.embed import Embedding, MiniLM
from workbench.retrieve.index.minhash import MinHash
from workbench.retrieve.index.trigram import Trigram
from workbench.retrieve.keywords import Keywords
from workbench.retrieve.lexical import Lexical
from workbench.retrieve.matching import CHESS, Matching
from workbench.retrieve.named import retrieval_of, with_retrieval
from workbench.retrieve.retrieval import Retrieval
from workbench.systems.baselines import WHOLE_SCHEMA
from workbench.systems.chess import InformationRetriever

OWN = Retrieval(Keywords("maker/model"))
PAPER = retrieval_of("paper")


def test_the_papers_is_lsh_then_embeddings_and_edit_distance():
    assert isinstance(PAPER.index, MinHash)
    assert isinstance(PAPER.similarity, Embedding)
    assert PAPER.matching == CHESS


def test_the_default_is_that_of_the_step():
    assert replace(retrieval_of("default"), keywords=OWN.keywords) == OWN


def test_settings_change_one_of_the_two():
    found = retrieval_of({"like": "paper", "similarity": "gemini/embed", "semantic": 0.7})
    changed = replace(CHESS, semantic=0.7)
    assert found == replace(PAPER, similarity=Embedding("gemini/embed"), matching=changed)
    assert retrieval_of({"edit": 0.5}).matching == replace(Matching(), edit=0.5)


@pytest.mark.parametrize(
    ("given", "index", "similarity"),
    [
        ({"index": "trigram", "similarity": "letters"}, Trigram(), Lexical()),
        ({"index": "minhash", "similarity": "minilm"}, MinHash(), MiniLM()),
        (
            {"index": "minhash", "threshold": 0.2, "ngram": 4},
            MinHash(ngram=4, threshold=0.2),
            Lexical(),
        ),
        ({"index": "none"}, None, Lexical()),
    ],
)
def test_index_and_similarity_are_chosen_by_name(given, index, similarity):
    found = retrieval_of(given)
    assert (found.index, found.similarity) == (index, similarity)


def test_the_number_of_descriptions_is_a_setting():
    found = retrieval_of({"descriptions": 3}).descriptions
    assert found is not None
    assert found.top == 3


@pytest.mark.parametrize(
    "wrap", [lambda step: step, InformationRetriever, lambda step: AroundGold(step, {})]
)
def test_a_system_keeps_its_keywords_and_takes_the_rest(wrap):
    assert with_retrieval(wrap(OWN), PAPER) == wrap(replace(PAPER, keywords=OWN.keywords))


def test_what_a_step_leaves_out_stays_left_out():
    without = with_retrieval(replace(OWN, index=None), PAPER)
    assert (without.index, without.similarity) == (None, PAPER.similarity)
    assert with_retrieval(WHOLE_SCHEMA, PAPER).descriptions is None


def test_another_step_is_unchanged():
    step = Keywords("maker/model")
    assert with_retrieval(step, PAPER) is step
