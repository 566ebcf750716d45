"""Calls that change what a product has just written, joined with it: the same bits in one call.

It tells calls by their functions and arrays, and knows no node and no plan.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

import numpy as np

from netsharp_engine.numpy_backend.kernels.arrays import Array
from netsharp_engine.numpy_backend.kernels.functions import FUNCTIONS
from netsharp_engine.numpy_backend.kernels.products import Product
from netsharp_engine.numpy_backend.kernels.site import Call

#: Calls between a product and what is joined to it, at most: looking further would cost more than
#: it gains, in a network of thousands of layers that have nothing to do with each other.
FAR = 64


def joined(calls: Iterable[Call]) -> list[Call]:
    """Calls in order, those that add biases or apply an activation in place joined to products."""
    found: list[Call] = []
    for call in calls:
        place = _place_before(found, call) if isinstance(call, partial) else len(found)
        before = found[place] if place < len(found) else None
        both = None
        if isinstance(before, Product) and isinstance(call, partial):
            both = _both(before, call)
        if both is None:
            found.append(call)
        else:
            found[place] = both
    return found


def _place_before(calls: list[Call], call: partial[object]) -> int:
    """Return where the last call is that touches what another does; behind all if none is near."""
    arrays = [one for one in call.args if isinstance(one, np.ndarray)]
    places = range(len(calls) - 1, max(-1, len(calls) - 1 - FAR), -1)
    return next((at for at in places if _touches(calls[at], arrays)), len(calls))


def _touches(call: Call, arrays: list[Array]) -> bool:
    """Whether a call may read or write numbers of one of these arrays."""
    if not isinstance(call, partial):
        return True
    given = (getattr(call.func, "__self__", None), *call.args, *call.keywords.values())
    mine = [one for one in given if isinstance(one, np.ndarray)]
    return any(np.may_share_memory(one, other) for one in mine for other in arrays)


def _both(product: Product, call: partial[object]) -> Product | None:
    """Return the call of both; None where the second is another's business."""
    arrays = [one for one in call.args if isinstance(one, np.ndarray)]
    if call.func is np.add and len(arrays) == 3 and _are_its(product, arrays[0], arrays[2]):
        biases = arrays[1]
        rows = product.out.shape[-2]
        return product.ended(biases) if biases.shape == (rows, 1) else None
    if len(arrays) < 2 or not _are_its(product, *arrays[:2]):
        return None
    if getattr(call.func, "__name__", "") == "plan_applied":
        return product.ended(None, FUNCTIONS[call.args[1]])
    return None


def _are_its(product: Product, *arrays: Array) -> bool:
    """Whether arrays are all of a product's numbers, in any shape."""
    return all(_extent(one) == _extent(product.out) for one in arrays)


def _extent(array: Array) -> tuple[int, int, bool]:
    """Where an array begins, how many numbers it has, and whether they lie without gaps."""
    return array.__array_interface__["data"][0], array.size, array.flags.c_contiguous
