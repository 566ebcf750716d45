"""The movement of ONNX's operators along the axes of an image: kernels, strides and pads, always
explicit.

CNTK's automatic pads are larger below, those of ONNX's ``auto_pad`` above: they are never used.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from netsharp_engine.exporting.places import CoveredAxis

#: The most axes along which onnxruntime moves windows.
MOST_AXES = 3


def walk_of(axes: Sequence[CoveredAxis]) -> dict[str, list[int]]:
    """Return the attributes of an operator that walks along these axes."""
    return {
        "kernel_shape": [axis.kernel for axis in axes],
        "strides": [axis.stride for axis in axes],
        "pads": pads(axes),
    }


def pads(axes: Sequence[CoveredAxis]) -> list[int]:
    """Return the cells outside of the image that kernels read, all lower ones before the upper."""
    lower = [max(-axis.first, 0) for axis in axes]
    upper = [max(axis.first + axis.covered - axis.size, 0) for axis in axes]
    return lower + upper


def is_cut(axis: CoveredAxis) -> bool:
    """Return whether kernels leave out cells that ONNX would begin or end with."""
    return axis.first > 0 or axis.size - axis.first - axis.covered >= axis.stride


def has_empty_windows(axes: Sequence[CoveredAxis]) -> bool:
    """Return whether pads are as wide as a window, which ONNX refuses for pooling."""
    return any(pad >= axis.kernel for pad, axis in zip(pads(axes), (*axes, *axes), strict=True))
