"""The other side of the benchmark of sequences: PyTorch eager, padded and packed.

A step trains on one ready minibatch of the same task: words, an embedding, an LSTM, its last
output, six classes; cross-entropy, SGD with momentum 0.9, float32, one thread.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

CLASSES, RATE, MOMENTUM = 6, 0.01, 0.9
Sentences = Sequence[np.ndarray]


def steps(
    words: int, width: int, cells: int, batches: Sequence[tuple[Sentences, np.ndarray]]
) -> dict[str, Callable[[], object]]:
    """A call without arguments for each way to hold sentences of unequal length."""
    import torch

    torch.set_num_threads(1)
    torch.manual_seed(0)
    return {
        f"PyTorch, {name}": _step(torch, words, width, cells, batches, packed)
        for name, packed in (("padded", False), ("packed", True))
    }


def _step(
    torch: Any, words: int, width: int, cells: int, batches: Any, packed: bool
) -> Callable[[], object]:
    rnn = torch.nn.utils.rnn
    embedding = torch.nn.Embedding(words, width)
    lstm = torch.nn.LSTM(width, cells, batch_first=True)
    last = torch.nn.Linear(cells, CLASSES)
    parameters = [one for module in (embedding, lstm, last) for one in module.parameters()]
    optimiser = torch.optim.SGD(parameters, lr=RATE, momentum=MOMENTUM)
    ready = []
    for sentences, kinds in batches:
        parts = [torch.from_numpy(one) for one in sentences]
        lengths = torch.tensor([len(one) for one in parts])
        given = (
            (torch.cat(parts), lengths, [len(one) for one in parts])
            if packed
            else (rnn.pad_sequence(parts, batch_first=True), lengths, None)
        )
        ready.append((*given, torch.from_numpy(kinds)))
    turn = 0

    def step() -> object:
        nonlocal turn
        tokens, lengths, pieces, kinds = ready[turn % len(ready)]
        turn += 1
        optimiser.zero_grad(set_to_none=True)
        vectors = embedding(tokens)
        if packed:
            held = rnn.pack_sequence(vectors.split(pieces), enforce_sorted=False)
            _, (state, _) = lstm(held)
            ends = state[0]
        else:
            found, _ = lstm(vectors)
            ends = found[torch.arange(len(lengths)), lengths - 1]
        loss = torch.nn.functional.cross_entropy(last(ends), kinds, reduction="sum")
        loss.backward()
        optimiser.step()
        return loss

    return step
