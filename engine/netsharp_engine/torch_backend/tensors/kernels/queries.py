"""Torch's rows for how well answers to queries are sorted.

Sources are what an answer is worth, its score, and the number of its query; answers to a query
are in a row, the most relevant first.  The value is that of CNTK for a sample, times the
samples.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import torch

from netsharp_engine.nodes import Node
from netsharp_engine.torch_backend.kernels.rows import Tensor
from netsharp_engine.torch_backend.tensors.kernels.rows import (
    Tensors,
    TorchRow,
    flat,
    one_number,
    ruled,
)

#: Worths that differ by less are equal.
_EQUAL = 1e-7


def _queries(
    worth: Tensor, scores: Tensor, numbers: Tensor
) -> Iterator[tuple[slice, Tensor, Tensor]]:
    """Yield for each query its samples, their worth and their scores."""
    ids = numbers.detach().cpu().numpy().reshape(-1).astype(np.int64)
    begins = np.r_[0, np.flatnonzero(np.diff(ids)) + 1, len(ids)]
    for begin, end in zip(begins[:-1].tolist(), begins[1:].tolist(), strict=True):
        here = slice(begin, end)
        yield here, worth.reshape(-1)[here], scores.reshape(-1)[here]


def _ranks(worth: Tensor, scores: Tensor) -> Tensor:
    """Return the rank of each answer by score; of equal ones the less relevant is first."""
    order = torch.argsort(worth, stable=True)
    order = order[torch.argsort(-scores[order], stable=True)]
    return torch.empty_like(order).scatter_(0, order, torch.arange(len(order), device=order.device))


def _discounts(ranks: Tensor, like: Tensor) -> Tensor:
    """Return the divisors of the worth of places."""
    return torch.log(2.0 + ranks.double()).to(like.dtype)


def _shares(worth: Tensor, scores: Tensor) -> tuple[Tensor, Tensor]:
    """Return the discounts of answers by their scores, and the gain of the best order."""
    places = torch.arange(len(worth), device=worth.device)
    return _discounts(_ranks(worth, scores), worth), (worth / _discounts(places, worth)).sum()


def _unsorted(node: Node, sources: Tensors) -> Tensor:
    worth, scores, numbers = flat(sources)
    return ruled(_missed, _pulled, worth.detach(), scores, numbers.detach())


def _missed(worth: Tensor, scores: Tensor, numbers: Tensor) -> Tensor:
    """Return the distance of the answers from the best order, in per cent times the samples."""
    shares = []
    for _, worths, each in _queries(worth, scores, numbers):
        discounts, best = _shares(worths, each)
        found = (worths / discounts).sum()
        shares.append(torch.where(best != 0, found / best, torch.zeros_like(best)))
    return one_number((1 - torch.stack(shares).mean()) * 100 * scores.shape[0])


def _pulled(
    value: Tensor, by: Tensor, worth: Tensor, scores: Tensor, numbers: Tensor
) -> tuple[None, Tensor, None]:
    """Return the gradient by pairs: how much their exchange would change the measure.

    As in CNTK, pairs of equal relevance are skipped here and not where scores are compared: after
    one, later pairs of the minibatch get the values of those before them.
    """
    queries = list(_queries(worth, scores, numbers))
    found = torch.zeros_like(scores).reshape(-1)
    pulls, at = _pulls(queries, scores), 0
    for here, worths, each in queries:
        discounts, best = _shares(worths, each)
        known = worths.cpu().numpy()
        for place in np.flatnonzero(known > known[-1]).tolist():
            apart = np.abs(known[place] - known[place + 1 :]) >= _EQUAL
            others = torch.from_numpy(place + 1 + np.flatnonzero(apart)).to(scores.device)
            pull = pulls[at : at + len(others)]
            at += len(others)
            if float(best) == 0:
                continue
            one, other = discounts[place], discounts[others]
            change = (worths[place] - worths[others]) * (one - other) / (one * other)
            pull = pull * (change / best).abs()
            own = found[here]
            own[place] += pull.sum()
            own[others] -= pull
    return None, found.reshape(scores.shape) * by, None


def _pulls(queries: list[tuple[slice, Tensor, Tensor]], scores: Tensor) -> Tensor:
    """Return slopes of log(1 + exp(-difference of scores)).

    One for every answer more relevant than the last of its query, and each after it.
    """
    apart = [
        each[place] - each[place + 1 :]
        for _, worths, each in queries
        for place in torch.nonzero(worths > worths[-1]).reshape(-1).tolist()
    ]
    return -torch.sigmoid(-torch.cat(apart)) if apart else scores.new_zeros(0)


def _first_place(node: Node, sources: Tensors) -> Tensor:
    """Return the relevance of the first answers relative to the best order, in per cent."""
    worth, scores, numbers = (one.detach() for one in flat(sources))
    shares = []
    for _, worths, each in _queries(worth, scores, numbers):
        first = worths[_ranks(worths, each).argmin()]
        shares.append(torch.where(worths[0] != 0, first / worths[0], torch.zeros_like(first)))
    return one_number(torch.stack(shares).mean() * 100 * scores.shape[0])


QUERIES: dict[str, TorchRow] = {"LambdaRank": _unsorted, "NDCG1Eval": _first_place}
