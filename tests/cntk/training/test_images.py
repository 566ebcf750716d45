"""Convolution and pooling of tensors against loops over every kernel, place and cell, and gradients
of every source against differences, in double precision.
"""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from netsharp_engine.geometry import CorneredAxis, kernel_count, output_shape
from netsharp_engine.graph import Graph, GraphError
from netsharp_engine.nodes import Node
from netsharp_engine.tensor_backend.kernels import convolution
from netsharp_engine.tensor_backend.kernels.table import TABLE
from tests.conftest import SEED

Array = npt.NDArray[np.float64]
Axes = tuple[CorneredAxis, ...]


def axis(size: int, kernel: int, stride: int = 1, lower: int = 0, upper: int = 0) -> CorneredAxis:
    return CorneredAxis(size, kernel, stride, lower=lower, upper=upper)


#: Axes, sharing and maps of convolutions, slowest axis first.
CONVOLUTIONS: dict[str, tuple[Axes, tuple[bool, ...], tuple[int, ...]]] = {
    "plain": ((axis(2, 2, 2), axis(5, 3), axis(6, 2)), (True,) * 3, (3, 1, 1)),
    "strided": ((axis(2, 2, 2), axis(7, 3, 2), axis(8, 2, 3)), (True,) * 3, (3, 1, 1)),
    "padded": ((axis(1, 1), axis(5, 3, 1, 1, 1), axis(6, 4, 2, 1, 2)), (True,) * 3, (2, 1, 1)),
    "asymmetric": (
        (axis(2, 2, 2), axis(5, 3, 1, 0, 1), axis(5, 4, 2, 1, 2)),
        (True,) * 3,
        (4, 1, 1),
    ),
    "one row": ((axis(3, 3, 3), axis(1, 1), axis(7, 3, 2)), (True,) * 3, (2, 1, 1)),
    "one place": ((axis(2, 2), axis(3, 3), axis(2, 2)), (True,) * 3, (5, 1, 1)),
    "line": ((axis(9, 4, 2),), (True,), (3,)),
    "in space": (
        (axis(2, 2, 2), axis(3, 2), axis(4, 2, 2), axis(3, 3, 1, 1, 1)),
        (True,) * 4,
        (2,) + (1,) * 3,
    ),
    "maps of several": ((axis(4, 2, 2), axis(3, 2), axis(5, 2)), (True,) * 3, (2, 3, 1)),
    "unshared": ((axis(2, 2, 2), axis(4, 2), axis(5, 3, 2)), (True, False, False), (3, 1, 1)),
    "half shared": (
        (axis(2, 2, 2), axis(4, 2), axis(5, 3, 1, 1, 1)),
        (True, False, True),
        (3, 1, 1),
    ),
    "many maps": ((axis(1, 1), axis(4, 2), axis(3, 2)), (True,) * 3, (40, 1, 1)),
}
POOLS: dict[str, Axes] = {
    "apart": (axis(2, 1), axis(6, 2, 2), axis(5, 2, 2)),
    "overlapping": (axis(2, 1), axis(5, 3, 2), axis(6, 3)),
    "padded": (axis(1, 1), axis(5, 3, 2, 1, 1), axis(6, 2, 2, 0, 1)),
    "gaps": (axis(2, 1), axis(7, 2, 3), axis(5, 1, 2)),
    "over channels": (axis(4, 2, 2), axis(4, 2, 2), axis(3, 3)),
}
SAMPLES = 3


def sizes(axes: Axes) -> tuple[int, ...]:
    return tuple(one.size for one in axes)


def outer(shape: tuple[int, ...], last: bool) -> tuple[int, ...]:
    return shape[::-1] if last else shape


def convolution_of(name: str, backwards: bool = False, last: bool = False) -> Node:
    axes, sharing, maps = CONVOLUTIONS[name]
    graph = Graph()
    kernels = kernel_count(axes, sharing, maps)
    cells = int(np.prod([one.kernel for one in axes]))
    weights = graph.input("w", (cells, kernels) if last else (kernels, cells))
    shape = output_shape(axes, maps) if backwards else sizes(axes)
    image = graph.input("x", outer(shape, last))
    attributes: dict[str, Any] = {"axes": axes, "sharing": sharing, "maps": maps}
    attributes |= {"transpose": backwards, "channels_last": last}
    return graph.apply("Convolution", weights, image, name="y", **attributes)


