"""The numpy kernel of dropout: values times a mask that comes with the batch.

Source: Srivastava and others (2014), inverted.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from netsharp_engine.numpy_backend.kernels.arrays import Array, IntArray
from netsharp_engine.numpy_backend.kernels.site import Call, Draft, Site, Steps


def bind_dropout(site: Site) -> Steps:
    """Bind out = x * mask, [nodes, samples]; value and gradient may be the source's own arrays.

    Without a mask nothing is dropped.
    """
    source, out = site.sources[0], site.output
    mask = site.scratch(*out.value.shape)
    rows = out.layout.rows
    spare = mask if rows is None else site.scratch(*mask.shape)
    forward: list[Call] = [partial(np.multiply, source.value, mask, out.value)]
    backward: list[Call] = []
    if source.gradient is not None:
        assert out.gradient is not None
        backward.append(partial(np.multiply, out.gradient, mask, source.gradient))
    return Steps(forward, backward, masked=partial(_take, mask, spare, rows))


def dropout_bytes(draft: Draft) -> int:
    """Return the bytes of a bound dropout's buffers."""
    return draft.values * draft.width * (1 if draft.output.canonical else 2)


def _take(mask: Array, spare: Array, rows: IntArray | None, given: Array | None) -> None:
    """Copy a mask [samples, nodes] in canonical order into one [nodes, samples] of the plan."""
    if given is None:
        mask.fill(1)
        return
    count = len(given)
    np.copyto(spare[:, :count], given.T)
    spare[:, count:] = 0
    if rows is not None:
        np.take(spare, rows, axis=0, out=mask, mode="clip")
