"""Kernels in groups and with gaps, means that count pads, and regions, as PyTorch computes them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from netsharp_engine.geometry import Axis, CorneredAxis
from netsharp_engine.graph import Graph
from tests.conftest import SEED
from tests.peers import REASONS

pytest.importorskip("torch", reason=REASONS["torch"])
from tests.exporting.modules import agree

#: Of a convolution: its axes, the shape of its weights, maps, further attributes, and words of its
#: layer; without any, windows are gathered by the index of their cells.
CONVOLUTIONS: dict[str, tuple[tuple[Axis, ...], int, int, dict[str, Any], str]] = {
    "groups": ((Axis(4, 4), Axis(5, 3), Axis(6, 3)), 6 * 2 * 9, 6, {"groups": 2}, "groups=2"),
    "each channel": (
        (Axis(4, 4), Axis(5, 3, 2, padding=True), Axis(6, 3, 2, padding=True)),
        *(8 * 9, 8),
        {"groups": 4},
        "groups=4",
    ),
    "gaps": (
        (Axis(3, 3), Axis(9, 5, lower=2, upper=1), Axis(8, 4)),
        *(4 * 3 * 3 * 2, 4),
        {"gaps": (1, 2, 3)},
        "dilation=(2, 3)",
    ),
    "groups and gaps in strides": (
        (Axis(6, 6), Axis(9, 5, 2, lower=2, upper=2), Axis(9, 5, 3)),
        *(9 * 2 * 9, 9),
        {"gaps": (1, 2, 2), "groups": 3},
        "groups=3",
    ),
    "gaps of one axis": ((Axis(2, 2), Axis(11, 7)), 3 * 2 * 3, 3, {"gaps": (1, 3)}, "nn.Conv1d"),
    "gaps between channels": (
        (Axis(5, 3, 2), Axis(6, 3)),
        *(4 * 2 * 3, 4),
        {"gaps": (2, 1)},
        "nn.Conv2d",
    ),
    "groups with kernels for each place": (
        (Axis(4, 4), Axis(5, 2)),
        *(4 * 2 * 2 * 4, 4),
        {"groups": 2, "sharing": (True, False)},
        "einsum",
    ),
    "gaps backwards": (
        (Axis(3, 3), Axis(9, 5, 2), Axis(8, 4, 2)),
        *(4 * 3 * 3 * 2, 4),
        {"gaps": (1, 2, 3), "transpose": True},
        "nn.ConvTranspose2d",
    ),
}


@pytest.mark.parametrize("name", CONVOLUTIONS)
def test_kernels_in_groups_and_with_gaps(name: str) -> None:
    axes, size, maps, more, words = CONVOLUTIONS[name]
    random = np.random.default_rng(SEED)
    graph = Graph()
    attributes = {
        "axes": axes,
        "maps": (maps,) + (1,) * (len(axes) - 1),
        "sharing": (True,) * len(axes),
        "transpose": False,
        "channels_last": False,
        **more,
    }
    sizes = tuple(axis.size for axis in axes)
    if attributes["transpose"]:
        sizes = (maps, *(axis.count for axis in axes[1:]))
    x = graph.input("x", sizes)
    kernels = graph.parameter("W", (size,))
    weights = graph.apply("LearnableParameter", parameters=[kernels], name="W")
    node = graph.apply("Convolution", weights, x, name="y", **attributes)
    module = agree(graph, {"W": random.normal(size=size)}, [node])
    assert words in module.text


@pytest.mark.parametrize(
    "axes",
    [
        (Axis(2, 1), Axis(5, 3, 2, padding=True), Axis(6, 3, 2, padding=True)),
        (Axis(2, 1), CorneredAxis(7, 3, 2), CorneredAxis(6, 3, 2)),
        (Axis(2, 1), Axis(5, 3, 2, lower=0, upper=2), Axis(4, 3, lower=2, upper=1)),
        (Axis(4, 3, lower=1, upper=1), Axis(5, 3, 2, padding=True)),
        tuple(Axis(3, 2, lower=1, upper=0) for _ in range(4)),
    ],
)
@pytest.mark.parametrize("counted", [False, True])
def test_means_with_and_without_pads(axes: tuple[Axis, ...], counted: bool) -> None:
    graph = Graph()
    x = graph.input("x", tuple(axis.size for axis in axes))
    reported = {"include_pads": True} if counted else {}
    node = graph.apply(
        "Pooling", x, name="y", axes=axes, channels_last=False, pool="average", **reported
    )
    agree(graph, {}, [node])


@pytest.mark.parametrize("scale", [None, 4.0])
def test_regions_of_images_also_beyond_them(scale: float | None) -> None:
    """Regions are given with the samples, or as numbers of the model; some have no cell."""
    random = np.random.default_rng(SEED)
    print(SEED)
    boxes = random.uniform(-0.4, 1.6, (6, 4))
    boxes[0] = 5, 5, 1, 1
    boxes[1] = np.nan, 0, 0.5, -1
    graph = Graph()
    x = graph.input("x", (2, 7, 5))
    given = graph.input("r", (3, 4))
    parameter = graph.parameter("boxes", (6, 4))
    kept = graph.apply("LearnableParameter", parameters=[parameter], name="boxes")
    reported = {"size": (3, 2)} if scale is None else {"size": (3, 2), "scale": scale}
    nodes = [
        graph.apply("ROIPooling", x, one, name=one.name + "y", **reported) for one in (given, kept)
    ]
    agree(graph, {"boxes": boxes}, nodes)
