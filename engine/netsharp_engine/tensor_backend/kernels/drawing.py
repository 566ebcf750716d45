"""Operations that draw classes at random by weights, and that gather means over an epoch.

They remember from minibatch to minibatch; the walk of a graph tells them apart by ``begin``, which
resets them. Source: CNTK, ComputationNetworkLib/TrainingNodes.h, RandomSampleNode.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from netsharp_engine.graph import GraphError, Node
from netsharp_engine.phases import Draws
from netsharp_engine.tensor_backend.kernels.rows import Array, Sources, total

#: Sets that are drawn to estimate how many draws one takes.
_TRIALS = 10
#: The most draws for a set: classes that are missing after them are too rare.
_MOST_DRAWS = 1_000_000
#: The expected number of occurrences in all draws below which a set is refused before drawing.
_HARDLY = 1e-6


class RandomSample:
    """Draws ``sizeOfSampledSet`` classes for each minibatch, [1, set, classes], each a one-hot row.

    ``draws`` gives numbers in float64 from 0 to 1 [CNTK: ComputationNetworkLib/TrainingNodes.cpp].
    """

    def __init__(self, draws: Callable[[], Draws]) -> None:
        self._draws = draws

    def begin(self) -> None:
        """Begin an epoch: nothing is kept."""

    def forward(self, node: Node, sources: Sources) -> Array:
        """Return a set, [1, size, classes]; GraphError where none can be drawn."""
        weights = _weights(node, sources)
        chosen, _ = _drawn(node, weights, self._draws())
        found = np.zeros((1, *node.shape), sources[0].dtype)
        found[0, np.arange(len(chosen)), chosen] = 1
        return found


class InclusionFrequency:
    """The mean number of occurrences of each class in such a set, [1, 1, classes].

    With duplicates it is the expected number; without, it follows from the mean number of draws of
    ten sets. It is computed again where the weights change, and for each epoch.
    """

    def __init__(self, draws: Callable[[], Draws]) -> None:
        self._draws = draws
        self._known: tuple[Array, Array] | None = None

    def begin(self) -> None:
        """Begin an epoch: forget frequencies computed with other draws, which a resumed run never
        had.
        """
        self._known = None

    def forward(self, node: Node, sources: Sources) -> Array:
        """Return the frequencies, [1, 1, classes]; GraphError where no set can be drawn."""
        weights = _weights(node, sources)
        if self._known is None or not np.array_equal(self._known[0], weights):
            share = weights / weights.sum()
            if node.attributes["allowDuplicates"]:
                found = share * node.attributes["sizeOfSampledSet"]
            else:
                tries = [_drawn(node, weights, self._draws())[1] for _ in range(_TRIALS)]
                found = -np.expm1(sum(tries) / _TRIALS * np.log1p(-share))
            self._known = weights, found.astype(sources[0].dtype).reshape(1, *node.shape)
        return self._known[1]


class EpochAccumulator:
    """The mean of all samples since the epoch began, [1, ...]; it is given samples without gaps.

    The factors are numbers of the type that is computed in [CNTK: LinearAlgebraNodes.cpp,
    UpdateRunningAverage].
    """

    def __init__(self) -> None:
        self._mean: Array | None = None
        self._count = 0

    def begin(self) -> None:
        """Begin an epoch."""
        self._mean, self._count = None, 0

    def forward(self, node: Node, sources: Sources) -> Array:
        """Take the samples of a minibatch, and return the mean, [1, *shape]."""
        (values,) = sources
        kind = values.dtype.type
        before, self._count = self._count, self._count + len(values)
        count = max(self._count, 1)
        new = total(values, (0,), True) * kind(1 / count)
        self._mean = new if self._mean is None else self._mean * kind(before / count) + new
        return self._mean.copy()


def _weights(node: Node, sources: Sources) -> Array:
    """Return the weights by which classes are drawn, in float64; GraphError where no set can be
    drawn by them.
    """
    weights = sources[0].reshape(-1).astype(np.float64)
    if (weights < 0).any() or not np.isfinite(weights).all():
        at = int(np.flatnonzero(~(weights >= 0) | ~np.isfinite(weights))[0])
        why = f"draws classes by weights, and that of class {at:,} is {weights[at]:g}"
        raise GraphError(f"'{node.name}' {why}", node.origin)
    count, size = int(np.count_nonzero(weights)), node.attributes["sizeOfSampledSet"]
    if count < (1 if node.attributes["allowDuplicates"] else size):
        why = f"draws {size:,} classes, and {count:,} of {len(weights):,} have a weight above 0"
        raise GraphError(f"'{node.name}' {why}", node.origin)
    return weights


def _drawn(node: Node, weights: Array, draws: Draws) -> tuple[list[int], int]:
    """Return the classes of a set, and the number of draws."""
    size, ends = node.attributes["sizeOfSampledSet"], np.cumsum(weights)
    if not node.attributes["allowDuplicates"] and _is_rare(weights, size):
        raise _too_rare(node, f"finds no {size:,} different classes in {_MOST_DRAWS:,} draws")
    found: dict[int, None] = {}
    tries = 0
    while tries < _MOST_DRAWS:
        # No more than are lacking: each draw of the stream counts.
        wanted = size - len(found)
        chosen = np.searchsorted(ends, np.asarray(draws(wanted)) * ends[-1]).tolist()
        if node.attributes["allowDuplicates"]:
            return chosen, size
        tries += wanted
        found.update(dict.fromkeys(chosen))
        if len(found) == size:
            return list(found), tries
    raise _too_rare(node, f"found {len(found):,} of {size:,} classes in {tries:,} draws")


def _is_rare(weights: Array, size: int) -> bool:
    """Return whether a set's last class is hardly ever drawn, because the others are too light."""
    rest = np.sort(weights)[: len(weights) - size + 1].sum() / weights.sum()
    return bool(rest * _MOST_DRAWS < _HARDLY)


def _too_rare(node: Node, why: str) -> GraphError:
    return GraphError(f"'{node.name}' {why}: others are too rare", node.origin)
