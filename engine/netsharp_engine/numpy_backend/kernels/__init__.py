"""The layout of buffers and the binding of every operation: the one table that a plan uses.

A compiled twin of a kernel is another ``bind`` in its row; the rest of the row stays.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from netsharp_engine.geometry import product
from netsharp_engine.numpy_backend.kernels.activations import FUNCTIONS
from netsharp_engine.numpy_backend.kernels.arrays import IntArray
from netsharp_engine.numpy_backend.kernels.convolution import (
    bind_convolve,
    convolve_bytes,
    layout_of,
    walk,
)
from netsharp_engine.numpy_backend.kernels.dense import (
    activation_bytes,
    bias_bytes,
    bind_activation,
    bind_add,
    bind_bias,
    bind_full,
    full_order,
)
from netsharp_engine.numpy_backend.kernels.dropping import bind_dropout, dropout_bytes
from netsharp_engine.numpy_backend.kernels.filtered import bind_filtered, filtered_bytes
from netsharp_engine.numpy_backend.kernels.layout import Layout
from netsharp_engine.numpy_backend.kernels.normalization import bind_norm, norm_bytes
from netsharp_engine.numpy_backend.kernels.pooling import (
    bind_max_pool,
    bind_mean_pool,
    max_pool_bytes,
    mean_pool_bytes,
)
from netsharp_engine.numpy_backend.kernels.site import Draft, Site, Steps
from netsharp_engine.numpy_backend.kernels.transfers import bind_transfer, transfer_bytes

if TYPE_CHECKING:
    from netsharp_engine.graph import Node

Shape = tuple[int, ...]


def _any(node: Node) -> Shape | None:
    return None


def _canonical(node: Node, source: Layout, out: Layout) -> IntArray | None:
    return None


def _no_preference(node: Node, source: Layout) -> Layout | None:
    return None


def _keeps_nothing(node: Node) -> bool:
    return False


def _never(node: Node, source: Layout, out: Layout) -> bool:
    return False


def _no_bytes(draft: Draft) -> int:
    return 0


def _no_cells(node: Node) -> int:
    return 0


class Kernel(NamedTuple):
    """The back end's row for one operation.

    ``bind`` makes the calls. ``reads`` and ``writes`` name the shape in which source and output
    must be viewable without a copy, None for any. ``prefers`` is the layout that it writes with
    least work. ``weight_order`` gives the canonical index of each number of its parameter.
    ``keeps_output``: backward needs the output as it was written; ``keeps_source``: its first
    source's values. ``in_place``: elementwise, so that source and output share a layout and maybe
    memory; ``passes``: its output is its source's values. ``bytes`` is the memory of a bound one
    beside values, gradients and weights; ``reorders`` whether ``weight_order`` gives an array;
    ``cells`` the number of the kernel's cells that are walked one by one, each with calls that hold
    ``views`` arrays: forward, and in all. ``whole``: it computes all rows of a batch together, so
    that these cannot be computed in parts.
    """

    bind: Callable[[Site], Steps]
    reads: Callable[[Node], Shape | None] = _any
    writes: Callable[[Node], Shape | None] = _any
    prefers: Callable[[Node, Layout], Layout | None] = _no_preference
    weight_order: Callable[[Node, Layout, Layout], IntArray | None] = _canonical
    keeps_output: Callable[[Node], bool] = _keeps_nothing
    keeps_source: Callable[[Node], bool] = _keeps_nothing
    in_place: bool = False
    passes: Callable[[Node], bool] = _keeps_nothing
    bytes: Callable[[Draft], int] = _no_bytes
    reorders: Callable[[Node, Layout, Layout], bool] = _never
    cells: Callable[[Node], int] = _no_cells
    views: tuple[int, int] = (3, 6)
    whole: bool = False


def _input_shape(node: Node) -> Shape:
    return tuple(axis.size for axis in node.attributes["axes"])


def _counts(node: Node) -> Shape:
    return tuple(axis.count for axis in node.attributes["axes"])


def _factors(node: Node) -> Shape:
    return layout_of(walk(node.attributes)).shape


def _same_order(node: Node, source: Layout) -> Layout | None:
    """Return the source's order of dimensions, kept over a window operation where it is plain."""
    extents = [source.shape[axis] for axis in range(len(source.shape)) if source.shape[axis] > 1]
    seen = _input_shape(node)
    real = [d for d, extent in enumerate(seen) if extent > 1]
    if extents != [seen[d] for d in real]:
        return None
    named = iter(real)
    names = {axis: next(named) for axis, extent in enumerate(source.shape) if extent > 1}
    order = [names[axis] for axis in source.order if axis in names]
    order += [d for d, extent in enumerate(seen) if extent == 1]
    return Layout(_counts(node), tuple(order))


def _full_order(node: Node, source: Layout, out: Layout) -> IntArray | None:
    return full_order((node.size, node.inputs[0].size), source, out)


def _row_order(node: Node, source: Layout, out: Layout) -> IntArray | None:
    return out.rows


def _activation_keeps(node: Node) -> bool:
    return FUNCTIONS[node.attributes["function"]].keeps == "output"


def _is_linear(node: Node) -> bool:
    return bool(node.attributes["function"] == "linear")


def _activation_reads(node: Node) -> bool:
    return not _activation_keeps(node)


def _always(node: Node) -> bool:
    return True


def _kernel_cells(node: Node) -> int:
    return product(tuple(axis.kernel for axis in node.attributes["axes"]))


def _window(
    bind: Callable[[Site], Steps],
    needs: Callable[[Draft], int],
    *,
    keeps_output: bool,
    views: tuple[int, int] = (3, 6),
) -> Kernel:
    """Return the row of an operation that walks a kernel without weights."""
    return Kernel(
        bind,
        _input_shape,
        _counts,
        _same_order,
        keeps_output=_always if keeps_output else _keeps_nothing,
        bytes=needs,
        cells=_kernel_cells,
        views=views,
    )


KERNELS: dict[str, Kernel] = {
    "full": Kernel(
        bind_full,
        weight_order=_full_order,
        reorders=lambda node, source, out: not (source.canonical and out.canonical),
    ),
    "filtered": Kernel(bind_filtered, bytes=filtered_bytes),
    "convolve": Kernel(
        bind_convolve,
        reads=_input_shape,
        writes=_factors,
        prefers=lambda node, source: layout_of(walk(node.attributes)),
        weight_order=lambda node, source, out: walk(node.attributes).weight_order(),
        bytes=convolve_bytes,
        reorders=lambda node, source, out: True,
        cells=lambda node: walk(node.attributes).walked_cells(),
    ),
    "max pool": _window(bind_max_pool, max_pool_bytes, keeps_output=True, views=(3, 15)),
    "mean pool": _window(bind_mean_pool, mean_pool_bytes, keeps_output=False),
    "response norm": _window(bind_norm, norm_bytes, keeps_output=True),
    "bias": Kernel(
        bind_bias,
        weight_order=_row_order,
        in_place=True,
        bytes=bias_bytes,
        reorders=lambda node, source, out: not out.canonical,
    ),
    "add": Kernel(bind_add, in_place=True),
    "Dropout": Kernel(bind_dropout, in_place=True, bytes=dropout_bytes),
    "activation": Kernel(
        bind_activation,
        keeps_output=_activation_keeps,
        keeps_source=_activation_reads,
        in_place=True,
        passes=_is_linear,
        bytes=activation_bytes,
    ),
    "transfer": Kernel(
        bind_transfer, keeps_source=_always, in_place=True, bytes=transfer_bytes, whole=True
    ),
}

__all__ = ["KERNELS", "Kernel"]
