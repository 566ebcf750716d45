"""The values that parameters begin with, as CNTK draws them.

Shapes are in CNTK's order here, and numbers in the order of its files: the first dimension fastest.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np

from netsharp_engine.cntk.generators import Array, MinimalStandard
from netsharp_engine.geometry import product


class Start(NamedTuple):
    """The initial values of a parameter: ``kind`` is a key of ``RANDOM``, "value", or "given".

    ``scale`` multiplies a range, or is the value; ranks say which dimensions are a filter's and an
    output's, a negative one counts from the end. ``numbers`` are those that are given, flat.
    """

    kind: str
    scale: float = 1.0
    seed: int = 0
    filter_rank: int = 0
    output_rank: int = 1
    numbers: Array | None = None


class Fans(NamedTuple):
    """The number of inputs of an element, and of elements that read one input."""

    incoming: int
    outgoing: int


#: The one range that CNTK has in float32, whatever the type of numbers.
_UNIFORM = float(np.float32(0.05))
#: Of each kind whether it is uniform (else gaussian), and its range or deviation.
RANDOM: Mapping[str, tuple[bool, Callable[[Fans], float]]] = {
    "uniform": (True, lambda fans: _UNIFORM),
    "gaussian": (False, lambda fans: 0.2 / math.sqrt(fans.incoming)),
    "xavier": (True, lambda fans: math.sqrt(3 / fans.incoming)),
    "glorotUniform": (True, lambda fans: math.sqrt(6 / (fans.incoming + fans.outgoing))),
    "glorotNormal": (False, lambda fans: math.sqrt(2 / (fans.incoming + fans.outgoing))),
    "heUniform": (True, lambda fans: math.sqrt(6 / fans.incoming)),
    "heNormal": (False, lambda fans: math.sqrt(2 / fans.incoming)),
}
VALUE, GIVEN = "value", "given"


def started(shape: tuple[int, ...], start: Start, dtype: str) -> Array:
    """Return the initial numbers of a parameter, flat [product of shape]. Source:
    ComputationNetworkLib/InputAndParamNodes.cpp, LearnableParameter::InitRandom.
    """
    size, kind = product(shape), np.dtype(dtype).type
    if start.kind == VALUE:
        return np.full(size, start.scale, dtype)
    if start.numbers is not None:
        with np.errstate(over="ignore"):
            return start.numbers.astype(dtype)
    is_uniform, spread = RANDOM[start.kind]
    reach = kind(kind(spread(fans_of(shape, start))) * kind(start.scale))
    generator = MinimalStandard(start.seed)
    if is_uniform:
        return uniform(generator, size, (-reach, reach), dtype)
    return np.asarray(gaussian(generator, size, dtype) * reach)


def spread_of(shape: tuple[int, ...], start: Start) -> float:
    """Return the range or standard deviation of drawn numbers, before it is scaled."""
    return RANDOM[start.kind][1](fans_of(shape, start))


def uniform(generator: MinimalStandard, count: int, ends: tuple[float, float], dtype: str) -> Array:
    """Return numbers between two ends, [count], every operation in their type."""
    kind = np.dtype(dtype).type
    low, high = map(kind, ends)
    return np.asarray(generator.units(count, dtype) * (high - low) + low)


def gaussian(generator: MinimalStandard, count: int, dtype: str) -> Array:
    """Return numbers of mean 0 and deviation 1, [count], by the polar method (Marsaglia and Bray,
    1964); of each pair the second comes first, as in libstdc++.
    """
    kind = np.dtype(dtype).type
    blocks: list[Array] = []
    known = 0
    while known < count:
        pairs = generator.units(2 * max((count - known + 1) // 2, 1), dtype).reshape(-1, 2)
        pairs = kind(2) * pairs - kind(1)
        square = np.add.reduce(pairs * pairs, axis=1)
        taken = (square <= 1) & (square != 0)
        square = square[taken]
        factor = np.sqrt(kind(-2) * np.log(square) / square)
        blocks.append((pairs[taken] * factor[:, None])[:, ::-1].ravel())
        known += len(blocks[-1])
    return np.concatenate(blocks)[:count] if blocks else np.empty(0, dtype)


def fans_of(shape: tuple[int, ...], start: Start) -> Fans:
    """Return the number of inputs of an element, and of elements that read one input."""
    rank, output = start.filter_rank, start.output_rank
    kernel = product(shape[:rank])
    inputs = shape[rank : len(shape) + output] if output < 0 else shape[rank + output :]
    incoming = kernel * product(inputs)
    return Fans(incoming, product(shape) * kernel // max(incoming, 1))
