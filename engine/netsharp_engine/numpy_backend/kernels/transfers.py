"""The numpy kernel of transfer tables: a source's values as codes, and the table's value of each.

It must not know how tables are made or used.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from netsharp_engine.numpy_backend.kernels import functions
from netsharp_engine.numpy_backend.kernels.activations import FUNCTIONS, Function
from netsharp_engine.numpy_backend.kernels.arrays import Array, IntArray
from netsharp_engine.numpy_backend.kernels.site import Call, Draft, Site, Steps

#: The weight of a batch in the range that is tracked: an exponential mean over some 100 batches.
TRACKED = 0.01


class _Transfer:
    """One node's arrays; ``table`` and ``seen`` are the parameters as they lie in the plan.

    ``spare`` and ``again`` are as large as the values, ``line`` has a number for each sample.
    """

    __slots__ = (
        "again",
        "codes",
        "compute",
        "function",
        "line",
        "marked",
        "recompute",
        "seen",
        "spare",
        "table",
        "x",
        "y",
    )

    def __init__(self, site: Site) -> None:
        self.function: Function = FUNCTIONS[site.attributes["function"]]
        self.x, self.y = site.sources[0].value, site.output.value
        self.seen, self.table = (slot.value for slot in site.slots)
        self.spare, self.again = site.scratch(*self.x.shape), site.scratch(*self.x.shape)
        self.line = site.scratch(site.samples)
        self.codes: IntArray = np.zeros(self.x.shape, np.intp)
        self.marked = np.zeros(self.x.shape, np.bool_)
        name = site.attributes["function"]
        self.compute, self.recompute = (self._applied(name, out) for out in (self.y, self.again))

    def _applied(self, name: str, out: Array) -> Call:
        """Return the call that computes f(x), as an activation does."""
        if functions.takes(name):
            return functions.applied(name, self.x, out)
        return partial(self.function.forward, self.x, out, self.spare, self.line)

    def look_up(self) -> None:
        """Set y to the table's value of the code nearest to x, of two the upper one; without a
        table, to f(x).

        NaN stays NaN.
        """
        step, lowest = self.table[:2]
        if not step:
            self.compute()
            return
        np.divide(self.x, step, out=self.spare)
        np.subtract(self.spare, lowest - 0.5, out=self.spare)
        np.floor(self.spare, out=self.spare)
        np.clip(self.spare, 0, len(self.table) - 3, out=self.spare)
        np.copyto(self.codes, self.spare, casting="unsafe")
        np.isnan(self.x, out=self.marked)
        np.take(self.table[2:], self.codes, out=self.y, mode="clip")
        np.copyto(self.y, np.nan, where=self.marked)

    def track(self) -> None:
        """Move the range towards that of this batch; the first one is it."""
        low, high = self.x.min(), self.x.max()
        if not (np.isfinite(low) and np.isfinite(high)):
            return
        share = TRACKED if self.seen.any() else 1
        self.seen[0] += share * (low - self.seen[0])
        self.seen[1] += share * (high - self.seen[1])

    def pass_back(self, gradient: Array, out: Array) -> None:
        """Pass the gradient straight through: that of f at x, and 0 beyond the codes (the
        straight-through estimator of Bengio, Léonard and Courville, 2013).
        """
        kept = self.x
        if self.function.keeps == "output":
            self.recompute()
            kept = self.again
        self.function.backward(kept, gradient, out, self.spare, self.line)
        step, lowest = self.table[:2]
        if step:
            highest = lowest + len(self.table) - 3
            np.less(self.x, (lowest - 0.5) * step, out=self.marked)
            np.copyto(out, 0, where=self.marked)
            np.greater(self.x, (highest + 0.5) * step, out=self.marked)
            np.copyto(out, 0, where=self.marked)


def bind_transfer(site: Site) -> Steps:
    """Bind out = table[code of x]; see ``_Transfer``."""
    made = _Transfer(site)
    forward: list[Call] = [made.look_up]
    if site.training:
        forward.append(made.track)
    backward: list[Call] = []
    source, out = site.sources[0], site.output
    if source.gradient is not None:
        assert out.gradient is not None
        backward.append(partial(made.pass_back, out.gradient, source.gradient))
    return Steps(forward, backward)


def transfer_bytes(draft: Draft) -> int:
    """Return the bytes of a bound transfer's buffers: two spare arrays, codes, a line, and a
    mask.
    """
    return draft.values * (2 * draft.width + np.dtype(np.intp).itemsize + 1) + (
        draft.samples * draft.width
    )