def pooling_of(name: str, kind: str, last: bool = False) -> Node:
    graph = Graph()
    image = graph.input("x", outer(sizes(POOLS[name]), last))
    attributes: dict[str, Any] = {"axes": POOLS[name], "pool": kind, "channels_last": last}
    return graph.apply("Pooling", image, name="y", **attributes)


def matrix(node: Node, weights: Array) -> Array:
    """What one sample of a convolution is multiplied with, [places, cells of the image]."""
    axes, sharing, maps = (node.attributes[key] for key in ("axes", "sharing", "maps"))
    places, image = output_shape(axes, maps), sizes(axes)
    cells = [one.kernel for one in axes]
    radix = [n for d, m in enumerate(maps) for n in (m, 1 if sharing[d] else axes[d].count)]
    flat = weights.reshape(-1)
    if node.attributes["channels_last"]:
        flat = flat.reshape(-1, int(np.prod(maps))).T.reshape(-1)
    kernels = flat.reshape(*radix, *cells)
    found = np.zeros((*places, *image))
    for place in np.ndindex(*places):
        which, corner = [], []
        for d, at in enumerate(place):
            number, position = divmod(at, axes[d].count)
            which += [number, 0 if sharing[d] else position]
            corner.append(position * axes[d].stride - axes[d].lower)
        for tap in np.ndindex(*cells):
            cell = tuple(low + step for low, step in zip(corner, tap, strict=True))
            if all(0 <= c < size for c, size in zip(cell, image, strict=True)):
                found[place + cell] += kernels[(*which, *tap)]
    return found.reshape(int(np.prod(places)), -1)


def flat(values: Array, shape: tuple[int, ...], last: bool) -> Array:
    """Values of a node as [samples, elements] of channels, width and height."""
    if not last:
        return values.reshape(len(values), -1)
    channels, *rest = shape
    return (
        values.reshape(len(values), *rest, channels).transpose(0, 3, 1, 2).reshape(len(values), -1)
    )


def checked(node: Node, sources: list[Array]) -> None:
    """Compare every gradient with differences."""
    kernel, random = TABLE[node.op], np.random.default_rng(SEED)
    value = kernel.forward(node, sources)
    assert value.shape == (SAMPLES, *node.shape)
    by = random.normal(size=value.shape)
    for number, back in enumerate(kernel.backward):
        assert back is not None
        gradient = back(node, sources, value, by)
        assert gradient.shape == sources[number].shape
        places = list(np.ndindex(*sources[number].shape))
        for place in (places[at] for at in random.permutation(len(places))[:60]):
            ends = []
            for step in (1e-6, -1e-6):
                moved = [one.copy() for one in sources]
                moved[number][place] += step
                ends.append(float((kernel.forward(node, moved) * by).sum()))
            slope = (ends[0] - ends[1]) / 2e-6
            assert gradient[place] == pytest.approx(slope, rel=1e-6, abs=1e-7), (number, place)


LAST = [
    name for name, (axes, *_) in CONVOLUTIONS.items() if len(axes) == 3 and "shared" not in name
]
LAST.remove("maps of several")
WAYS = [
    *((name, backwards, False) for name in CONVOLUTIONS for backwards in (False, True)),
    *((name, False, True) for name in LAST),
]


