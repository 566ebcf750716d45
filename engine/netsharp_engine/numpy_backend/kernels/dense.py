"""Numpy kernels of full bundles, biases, sums and activations."""

from __future__ import annotations

from functools import partial

import numpy as np

from netsharp_engine.numpy_backend.kernels import compiled, functions
from netsharp_engine.numpy_backend.kernels.activations import FUNCTIONS
from netsharp_engine.numpy_backend.kernels.arrays import Array, IntArray
from netsharp_engine.numpy_backend.kernels.layout import Layout
from netsharp_engine.numpy_backend.kernels.products import of_columns, product
from netsharp_engine.numpy_backend.kernels.site import Call, Draft, Site, Steps, ones


def bind_full(site: Site) -> Steps:
    """Bind out = W x, [nodes, samples], with W [destination, source] in the rows' memory order.
    Source: the Net# guide, full bundles.
    """
    source, out, slot = site.sources[0], site.output, site.slots[0]
    shape = (out.value.shape[0], source.value.shape[0])
    weights = slot.value.reshape(shape)
    forward = of_columns(site, weights, source.value, out.value)
    backward: list[Call] = []
    if slot.gradient is not None and out.gradient is not None:
        target = slot.gradient.reshape(shape)
        backward.append(product(out.gradient, source.value.T, target))
    if source.gradient is not None and out.gradient is not None:
        backward.append(product(weights.T, out.gradient, source.gradient))
    return Steps(forward, backward)


def full_order(shape: tuple[int, int], sources: Layout, out: Layout) -> IntArray | None:
    """Return the canonical index of each weight in memory order, [weights]; None when they are the
    same.
    """
    rows, columns = out.rows, sources.rows
    if rows is None and columns is None:
        return None
    grid = np.arange(shape[0] * shape[1], dtype=np.intp).reshape(shape)
    if rows is not None:
        grid = grid[rows]
    return (grid if columns is None else grid[:, columns]).ravel()


def bind_bias(site: Site) -> Steps:
    """Bind out = x + b, [nodes, samples]; value and gradient may be the source's own arrays."""
    source, out, slot = site.sources[0], site.output, site.slots[0]
    forward: list[Call] = [partial(np.add, source.value, slot.value[:, None], out.value)]
    backward: list[Call] = []
    if slot.gradient is not None:
        column = ones(site, site.samples)
        backward.append(partial(np.matmul, out.gradient, column, slot.gradient))
    return Steps(forward, backward + _pass_on(site))


def bias_bytes(draft: Draft) -> int:
    """Return the bytes of a bound bias's buffers."""
    return draft.samples * draft.width if draft.learns else 0


def bind_add(site: Site) -> Steps:
    """Bind out = sum of the sources, [nodes, samples] each, first to last; the first may be in
    place.
    """
    out = site.output.value
    values = [source.value for source in site.sources]
    forward: list[Call] = []
    if len(values) == 1:
        if values[0] is not out:
            forward.append(partial(np.copyto, out, values[0]))
        return Steps(forward, _pass_on(site))
    forward.append(partial(np.add, values[0], values[1], out))
    forward.extend(partial(np.add, out, value, out) for value in values[2:])
    return Steps(forward, _pass_on(site))


def _pass_on(site: Site) -> list[Call]:
    gradient = site.output.gradient
    if gradient is None:
        return []
    return [
        partial(np.copyto, source.gradient, gradient)
        for source in site.sources
        if source.gradient is not None and source.gradient is not gradient
    ]


def activation_bytes(draft: Draft) -> int:
    """Return the bytes of a bound activation's buffers."""
    if _is_compiled(draft.node.attributes["function"], draft.down):
        return 0
    return (draft.values + draft.samples) * draft.width


def _is_compiled(function: str, back: bool) -> bool:
    """Return whether an activation needs neither numpy's passes nor the numbers that they keep."""
    return functions.takes(function) and not (back and compiled.slope(function, "f4") is None)


def bind_activation(site: Site) -> Steps:
    """Bind out = f(x) by the table's row, [nodes, samples]; in place where the plan says so."""
    function = site.attributes["function"]
    row = FUNCTIONS[function]
    source, out = site.sources[0], site.output
    back = source.gradient is not None
    room: tuple[Array, ...] = ()
    if not _is_compiled(function, back):
        room = (site.scratch(*out.value.shape), site.scratch(site.samples))
    if functions.takes(function):
        forward: list[Call] = [functions.applied(function, source.value, out.value)]
    else:
        forward = [partial(row.forward, source.value, out.value, *room)]
    if source.gradient is None:
        return Steps(forward, [])
    assert out.gradient is not None
    passed = (out.value if row.keeps == "output" else source.value, out.gradient, source.gradient)
    twin = compiled.slope(function, site.dtype)
    return Steps(
        forward, [partial(twin, *passed) if twin else partial(row.backward, *passed, *room)]
    )
