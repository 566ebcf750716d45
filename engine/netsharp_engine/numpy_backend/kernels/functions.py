"""The compiled twins of activations with exponentials: numpy's results except for the last bits.

They take arrays without gaps, and must not know the table of operations.
"""

from __future__ import annotations

from functools import partial

from netsharp_engine.numpy_backend.kernels.arrays import Array
from netsharp_engine.numpy_backend.kernels.site import Call

try:
    import netsharp_engine._twins as twins
except ImportError:  # No compiler took it when this was installed.
    twins = None  # type: ignore[assignment]

#: The activations that are compiled, in the order of twins/functions.h.
FUNCTIONS = (
    *("sigmoid", "linear", "softmax", "rlinear", "square"),
    *("sqrt", "srlinear", "abs", "tanh", "brlinear"),
)
#: Those that numpy computes in more than one pass, or slowly.
SLOW = ("sigmoid", "srlinear", "tanh")
#: Those that numpy computes as fast, where a product before them does not do it at once.
PLAIN = ("rlinear",)


def takes(function: str) -> bool:
    """Return whether there is a twin, and it is faster, or as fast and joined to products."""
    return twins is not None and function in (*SLOW, *PLAIN)


def applied(function: str, source: Array, out: Array) -> Call:
    """Return the call that writes an activation of every number of ``source`` to ``out``, of the
    same shape and dtype (float32 or float64), which may be the same array.
    """
    return partial(twins.plan_applied, out.itemsize, FUNCTIONS.index(function), source, out)
