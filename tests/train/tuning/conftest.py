import random
from types import SimpleNamespace

import pytest

from tests.train.tuning.tiny import talk, write_model, write_talks


@pytest.fixture(scope="session")
def torch():
    """PyTorch on one thread: two threads that share a busy core are fourteen times slower."""
    for name in ("transformers", "peft"):
        pytest.importorskip(name, reason="needs the extra `train`: make test-extras")
    torch = pytest.importorskip("torch", reason="needs the extra `train`: make test-extras")
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield torch
    torch.set_num_threads(before)


@pytest.fixture(scope="session")
def tiny_model(torch, tmp_path_factory):
    """The folder of a model of two layers that was never trained."""
    return write_model(tmp_path_factory.mktemp("model"))


@pytest.fixture(scope="session")
def talks(tmp_path_factory):
    """A file of 100 conversations that follow a rule; one of the first 12, also as a list; 40 in no file."""
    chance = random.Random(0)
    made = [talk(chance) for _ in range(140)]
    folder = tmp_path_factory.mktemp("talks")
    return SimpleNamespace(
        file=write_talks(folder / "talks.jsonl", made[:100]),
        few=write_talks(folder / "few.jsonl", made[:12]),
        first=made[:12],
        unseen=made[100:],
    )


@pytest.fixture(scope="session")
def tuned(tiny_model, talks, tmp_path_factory):
    """The folder of an adapter that has learned the rule, with its record."""
    from workbench.train.tuning.lora import Lora

    out = tmp_path_factory.mktemp("tuned") / "judge"
    learn = Lora(epochs=6, learning_rate=1e-2, batch=10, micro_batch=10)
    return SimpleNamespace(folder=out, record=learn(talks.file, tiny_model, out))
