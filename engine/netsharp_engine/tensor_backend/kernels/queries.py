"""Quality of the order of answers to queries: a criterion with a gradient, and a figure.

Sources are the worth of an answer, its score, and the number of its query, each one number for a
sample; answers to a query are consecutive, the worthiest first. The value is the one that CNTK
reports for a sample, times the samples. Source: CNTK, ComputationNetworkLib/TrainingNodes.h and
EvaluationNodes.h; LambdaRank by Burges (2010).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from netsharp_engine.nodes import Node
from netsharp_engine.tensor_backend.kernels.elements import one_number
from netsharp_engine.tensor_backend.kernels.rows import Array, Sources, TensorKernel

#: Worths that differ by less are equal: about float32's relative precision (1.2e-7).
_EQUAL = 1e-7


def _queries(sources: Sources) -> Iterator[tuple[slice, Array, Array]]:
    """Yield, for every query, its samples, their worth, and their scores."""
    count = max(map(len, sources))
    worth, scores, numbers = (np.broadcast_to(one.reshape(-1), count) for one in sources)
    ids = numbers.astype(np.int64)
    begins = np.r_[0, np.flatnonzero(np.diff(ids)) + 1, count]
    for begin, end in zip(begins[:-1].tolist(), begins[1:].tolist(), strict=True):
        here = slice(begin, end)
        yield here, worth[here], scores[here]


def _ranks(worth: Array, scores: Array) -> Array:
    """Return the rank of each answer by its score; of equal ones the less worthy is first."""
    found = np.empty(len(scores), np.intp)
    found[np.lexsort((worth, -scores))] = np.arange(len(scores))
    return found


def _discounts(ranks: Array, kind: type) -> Array:
    """Return the discounts by which the worth of places is divided."""
    return np.log(2.0 + ranks).astype(kind)


def _sum(values: Array) -> Array:
    """Return the sum, added one after the other in the type of the numbers."""
    found: Array = np.cumsum(values)[-1]
    return found


def _gained(sources: Sources) -> Array:
    """Return the distance of answers from the best order, in per cent."""
    kind, shares = sources[1].dtype.type, []
    for _, worth, scores in _queries(sources):
        places = np.arange(len(worth))
        best = _sum(worth / _discounts(places, kind))
        found = _sum(worth / _discounts(_ranks(worth, scores), kind))
        shares.append(found / best if best != 0 else kind(0))
    missed: Array = (kind(1) - _sum(np.array(shares, kind)) / kind(len(shares))) * kind(100)
    return missed


def _unsorted(node: Node, sources: Sources) -> Array:
    return one_number(np.asarray(_gained(sources) * sources[1].dtype.type(_count(sources))))


def _count(sources: Sources) -> int:
    return max(map(len, sources))


def _pulled(node: Node, sources: Sources, value: Array, gradient: Array) -> Array:
    """Return the gradient that orders answers: by pairs, the change of the value by their exchange.

    As in CNTK, pairs of equal worth are skipped here and not where scores are compared: after one,
    later pairs of the minibatch get the slopes of those before them.
    """
    kind = sources[1].dtype.type
    queries = list(_queries(sources))
    pulls, at = _pulls(queries, kind), 0
    found = np.zeros(_count(sources), kind)
    for here, worth, scores in queries:
        discounts = _discounts(_ranks(worth, scores), kind)
        best = _sum(worth / _discounts(np.arange(len(worth)), kind))
        own = found[here]
        for place in np.flatnonzero(worth > worth[-1]).tolist():
            others = place + 1 + np.flatnonzero(np.abs(worth[place] - worth[place + 1 :]) >= _EQUAL)
            pull = pulls[at : at + len(others)]
            at += len(others)
            if best == 0:
                continue
            one, other = discounts[place], discounts[others]
            change = (worth[place] - worth[others]) * (one - other) / (one * other)
            pull = pull * np.abs(change / best)
            own[place] += pull.sum()
            own[others] -= pull
    back: Array = found.reshape(-1, 1) * gradient[0]
    return back.reshape(-1, *sources[1].shape[1:])


def _pulls(queries: list[tuple[slice, Array, Array]], kind: Any) -> Array:
    """Return, for every answer that is worth more than the last of its query, and each later one,
    the slope of log(1 + exp(-difference of scores)).
    """
    differences = [
        scores[place] - scores[place + 1 :]
        for _, worth, scores in queries
        for place in np.flatnonzero(worth > worth[-1]).tolist()
    ]
    apart = np.concatenate([np.empty(0, kind), *differences])
    found: Array = -kind(1) / (kind(1) + np.exp(apart))
    return found


def _first_place(node: Node, sources: Sources) -> Array:
    """Return the worth of the answers in the first places relative to the greatest, in per cent."""
    kind, total, number = sources[1].dtype.type, sources[1].dtype.type(0), 0
    for _, worth, scores in _queries(sources):
        number += 1
        if worth[0] != 0:
            total = total + worth[_ranks(worth, scores).argmin()] / worth[0]
    found = total / kind(number) * kind(100) * kind(_count(sources))
    return one_number(np.asarray(found, kind))


QUERIES = {
    "LambdaRank": TensorKernel(_unsorted, (None, _pulled, None)),
    "NDCG1Eval": TensorKernel(_first_place, (None, None, None)),
}
