"""The loss of a language model on replies: it reads the prompt, but is not trained to repeat it."""

import inspect
from collections.abc import Sequence
from typing import Any

from workbench.train.tuning.causal import libraries

Row = tuple[list[int], int]  # the tokens of a conversation, and where its last reply begins

_IGNORED = -100  # the label that PyTorch's cross entropy skips


def loss_of(model: Any, rows: Sequence[Row]) -> Any:
    """The summed cross entropy of the last replies' tokens, given all tokens before them.

    If the model can, it computes logits only at the positions that predict a reply's token: logits of the
    whole vocabulary at every position of a long prompt take much memory and time, and are not used.
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
    # The logits at a position predict the next token, so those of a target are one position before it.
    positions = (targets != _IGNORED).any(0).nonzero()[:, 0]
    known = inspect.signature(model.get_base_model().forward).parameters
    few = {"logits_to_keep": positions - 1} if "logits_to_keep" in known else {}
    scores = model(input_ids=tokens, attention_mask=mask, use_cache=False, **few).logits
    if not few:
        scores = scores[:, positions - 1]
    return torch.nn.functional.cross_entropy(
        scores.float().flatten(0, 1),
        targets[:, positions].flatten(),
        ignore_index=_IGNORED,
        reduction="sum",
    )
