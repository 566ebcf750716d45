"""Layers of PyTorch that walk along the axes of an image, and windows by the index of every cell
where those do not reach: more than three axes, a kernel for each place.

Pads are those of each axis: where both sides differ, F.pad adds or cuts cells before.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from netsharp_engine.exporting.places import cells, kernel_numbers
from netsharp_engine.exporting.torch.source import Expression, call, flat, numbers
from netsharp_engine.exporting.torch.writing import TorchWriting
from netsharp_engine.exporting.values import Array
from netsharp_engine.geometry import product

if TYPE_CHECKING:
    from netsharp_engine.geometry import Axis

#: The most axes along which PyTorch's layers move windows.
MOST_AXES = 3
_LEAST = 'float("-inf")'


class Spread(NamedTuple):
    """The layout of kernels over an image: the number of groups of its channels, and the distance
    of their cells along each axis that they walk.
    """

    groups: int = 1
    gaps: Sequence[int] = ()


PLAIN = Spread()


def _sides(axis: Axis) -> tuple[int, int]:
    """Return the cells to add at both ends of an axis, negative ones to cut."""
    upper = axis.first + axis.covered - axis.size
    # What a whole stride does not reach is left out anyway.
    return -axis.first, upper if upper > 0 or -upper >= axis.stride else 0


def _even(axis: Axis, most: int) -> bool:
    """Return whether equal pads at both ends give the same places."""
    lower = -axis.first
    if not 0 <= lower <= most:
        return False
    return (axis.size + 2 * lower - axis.kernel) // axis.stride + 1 == axis.count


def padded(
    out: TorchWriting, image: str, axes: Sequence[Axis], least: bool, *, halves: bool = False
) -> tuple[str, list[int]]:
    """Return an image [n, channels, *axes] and the equal pads that a layer adds to it; ``least``
    asks for the least number in the place of 0, ``halves`` for pads of half a kernel at most.
    """
    if all(_even(one, one.kernel // 2 if halves else one.size) for one in axes):
        return image, [-one.first for one in axes]
    sides = [side for one in reversed(axes) for side in _sides(one)]
    words = {"value": _LEAST} if least else {}
    return out.let(call("F.pad", image, numbers(sides), **words)), [0] * len(axes)


def walk_of(axes: Sequence[Axis], pads: Sequence[int]) -> dict[str, Expression]:
    """Return a layer's arguments beside its kernel, as far as they differ from PyTorch's
    defaults.
    """
    settings: dict[str, Expression] = {"stride": numbers([axis.stride for axis in axes])}
    if any(pads):
        settings["padding"] = numbers(pads)
    return settings


def convolution(
    out: TorchWriting,
    key: tuple[object, ...],
    origin: str,
    image: str,
    axes: Sequence[Axis],
    kernels: Array,
    bias: Array | None,
    spread: Spread = PLAIN,
) -> Expression:
    """Return the convolution of [n, channels, *axes] with kernels [maps, channels of a group,
    *taps].
    """
    given, pads = padded(out, image, axes, False)
    words = walk_of(axes, pads)
    if all(axis.stride == 1 for axis in axes):
        del words["stride"]
    state = {"weight": kernels}
    if bias is None:
        words["bias"] = "False"
    else:
        state["bias"] = bias.reshape(-1)
    if any(gap != 1 for gap in spread.gaps):
        words["dilation"] = numbers(spread.gaps)
    if spread.groups != 1:
        words["groups"] = str(spread.groups)
    maps, channels, *kernel = kernels.shape
    layer = f"nn.Conv{len(axes)}d"
    made = call(layer, str(channels * spread.groups), str(maps), numbers(kernel), **words)
    return call(out.layer((*key, made, bias is None), origin, made, state), given)


def pooled(
    out: TorchWriting,
    origin: str,
    image: str,
    axes: Sequence[Axis],
    *,
    most: bool,
    counts_pads: bool = False,
) -> Expression:
    """Return the largest or the mean cell of windows of an image [n, channels, *axes].

    Cells outside of the image are a part of a mean where pads count, as zeros.
    """
    given, pads = padded(out, image, axes, most, halves=True)
    words = walk_of(axes, pads)
    kernel = numbers([axis.kernel for axis in axes])
    is_padded = given != image
    if not most and not counts_pads and any(pads):
        words["count_include_pad"] = "False"
    made = call(f"nn.{'Max' if most else 'Avg'}Pool{len(axes)}d", kernel, **words)
    layer = out.layer(("pool", made), origin, made, {})
    found = call(layer, given)
    if most or counts_pads or not is_padded:
        return found
    # The mean counts what was added: as many cells as are real share it.
    real = (cells(axes) >= 0).sum(1).reshape([axis.count for axis in axes])
    taps = product(tuple(axis.kernel for axis in axes))
    with np.errstate(divide="ignore"):
        share = out.tensor(taps / real, f"{origin}/share")
    return f"{out.let(found)} * {share}"


def windows(out: TorchWriting, image: str, axes: Sequence[Axis], outside: str = "") -> str:
    """Return the windows [n, places, taps] of images [n, cells]; cells outside are 0, or a
    number.
    """
    chosen = cells(axes)
    if (chosen < 0).any():
        words = {"value": outside} if outside else {}
        image = out.let(call("F.pad", image, "(0, 1)", **words))
        chosen = np.where(chosen < 0, product(tuple(axis.size for axis in axes)), chosen)
    places = out.tensor(chosen, "cells", whole=True)
    return out.let(f"{image}[:, {places}]")


def pooled_by_cells(
    out: TorchWriting,
    image: str,
    axes: Sequence[Axis],
    *,
    most: bool,
    counts_pads: bool = False,
) -> Expression:
    """Return the same of images [n, cells], as [n, places]."""
    if most:
        return call(f"{windows(out, image, axes, _LEAST)}.amax", "-1")
    if counts_pads:
        return call(f"{windows(out, image, axes)}.mean", "-1")
    count = out.tensor((cells(axes) >= 0).sum(1), "counts")
    return f"{windows(out, image, axes)}.sum(-1) / {count}"


def by_cells(
    out: TorchWriting,
    origin: str,
    image: str,
    axes: Sequence[Axis],
    sharing: Sequence[bool],
    maps: Sequence[int],
    weights: Array,
) -> str:
    """Return the convolution [n, maps of the first axis * its places, ...] of images [n, cells]
    with kernels [kernels, taps] or [kernels, taps + 1], where the last is a bias.
    """
    numbers_of = kernel_numbers(axes, sharing, maps)
    taps = product(tuple(axis.kernel for axis in axes))
    seen = windows(out, image, axes)
    shared = all(flag or axis.count == 1 for flag, axis in zip(sharing, axes, strict=True))
    chosen = weights[numbers_of[0]] if shared else weights[numbers_of]
    kernels = out.tensor(chosen[..., :taps], f"{origin}/kernels")
    rule = '"npt,mt->npm"' if shared else '"npt,pmt->npm"'
    found = out.let(call("torch.einsum", rule, seen, kernels))
    if weights.shape[1] > taps:
        found = out.let(f"{found} + {out.tensor(chosen[..., taps], f'{origin}/bias')}")
    return arranged(out, found, [axis.count for axis in axes], maps, places_first=True)


def arranged(
    out: TorchWriting,
    name: str,
    counts: Sequence[int],
    maps: Sequence[int],
    *,
    places_first: bool,
) -> str:
    """Return [n, places, maps] or [n, maps, places] in the order of a layer: of each axis its maps,
    and in each of them its places.
    """
    rank = len(counts)
    whole = tuple(one * count for one, count in zip(maps, counts, strict=True))
    first, second = (counts, maps) if places_first else (maps, counts)
    places, kinds = list(range(1, rank + 1)), list(range(rank + 1, 2 * rank + 1))
    if not places_first:
        places, kinds = kinds, places
    spread = out.let(f"{name}.reshape({flat(numbers((-1, *first, *second)))})")
    order = [0, *(axis for pair in zip(kinds, places, strict=True) for axis in pair)]
    turned = out.let(f"{spread}.permute({flat(numbers(order))})")
    return out.let(f"{turned}.reshape({flat(numbers((-1, *whole)))})")
