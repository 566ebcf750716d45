"""The numbers of a model, taken over in the memory that its file was read into: each array is moved
to the nearest aligned place, over bytes before it that are no longer needed.

It must not know the formats, nor where the bytes came from.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from netsharp_engine.cntk.generators import Array
from netsharp_engine.cntk.stored.values import StoredModel

#: Bytes that arrays begin at a multiple of, where there is room: a line of a processor's cache.
_LINE = 64


class _Span(NamedTuple):
    """The bounds of a node's numbers in memory, in bytes."""

    start: int
    end: int
    name: str
    values: Array


def taken(model: StoredModel, data: bytearray) -> dict[str, Array]:
    """Return the numbers of nodes as `StoredModel.numbers` gives them, in the memory of the file.

    ``data`` is what the model was read from. The model's own numbers are overwritten and must not
    be used afterwards. Numbers that have another precision in the file, or are not contiguous
    there, are copied. Each has the shape of its node, the first dimension fastest.
    """
    whole = np.frombuffer(data, np.uint8)
    origin, limit = whole.ctypes.data, len(data)
    found: dict[str, Array] = {}
    spans = []
    for node in model.nodes:
        if node.values is None:
            continue
        wanted = np.dtype("float64" if node.dtype == "float64" else "float32")
        start = node.values.ctypes.data - origin
        end = start + node.values.nbytes
        plain = node.values.dtype == wanted and node.values.flags.c_contiguous
        if plain and 0 <= start < end <= limit:
            found[node.name] = node.values
            spans.append(_Span(start, end, node.name, node.values))
        else:
            found[node.name] = np.array(node.values, wanted)
    spans.sort(key=lambda one: (one.start, one.end))
    if any(after.start < before.end for before, after in itertools.pairwise(spans)):
        return model.numbers()
    found.update(_moved(spans, data, origin))
    return found


def _moved(spans: list[_Span], data: bytearray, origin: int) -> Iterator[tuple[str, Array]]:
    """Yield each array at its new place, in the order of places; none is moved over a later one."""
    free = 0
    with memoryview(data) as room:
        for start, end, name, values in spans:
            place = _place(start, free, origin, values.itemsize)
            if place is None:
                yield name, values.copy()
                continue
            size = end - start
            if place != start:
                room[place : place + size] = room[start:end]
            free = place + size
            flat = np.frombuffer(data, values.dtype, values.size, place)
            yield name, flat.reshape(values.shape)


def _place(start: int, free: int, origin: int, itemsize: int) -> int | None:
    """Return the nearest free aligned place before one; None where there is none."""
    places = (start - (origin + start) % one for one in (_LINE, itemsize))
    return next((one for one in places if one >= free), None)
