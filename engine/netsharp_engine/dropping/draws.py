"""Masks of dropout from a draw: a key, the number of a step, and the rows of its batch.

Word ``i % 4`` of the generator at the counter (``i // 4``, row, step, layer) decides value ``i`` of
a row of a layer, so that threads, processes and devices may each compute the rows that they have.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from netsharp_engine.dropping.philox import WORDS, random_words
from netsharp_engine.nodes import Node

try:
    import netsharp_engine._twins as twins
except ImportError:  # No compiler took it when this was installed.
    twins = None  # type: ignore[assignment]

Mask = npt.NDArray[np.floating[Any]]
#: Numbers that are processed together without compiled twins.
_TOGETHER = 4096


class Draw(NamedTuple):
    """What the masks of one call follow from.

    ``key`` are two words of 32 bits, of seed and epoch; ``step`` is the place of the batch.
    ``rows`` are the numbers of the fed rows in the whole batch, int64 [rows]; None: 0, 1, 2 and so
    on.
    """

    key: tuple[int, int]
    step: int
    rows: npt.NDArray[np.int64] | None = None

    def part(self, rows: slice, count: int) -> Draw:
        """Return the draw of some of ``count`` rows."""
        return self._replace(rows=self.numbers(count)[rows])

    def numbers(self, count: int) -> npt.NDArray[np.int64]:
        """Return the indices [rows] of ``count`` fed rows in their batch."""
        return np.arange(count) if self.rows is None else self.rows


def kept_from(rate: float) -> int:
    """Return the smallest random word that keeps a value where a share ``rate`` is dropped."""
    return min(round(rate * 2**32), 2**32 - 1)


def scale_of(rate: float) -> float:
    """Return the factor of a kept value that makes its expectation the value itself.

    A prediction multiplies with nothing then (inverted dropout: Srivastava et al. 2014, section
    10).
    """
    return 1 / (1 - rate)


def layer_mask(attributes: Mapping[str, Any], draw: Draw, out: Mask) -> None:
    """Fill ``out`` [rows, nodes], contiguous, with the mask of a ``Dropout`` node: 0 or its scale.

    ``attributes`` are those of the node.
    """
    layer, rate = attributes["number"], attributes["rate"]
    rows, size = draw.numbers(len(out)), out.shape[1]
    if twins is not None:
        rows = np.ascontiguousarray(rows, np.int64)
        place = (*draw.key, draw.step, layer, kept_from(rate))
        twins.mask_drawn(out.itemsize, size, scale_of(rate), np.array(place, np.int64), rows, out)
        return
    blocks = np.arange(-(-size // WORDS), dtype=np.uint64)
    step, number = np.uint64(draw.step), np.uint64(layer)
    together = max(_TOGETHER // size, 1)
    for start in range(0, len(out), together):
        some = rows[start : start + together].astype(np.uint64)[:, None]
        words = random_words((blocks, some, step, number), draw.key)
        drawn = np.moveaxis(words, 0, -1).reshape(len(some), -1)[:, :size]
        np.greater_equal(drawn, kept_from(rate), out=out[start : start + together])
    np.multiply(out, scale_of(rate), out=out)


def masks_of(nodes: Iterable[Node], draw: Draw | None, rows: int, dtype: Any) -> dict[str, Mask]:
    """Return the mask [rows, nodes] of each ``Dropout`` node that has a layer, by that.

    Without a draw nothing is dropped, and there are none.
    """
    found: dict[str, Mask] = {}
    for node in nodes if draw is not None else ():
        if node.op == "Dropout" and "layer" in node.attributes:
            found[node.attributes["layer"]] = np.empty((rows, node.size), dtype)
            assert draw is not None
            layer_mask(node.attributes, draw, found[node.attributes["layer"]])
    return found
