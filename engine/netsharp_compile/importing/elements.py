"""Element-wise operations beside constants as a factor and an offset for each element.

Knows no sums and no layers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from netsharp_engine.tensor_backend.kernels.elements import away_from_zero

if TYPE_CHECKING:
    from netsharp_compile.operators import Array
    from netsharp_engine.nodes import Node


class Scaling(NamedTuple):
    """A factor for each element, and an offset added after it, both [elements]."""

    factors: Array
    offsets: Array

    def inverse(self) -> Scaling:
        """Return the inverse scaling."""
        return Scaling(1 / self.factors, -self.offsets / self.factors)


def scaling_of(node: Node, place: int, given: Sequence[Any]) -> Scaling | None:
    """Return the factor and offset that an operation applies to its source of that number, where
    the others are constants; None where it is not such a scaling.
    """
    found = _SCALINGS[node.op](node, place, given)
    if found is None:
        return None
    return Scaling(*(np.broadcast_to(one, node.shape).reshape(-1) for one in found))


def unit_of(node: Node, given: Sequence[Any]) -> Scaling | None:
    """Return the scaling that maps 0 and 1 to the bounds of a clip; None where the bounds are not
    ordered.
    """
    low, high = (np.broadcast_to(one, node.shape).reshape(-1) for one in given[:2])
    if not (high > low).all() or not np.isfinite(high - low).all():
        return None
    return Scaling(high - low, low)


#: A factor and an offset that broadcast to the shape of a node.
_Pair = tuple[Any, Any] | None


def _plus(node: Node, place: int, given: Sequence[Any]) -> _Pair:
    return 1.0, given[1 - place]


def _minus(node: Node, place: int, given: Sequence[Any]) -> _Pair:
    return (1.0, -given[1]) if place == 0 else (-1.0, given[0])


def _times(node: Node, place: int, given: Sequence[Any]) -> _Pair:
    return given[1 - place], 0.0


def _negated(node: Node, place: int, given: Sequence[Any]) -> _Pair:
    return -1.0, 0.0


def _normalized(node: Node, place: int, given: Sequence[Any]) -> _Pair:
    return (given[2], -given[1] * given[2]) if place == 0 else None


def _restored(node: Node, place: int, given: Sequence[Any]) -> _Pair:
    return (1 / away_from_zero(given[2]), given[1]) if place == 0 else None


def _rows(node: Node, place: int, given: Sequence[Any]) -> _Pair:
    if place != 1:
        return None
    column = given[0].reshape(-1)
    return np.tile(column, node.size // len(column)).reshape(node.shape), 0.0


def _batch(node: Node, place: int, given: Sequence[Any]) -> _Pair:
    """Return the scaling of a batch normalisation with its running statistics."""
    if place != 0:
        return None
    scale, bias, mean, variance = (one.reshape(-1) for one in given[1:])
    factors = scale / np.sqrt(variance + node.attributes["epsilon"])
    offsets = bias - mean * factors
    if not node.attributes["spatial"]:
        return factors.reshape(node.shape), offsets.reshape(node.shape)
    each = node.size // len(factors)
    spread = [np.repeat(one, each).reshape(node.shape) for one in (factors, offsets)]
    return spread[0], spread[1]


_SCALINGS: dict[str, Callable[[Node, int, Sequence[Any]], _Pair]] = {
    "Plus": _plus,
    "Minus": _minus,
    "ElementTimes": _times,
    "Negate": _negated,
    "DiagTimes": _rows,
    "PerDimMeanVarNormalization": _normalized,
    "PerDimMeanVarDeNormalization": _restored,
    "BatchNormalization": _batch,
}
#: The operations that are one, beside constants, and the one with two bounds.
NAMES = (*_SCALINGS, "Clip")
