"""A network forward in one compiled call: weights packed once, a row's numbers in one stretch.

It is made from a graph's facts, and must not know batches or the meaning of outputs.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from netsharp_engine.analysis import Analysis
from netsharp_engine.numpy_backend.forward.lowering import NoStepError, lowered
from netsharp_engine.numpy_backend.forward.row import Row
from netsharp_engine.numpy_backend.kernels.arrays import Array, aligned

try:
    import netsharp_engine._twins as twins
except ImportError:  # No compiler took it when this was installed.
    twins = None  # type: ignore[assignment]


def forward_of(facts: Analysis, dtype: str) -> Forward | None:
    """Return the forward pass of a graph; None where nothing was compiled, or the graph has
    operations without compiled steps.
    """
    if twins is None:
        return None
    try:
        return Forward(lowered(facts, np.dtype(dtype)))
    except NoStepError:
        return None


class Forward:
    """The steps of a network.  Nothing has memory before the first ``load``."""

    def __init__(self, row: Row) -> None:
        self._row = row
        self._numbers: Array | None = None
        self._network: object = None
        self.outputs, self.dtype = row.outputs, row.dtype

    @property
    def needs(self) -> int:
        """Return the bytes of all packed weights, of tables and of the rows that are computed
        together.
        """
        return self._row.needs

    def load(self, values: Mapping[str, Any]) -> None:
        """Pack canonical weights by name."""
        row = self._row
        if self._numbers is None:
            self._numbers = aligned((row.numbers,), row.dtype)
            made = (row.size, row.features, row.output, row.outputs, *row.arrays())
            self._network = twins.forward_made(row.dtype.itemsize, *made, self._numbers)
        row.pack(values, self._numbers)

    def compute(self, features: Any, normal: Array | None, out: Array, finite: bool) -> bool:
        """Write the outputs of features [rows, features] to ``out`` [rows, outputs].

        See ``Direct``; ``normal`` and ``out`` are of the network's type.
        """
        return twins.forward_computed(self._network, features, normal, out, finite)


__all__ = ["Forward", "forward_of"]
