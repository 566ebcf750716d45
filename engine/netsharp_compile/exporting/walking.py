"""Convolutions as ONNX's Conv has them: images [n, channels, walked axes], with groups of channels
where kernels are shared along none of them.

Knows no codes and no scales.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from netsharp_engine.exporting.onnx.operators.walking import is_cut, walk_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from netsharp_compile.bundles import ConvolvedBundle, WindowAxis
    from netsharp_compile.integers import Integers
    from netsharp_engine.exporting.onnx.writing import OnnxWriting

#: The most axes along which windows move in onnxruntime's kernels for codes.
_MOST_WALKED = 2


class GroupedWalk(NamedTuple):
    """The axes of a convolution by what they are to a Conv: each by its number, in order.

    Along ``groups`` windows lie side by side, with kernels of their own; of ``channels`` every
    window reads all cells; ``walked`` are the others.
    """

    bundle: ConvolvedBundle
    groups: tuple[int, ...]
    channels: tuple[int, ...]
    walked: tuple[int, ...]

    @property
    def attributes(self) -> dict[str, Any]:
        """Return the attributes of the Conv."""
        axes = [self.bundle.axes[d] for d in self.walked]
        walk = walk_of(axes) if axes else {"kernel_shape": [1]}
        return {**walk, "group": self._group_count} if self.groups else walk

    @property
    def _group_count(self) -> int:
        return prod(self.bundle.axes[d].count for d in self.groups)

    def image(self, out: OnnxWriting, codes: str) -> str:
        """Add the image [n, channels, walked axes] of values [n, values]."""
        axes = self.bundle.axes
        sizes: list[int] = []
        counts: list[int] = []
        inner: list[int] = []
        walked: list[int] = []
        for d, axis in enumerate(axes):
            if d in self.groups:
                counts.append(len(sizes))
                sizes.append(axis.count)
                inner.append(len(sizes))
                sizes.append(axis.kernel)
                continue
            (inner if d in self.channels else walked).append(len(sizes))
            sizes.append(axis.size)
        shape = self._channels, *([axes[d].size for d in self.walked] or [1])
        return _turned(out, codes, sizes, [*counts, *inner, *walked], shape)

    @property
    def _channels(self) -> int:
        """Return the number of channels of all groups together."""
        axes = self.bundle.axes
        return prod(axes[d].size for d in (*self.groups, *self.channels))

    def order(self) -> Integers:
        """Return the kernel of each map of the Conv [maps]."""
        return self._by_map(np.arange(self.bundle.kernels)[:, None], taps=False).reshape(-1)

    def kernels(self, weights: Integers) -> Integers:
        """Return weights [kernels, cells of a window] as [maps, channels of a group, walked]."""
        axes = self.bundle.axes
        walked = [axes[d].kernel for d in self.walked] or [1]
        return self._by_map(weights, taps=True).reshape(self.bundle.kernels, -1, *walked)

    def _by_map(self, numbers: Integers, *, taps: bool) -> Integers:
        """Return numbers [kernels, ...] by the positions of groups, then by maps."""
        rank, radix = len(self.bundle.axes), self.bundle.radix
        kernel = [axis.kernel if taps else 1 for axis in self.bundle.axes]
        spread = numbers.reshape([one for pair in radix for one in pair] + kernel)
        others = [2 * d + 1 for d in range(rank) if d not in self.groups]
        inner = sorted((*self.groups, *self.channels))
        turn = [2 * d + 1 for d in self.groups] + [2 * d for d in range(rank)] + others
        return spread.transpose(*turn, *(2 * rank + d for d in (*inner, *self.walked)))

    def nodes(self, out: OnnxWriting, name: str) -> str:
        """Add nodes [n, nodes], of each axis its maps and in each of them its positions, of what a
        Conv gives.
        """
        axes, maps = self.bundle.axes, self.bundle.maps
        first, rank = len(self.groups), len(axes)
        sizes = [axes[d].count for d in self.groups]
        sizes += [*maps, *(axes[d].count for d in self.walked)]
        order = []
        for d in range(rank):
            order.append(first + d)
            if d in self.groups:
                order.append(self.groups.index(d))
            elif d in self.walked:
                order.append(first + rank + self.walked.index(d))
        return _turned(out, name, sizes, order, [self.bundle.nodes])


def grouped_walk(bundle: ConvolvedBundle) -> GroupedWalk | None:
    """Return the ONNX Conv that computes a convolution; None where none can: along more than two
    axes, with cells left out at an end, or with kernels that differ by position.
    """
    axes = bundle.axes
    groups = tuple(d for d, axis in enumerate(axes) if not bundle.sharing[d] and _is_tiled(axis))
    whole = [d for d, axis in enumerate(axes) if _is_whole(axis)]
    walked = [d for d in range(len(axes)) if d not in groups and d not in whole]
    walked = walked or whole[1:][-_MOST_WALKED:]
    channels = tuple(d for d in whole if d not in walked)
    moved = [axes[d] for d in walked]
    shared = all(bundle.sharing[d] or axes[d].count == 1 for d in walked)
    if len(walked) > _MOST_WALKED or not shared or any(map(is_cut, moved)):
        return None
    return GroupedWalk(bundle, groups, channels, tuple(walked))


def _is_whole(axis: WindowAxis) -> bool:
    """Return whether the one window reads all cells."""
    return axis.count == 1 and axis.kernel == axis.size and not axis.first


def _is_tiled(axis: WindowAxis) -> bool:
    """Return whether several windows lie side by side, and leave nothing out."""
    is_beside = axis.stride == axis.kernel and not axis.first
    return is_beside and axis.count > 1 and axis.count * axis.kernel == axis.size


def _turned(
    out: OnnxWriting, name: str, sizes: Sequence[int], order: Sequence[int], shape: Sequence[int]
) -> str:
    """Add a tensor [n, ...], whose axes of these sizes come in an order, as [n, *shape]."""
    seen = [one for one in order if sizes[one] > 1]
    if seen != sorted(seen):
        spread = out.add("Reshape", name, out.integers(-1, *sizes))
        name = out.add("Transpose", spread, perm=[0, *(one + 1 for one in order)])
    return out.add("Reshape", name, out.integers(-1, *shape))
