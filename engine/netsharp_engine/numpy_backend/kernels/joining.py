"""Calls that change what a product has just written, joined with it: the same bits in one call.

It identifies calls by their functions and arrays, and knows no node and no plan.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from types import BuiltinFunctionType, FunctionType, MethodWrapperType, ModuleType
from typing import NamedTuple

import numpy as np

from netsharp_engine.numpy_backend.kernels.arrays import Array
from netsharp_engine.numpy_backend.kernels.functions import FUNCTIONS
from netsharp_engine.numpy_backend.kernels.products import Product
from netsharp_engine.numpy_backend.kernels.site import Call

#: Calls between a product and what is joined to it, at most: looking further would cost more than
#: it gains, in a network of thousands of layers that have nothing to do with each other.
FAR = 64
#: Functions whose arrays are all among what they are given, or what they are methods of.
_OPEN = (np.ufunc, BuiltinFunctionType, MethodWrapperType, FunctionType, type(np.copyto))
#: Types that hold no array.
_BARE = (int, float, str, np.generic, np.ufunc, ModuleType, type(None))


class _Ending(NamedTuple):
    """What a call does in place to an array: it adds biases, or applies a function."""

    out: Array
    biases: Array | None
    function: str


def joined(calls: Iterable[Call]) -> list[Call]:
    """Join calls that add biases or apply an activation in place to products, in order."""
    found: list[Call] = []
    touched: list[list[Array] | None] = []  # by each of them, see `_touched`
    for call in calls:
        ending = _ending(call)
        place = len(found) if ending is None else _place_before(touched, ending)
        before = found[place] if place < len(found) else None
        both = None
        if ending is not None and isinstance(before, Product) and _is_of(ending, before.out):
            both = before.ended(ending.biases, ending.function)
        if both is None:
            found.append(call)
            touched.append(_touched(call))
        else:
            found[place] = both
            touched[place] = _touched(both)
    return found


def _ending(call: Call) -> _Ending | None:
    """Return the operation of a call that can be merged into another; None for others."""
    if not isinstance(call, partial) or call.keywords:
        return None
    biases, function = None, ""
    if call.func is np.add and len(call.args) == 3:
        source, biases, out = call.args
        if not all(isinstance(one, np.ndarray) for one in call.args):
            return None
    elif getattr(call.func, "__name__", "") == "plan_applied":
        _, number, source, out = call.args
        function = FUNCTIONS[number]
    else:
        return None
    return _Ending(out, biases, function) if _are_alike(source, out) else None


def _place_before(touched: list[list[Array] | None], ending: _Ending) -> int:
    """Return the place of the last call that may touch an ending's arrays; after all if none."""
    mine = [ending.out] if ending.biases is None else [ending.out, ending.biases]
    places = range(len(touched) - 1, max(-1, len(touched) - 1 - FAR), -1)
    return next((at for at in places if _meet(touched[at], mine)), len(touched))


def _meet(touched: list[Array] | None, arrays: list[Array]) -> bool:
    """Return whether two calls may touch the same numbers."""
    if touched is None:
        return True
    return any(np.may_share_memory(one, other) for one in touched for other in arrays)


def _touched(call: Call) -> list[Array] | None:
    """Return all arrays of a call; None where it may touch more than it shows."""
    if isinstance(call, Product):
        return call.touches()
    if not isinstance(call, partial) or not isinstance(call.func, _OPEN):
        return None
    given = [getattr(call.func, "__self__", None), *call.args, *call.keywords.values()]
    if isinstance(call.func, FunctionType):
        if call.func.__closure__:
            return None
        given += [*(call.func.__defaults__ or ()), *(call.func.__kwdefaults__ or {}).values()]
    arrays = [one for one in given if isinstance(one, np.ndarray)]
    bare = sum(isinstance(one, _BARE) for one in given)
    return arrays if len(arrays) + bare == len(given) else None


def _is_of(ending: _Ending, out: Array) -> bool:
    """Return whether it changes all numbers that a product wrote to ``out``, and those alone.

    Biases are one of each row, side by side, and no numbers of ``out``.
    """
    if not _are_alike(ending.out, out):
        return False
    biases = ending.biases
    return biases is None or (
        ending.out.shape[-2:] == out.shape[-2:]
        and biases.shape == (out.shape[-2], 1)
        and biases.dtype == out.dtype
        and biases.flags.c_contiguous
        and not np.may_share_memory(biases, out)
    )


def _are_alike(one: Array, other: Array) -> bool:
    """Return whether two arrays are the same numbers, without gaps, in whatever shape."""
    if not (one.flags.c_contiguous and other.flags.c_contiguous):
        return False
    return one is other or (
        (one.size, one.dtype) == (other.size, other.dtype) and _address(one) == _address(other)
    )


def _address(array: Array) -> int:
    return int(array.__array_interface__["data"][0])
