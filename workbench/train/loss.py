"""The loss of a language model on replies: what the prompt says is read, and never learned."""

import inspect
from collections.abc import Sequence
from typing import Any

from workbench.train.causal import libraries

Row = tuple[list[int], int]  # the tokens of a conversation, and where its last reply begins

_IGNORED = -100  # what cross entropy takes no notice of


def loss_of(model: Any, rows: Sequence[Row]) -> Any:
    """The summed cross entropy of the last replies' tokens, given all before them.

    The vocabulary's scores are worked out only where a reply's token is to be foretold, if the model can do
    so: a score for every word at every place of a long prompt takes memory and time, and says nothing.
    """
    torch, _, _ = libraries()
    width = max(len(tokens) for tokens, _ in rows)
    read = torch.zeros((3, len(rows), width), dtype=torch.long)
    read[2] = _IGNORED
    for row, (tokens, start) in enumerate(rows):
        read[0, row, : len(tokens)] = torch.tensor(tokens)
        read[1, row, : len(tokens)] = 1
        read[2, row, start : len(tokens)] = read[0, row, start : len(tokens)]
    tokens, mask, targets = read.to(model.device)
    places = (targets != _IGNORED).any(0).nonzero()[:, 0]
    known = inspect.signature(model.get_base_model().forward).parameters
    few = {"logits_to_keep": places - 1} if "logits_to_keep" in known else {}
    scores = model(input_ids=tokens, attention_mask=mask, use_cache=False, **few).logits
    if not few:
        scores = scores[:, places - 1]
    return torch.nn.functional.cross_entropy(
        scores.float().flatten(0, 1),
        targets[:, places].flatten(),
        ignore_index=_IGNORED,
        reduction="sum",
    )
