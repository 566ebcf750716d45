"""The numpy kernel of dropout: values times a mask that is drawn for each batch.

Source: Srivastava and others (2014), inverted.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np

from netsharp_engine.dropping import Draw, layer_mask
from netsharp_engine.numpy_backend.kernels.arrays import Array, IntArray
from netsharp_engine.numpy_backend.kernels.site import Call, Draft, Site, Steps

#: Bytes of masks that are drawn at a time, except for one row that is larger.
_TOGETHER = 1 << 16


def bind_dropout(site: Site) -> Steps:
    """Bind out = x * mask, [nodes, samples]; value and gradient may be the source's own arrays.

    Without a draw nothing is dropped.
    """
    source, out = site.sources[0], site.output
    mask = site.scratch(*out.value.shape)
    size, samples = mask.shape
    rows = out.layout.rows
    spare = mask if rows is None else site.scratch(size, samples)
    drawn = site.scratch(_together(size, samples, mask.itemsize), size)
    forward: list[Call] = [partial(np.multiply, source.value, mask, out.value)]
    backward: list[Call] = []
    if source.gradient is not None:
        assert out.gradient is not None
        backward.append(partial(np.multiply, out.gradient, mask, source.gradient))
    masked = partial(draw_mask, site.attributes, mask, spare, drawn, rows)
    return Steps(forward, backward, masked)


def dropout_bytes(draft: Draft) -> int:
    """Return the bytes of a bound dropout's buffers."""
    numbers = draft.values * (1 if draft.output.canonical else 2)
    numbers += draft.node.size * _together(draft.node.size, draft.samples, draft.width)
    return numbers * draft.width


def _together(size: int, samples: int, width: int) -> int:
    """Return the number of rows of ``size`` nodes that are drawn at a time."""
    return min(max(_TOGETHER // (size * width), 1), samples)


def draw_mask(
    attributes: Mapping[str, Any],
    mask: Array,
    spare: Array,
    drawn: Array,
    rows: IntArray | None,
    draw: Draw | None,
    count: int,
) -> None:
    """Fill a mask [nodes, samples] of the plan with those of ``count`` samples; 0 for the others.

    ``spare`` is as large, ``drawn`` [some samples, nodes]; ``rows`` is the order of the nodes, None
    for the canonical one.  Without a draw all numbers are 1.
    """
    if draw is None:
        mask.fill(1)
        return
    for start in range(0, count, len(drawn)):
        some = slice(start, min(start + len(drawn), count))
        made = drawn[: some.stop - start]
        layer_mask(attributes, draw.part(some, count), made)
        np.copyto(spare[:, some], made.T)
    spare[:, count:] = 0
    if rows is not None:
        np.take(spare, rows, axis=0, out=mask, mode="clip")
