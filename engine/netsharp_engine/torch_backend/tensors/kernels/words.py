"""Torch's criteria of words: by classes, and against words that were drawn as noise.

Labels say which weights are read; they are looked at on the host.
"""

from __future__ import annotations

import math

import numpy as np
import torch

from netsharp_engine.graph import GraphError, SamplesError
from netsharp_engine.nodes import Node
from netsharp_engine.torch_backend.kernels.rows import Tensor
from netsharp_engine.torch_backend.tensors.kernels.rows import Tensors, TorchRow, flat, one_number


def _by_classes(node: Node, sources: Tensors) -> Tensor:
    """By the class of each word, and by the word among those of its class."""
    labels, hidden, values = flat([sources[0], sources[1], sources[3]])
    weights = sources[2].reshape(-1, sources[2].shape[-1])
    known = labels.detach().cpu().numpy().astype(np.intp)
    _require_classes(node, known, len(weights), values.shape[1])
    every = torch.arange(len(known), device=values.device)
    likelihood = torch.log_softmax(values, 1)[every, labels[:, 1].detach().long()].sum()
    ranges, number = np.unique(known[:, 2:], axis=0, return_inverse=True)
    for at, (first, end) in enumerate(ranges.tolist()):
        samples = torch.from_numpy(np.flatnonzero(number.reshape(-1) == at)).to(values.device)
        scores = torch.log_softmax(hidden[samples] @ weights[first:end].T, 1)
        words = labels[samples, 0].detach().long() - first
        likelihood = likelihood + scores.gather(1, words[:, None]).sum()
    return one_number(-likelihood)


def _require_classes(node: Node, labels: np.ndarray, words: int, classes: int) -> None:
    """Raise SamplesError for a label [word, class, first word, end] that is none."""
    word, kind, first, end = labels.T
    wrong = (first < 0) | (end > words) | (word < first) | (word >= end)
    wrong |= (kind < 0) | (kind >= classes)
    if wrong.any():
        values = ", ".join(map(str, labels[np.flatnonzero(wrong)[0]].tolist()))
        raise SamplesError(
            f"'{node.name}' has the label {values}: word, class, first word and end of the class. "
            f"A word is one of its class, and there are {words:,} words in {classes:,} classes"
        )


def _by_noise(node: Node, sources: Tensors) -> Tensor:
    """Evaluate the next word against drawn ones, or against all where a label is one number."""
    labels, hidden = flat(sources[:2])
    weights, biases = sources[2].reshape(-1, sources[2].shape[-1]), sources[3].reshape(-1)
    words, noise = labels[:, ::2].detach().long(), labels[:, 1::2].detach()
    _require_words(node, words, len(weights))
    if labels.shape[1] == 1:
        if any(one.requires_grad for one in sources[1:]):
            why = (
                "has labels of one number, which are evaluated and not trained by: noise is needed"
            )
            raise GraphError(f"'{node.name}' {why}", node.origin)
        return one_number(_evaluated(labels, words, hidden, weights, biases))
    scores = _scores(words, hidden, weights, biases)
    sign = torch.full_like(noise, -1.0)
    sign[:, 0] = 1
    noise = noise * sign + math.log(words.shape[1] - 1)
    whole = torch.logaddexp(scores, noise)
    likelihood = (scores - whole)[:, 0].sum() + (noise - whole)[:, 1:].sum()
    return one_number(-likelihood)


def _scores(words: Tensor, hidden: Tensor, weights: Tensor, biases: Tensor) -> Tensor:
    """Return the score [samples, words of a label] of each word."""
    return (weights[words] * hidden[:, None]).sum(2) + biases[words]


def _evaluated(
    labels: Tensor, words: Tensor, hidden: Tensor, weights: Tensor, biases: Tensor
) -> Tensor:
    """Labels of one number: a word among all, or below 0 by what it scores."""
    if bool((labels < 0).any()) and not bool((labels > 0).any()):
        return -_scores(words.abs(), hidden, weights, biases).sum()
    every = torch.log_softmax(hidden @ weights.T + biases, 1)
    return -every.gather(1, words).sum()


def _require_words(node: Node, words: Tensor, count: int) -> None:
    known = words.abs().cpu().numpy()
    wrong = np.argwhere(known >= count)
    if len(wrong):
        raise SamplesError(
            f"'{node.name}' has a label with word {known[tuple(wrong[0])]:,}, and there are "
            f"{count:,} words"
        )


WORDS: dict[str, TorchRow] = {
    "ClassBasedCrossEntropyWithSoftmax": _by_classes,
    "NoiseContrastiveEstimation": _by_noise,
}
