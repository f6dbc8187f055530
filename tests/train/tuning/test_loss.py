import pytest

from tests.train.tuning.tiny import bare
from workbench.train.tuning.causal import load
from workbench.train.tuning.loss import loss_of


def test_the_loss_is_of_the_last_reply_alone(torch, tiny_model):
    causal = load(tiny_model)
    read, reply = [1, 5, 6, 7, 8], [9, 2]
    with torch.no_grad():
        scores = causal.model(torch.tensor([read + reply])).logits[0].log_softmax(-1)
        loss = loss_of(bare(causal.model), [(read + reply, len(read))])
    expected = -(scores[4, 9] + scores[5, 2])
    assert loss.item() == pytest.approx(expected.item(), rel=1e-5)


def test_conversations_of_other_lengths_do_not_touch_each_other(torch, tiny_model):
    model = bare(load(tiny_model).model)
    rows = [([1, 5, 6, 9, 2], 3), ([1, 5, 6, 7, 8, 4, 10, 2], 6), ([1, 9, 3, 2], 1)]
    with torch.no_grad():
        together = loss_of(model, rows).item()
        alone = sum(loss_of(model, [row]).item() for row in rows)
    assert together == pytest.approx(alone, rel=1e-5)


def test_a_model_that_scores_every_place_gives_the_same_loss(torch, tiny_model):
    model = bare(load(tiny_model).model)

    class Older:
        device = model.device

        def get_base_model(self):
            return self

        def forward(self, input_ids, attention_mask, use_cache):
            return model(input_ids=input_ids, attention_mask=attention_mask, use_cache=use_cache)

        __call__ = forward

    rows = [([1, 5, 6, 9, 2], 3), ([1, 9, 3, 2], 1)]
    with torch.no_grad():
        assert loss_of(Older(), rows).item() == pytest.approx(loss_of(model, rows).item())
