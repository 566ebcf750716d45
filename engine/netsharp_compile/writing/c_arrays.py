"""Names, types and arrays in C of what a layer stores.

Knows the network in integers, and no function.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from netsharp_compile.bundles import FilteredBundle, FullBundle, PooledBundle
from netsharp_compile.writing.c_rescaling import (
    is_rescaled,
    only_shift,
    only_shifts,
    stored_shifts,
)
from netsharp_compile.writing.device_steps import folded_biases
from netsharp_engine.devices.footprint import place_bytes

if TYPE_CHECKING:
    from netsharp_compile.integers import IntegerLayer, IntegerNetwork, Integers


class StoredArray(NamedTuple):
    """An array of numbers that a layer reads: its name in C, its type, and its numbers."""

    name: str
    kind: str
    numbers: Integers

    @property
    def size(self) -> int:
        """Return its bytes."""
        return len(self.numbers) * int(self.kind.strip("uint_")) // 8


def c_type(dtype: np.dtype[np.integer]) -> str:
    """Return the name in C of a type of integers."""
    return f"{dtype.name}_t"


def c_comment(text: str) -> str:
    """Return a text as it can stand within a comment of C."""
    return (
        "".join(c if c.isprintable() else "?" for c in text)
        .replace("*/", "* /")
        .replace("/*", "/ *")
    )


def layer_name(network: IntegerNetwork, number: int, prefix: str) -> str:
    """Return the name in C of a layer: its number, then the letters of its own name."""
    own = re.sub("[^A-Za-z0-9]", "_", network.layers[number].name)[:24]
    return f"{prefix}_{number + 1}_{own}"


def arrays_of(name: str, layer: IntegerLayer, *, copied: bool = False) -> Iterator[StoredArray]:
    """Yield the arrays that a layer reads, in the order in which they are stored; ``copied`` says
    whether it copies its windows.
    """
    if is_full(layer):
        # Of a node those of all bundles, so that one pointer goes through them.
        weights = np.concatenate([one.weights for one in layer.parts], axis=1).reshape(-1)
        yield StoredArray(f"{name}_weights", c_type(weights.dtype), weights)
    for number, part in enumerate(() if is_full(layer) else layer.parts):
        ending = str(number) if len(layer.parts) > 1 else ""
        bundle = part.bundle
        if not isinstance(bundle, PooledBundle):
            kind = c_type(part.weights.dtype)
            yield StoredArray(f"{name}_weights{ending}", kind, _some(part.weights.reshape(-1)))
        if isinstance(bundle, FilteredBundle):
            yield _unsigned(f"{name}_places{ending}", bundle.places)
            if degree_of(bundle) is None:
                yield _unsigned(f"{name}_ends{ending}", bundle.ends)
    if not is_rescaled(layer):
        return
    biases = folded_biases(layer) if copied else layer.biases
    yield StoredArray(f"{name}_biases", sum_type(layer), biases)
    if not only_shifts(layer):
        yield StoredArray(f"{name}_multipliers", "int32_t", layer.multipliers)
    if only_shift(layer) is None:
        yield StoredArray(f"{name}_shifts", "int8_t", stored_shifts(layer))


def is_full(layer: IntegerLayer) -> bool:
    """Return whether all its bundles are full."""
    return all(isinstance(one.bundle, FullBundle) for one in layer.parts)


def _unsigned(name: str, numbers: Integers) -> StoredArray:
    """Return numbers from 0 on in the smallest type that C promotes to int."""
    most = int(_some(numbers).max())
    kind = {1: "uint8_t", 2: "uint16_t", 4: "int32_t"}[place_bytes(most)]
    return StoredArray(name, kind, _some(numbers))


def _some(numbers: Integers) -> Integers:
    """Return numbers, or a 0 for none: C has no empty arrays."""
    return numbers if len(numbers) else np.zeros(1, np.int64)


def sum_type(layer: IntegerLayer) -> str:
    """Return the type of a layer's sums."""
    return "int64_t" if layer.wide else "int32_t"


def degree_of(bundle: FilteredBundle) -> int | None:
    """Return the number of values that each node reads; None where it differs between nodes."""
    counts = set(np.bincount(bundle.owners, minlength=bundle.nodes).tolist())
    return counts.pop() if len(counts) == 1 else None