@pytest.mark.parametrize("room", [1 << 23, 1])
@pytest.mark.parametrize(("name", "backwards", "last"), WAYS)
def test_convolution(
    name: str, backwards: bool, last: bool, room: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(convolution, "ROOM", room)  # all samples at a time, and one
    node = convolution_of(name, backwards, last)
    random = np.random.default_rng(SEED)
    weights, image = (
        random.normal(size=(count, *one.shape))
        for count, one in zip((1, SAMPLES), node.inputs, strict=True)
    )
    by = matrix(node, weights)
    axes, maps = node.attributes["axes"], node.attributes["maps"]
    ends = (
        (output_shape(axes, maps), sizes(axes))
        if backwards
        else (sizes(axes), output_shape(axes, maps))
    )
    expected = flat(image, ends[0], last) @ (by if backwards else by.T)
    found = TABLE["Convolution"].forward(node, [weights, image])
    np.testing.assert_allclose(flat(found, ends[1], last), expected, rtol=1e-12, atol=1e-12)
    checked(node, [weights, image])


@pytest.mark.parametrize("last", [False, True])
@pytest.mark.parametrize("kind", ["max", "average"])
@pytest.mark.parametrize("name", POOLS)
def test_pooling(name: str, kind: str, last: bool) -> None:
    node = pooling_of(name, kind, last)
    image = np.random.default_rng(SEED).normal(size=(SAMPLES, *node.inputs[0].shape))
    axes = node.attributes["axes"]
    cells = flat(image, sizes(axes), last).reshape(SAMPLES, *sizes(axes))
    counts = output_shape(axes)
    expected = np.empty((SAMPLES, *counts))
    for place in np.ndindex(*counts):
        window = cells[(slice(None), *(slice(r.start, r.stop) for r in map(_cells, axes, place)))]
        over = window.reshape(SAMPLES, -1)
        expected[(slice(None), *place)] = over.max(axis=1) if kind == "max" else over.mean(axis=1)
    found = flat(TABLE["Pooling"].forward(node, [image]), counts, last)
    np.testing.assert_allclose(found, expected.reshape(SAMPLES, -1), rtol=1e-12, atol=1e-14)
    checked(node, [image])


def _cells(one: CorneredAxis, position: int) -> range:
    return one.cells(position)


@pytest.mark.parametrize(("last", "wanted"), [(False, [1.0, 0, 0, 0]), (True, [1.0, 1, 1, 1])])
def test_of_equal_cells_the_first_has_the_gradient(last: bool, wanted: list[float]) -> None:
    graph = Graph()
    image = graph.input("x", (2, 2, 1) if last else (1, 2, 2))
    axes = (axis(1, 1), axis(2, 2), axis(2, 2))
    attributes: dict[str, Any] = {"axes": axes, "pool": "max", "channels_last": last}
    node = graph.apply("MaxPooling", image, name="y", **attributes)
    values = np.ones((1, *image.shape))
    (back,) = TABLE["MaxPooling"].backward
    assert back is not None
    value = TABLE["MaxPooling"].forward(node, [values])
    assert back(node, [values], value, np.ones_like(value)).ravel().tolist() == wanted


def test_an_empty_pad_never_wins() -> None:
    graph = Graph()
    image = graph.input("x", (3,))
    attributes: dict[str, Any] = {"axes": (axis(3, 3, 1, 1, 1),), "channels_last": False}
    values = np.array([[-3.0, -2.0, -4.0]])
    most = graph.apply("Pooling", image, name="most", pool="max", **attributes)
    mean = graph.apply("Pooling", image, name="mean", pool="average", **attributes)
    assert TABLE["Pooling"].forward(most, [values]).tolist() == [[-2.0, -2.0, -2.0]]
    assert TABLE["Pooling"].forward(mean, [values]).tolist() == [[-2.5, -3.0, -3.0]]


def test_what_does_not_fit_is_reported() -> None:
    graph = Graph()
    image, weights = graph.input("x", (5,)), graph.input("w", (7,))
    attributes: dict[str, Any] = {"axes": (axis(6, 2),), "channels_last": False}
    with pytest.raises(GraphError, match=r"\[5\] is not an image of \[6\]"):
        graph.apply("Pooling", image, name="y", pool="max", **attributes)
    attributes |= {"maps": (2,), "sharing": (True,), "transpose": False}
    with pytest.raises(GraphError, match="7 weights given, 4 needed"):
        graph.apply("Convolution", weights, image, name="y", **attributes)


def test_every_way_of_moving_is_among_the_cases() -> None:
    walked = {(len(axes), all(sharing)) for axes, sharing, _ in CONVOLUTIONS.values()}
    assert walked >= set(product((3,), (True, False))) | {(1, True), (4, True)}
