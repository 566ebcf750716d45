"""Compiled twins of convolution and pooling against the same in numpy, in float32."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from netsharp_engine.nodes import Node
from netsharp_engine.program import Batch
from netsharp_engine.tensor_backend import walk
from netsharp_engine.tensor_backend.kernels import compiled_windows, convolution, pooling
from netsharp_engine.tensor_backend.kernels.compiled_windows import LEAST_SAMPLES, compiled, twins
from netsharp_engine.tensor_backend.kernels.rows import Array
from netsharp_engine.tensor_backend.kernels.table import TABLE
from netsharp_engine.tensor_backend.together import Rectified
from netsharp_engine.walks import runs
from netsharp_lsp.cntk.training.networks.lowering import lowered
from tests.cntk.brainscript.building import network
from tests.cntk.training.test_images import (
    CONVOLUTIONS,
    POOLS,
    WAYS,
    axis,
    convolution_of,
    pooling_of,
)
from tests.cntk.training.test_sequences import gradients_of
from tests.cntk.training.test_together import program_of
from tests.conftest import SEED

#: The least, one beside vectors, and whole ones of every width.
SAMPLES = (LEAST_SAMPLES, 21, 64)
#: More channels and maps than a tile has, and places that no kernel sees.
WIDE = {
    "tiles": ((axis(9, 9, 9), axis(6, 3, 1, 1, 1), axis(7, 3, 1, 1, 1)), (True,) * 3, (21, 1, 1)),
    "steps": ((axis(5, 5, 5), axis(7, 1, 2), axis(6, 1, 2)), (True,) * 3, (9, 1, 1)),
}


@pytest.fixture(autouse=True)
def wide(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, reported in WIDE.items():
        monkeypatch.setitem(CONVOLUTIONS, name, reported)


def outcome(node: Node, sources: list[Array], by: Array) -> list[Array]:
    """The value, and the gradient of every source."""
    kernel = TABLE[node.op]
    value = kernel.forward(node, sources)
    found = [value]
    for back in kernel.backward:
        assert back is not None
        found.append(back(node, sources, value, by))
    return found


def both(
    node: Node, sources: list[Array], by: Array, monkeypatch: pytest.MonkeyPatch
) -> list[tuple[Array, Array]]:
    """What twins and numpy find."""
    fast = outcome(node, sources, by)
    with monkeypatch.context() as patch:
        for module in (convolution, pooling):
            patch.setattr(module, "compiled", lambda like, samples: False)
        slow = outcome(node, sources, by)
    return list(zip(fast, slow, strict=True))


def called(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Which twins are called from now on."""
    found: list[str] = []

    class Spy:
        def __getattr__(self, name: str) -> Any:
            found.append(name)
            return getattr(twins, name)

    monkeypatch.setattr(compiled_windows, "twins", Spy())
    return found


@pytest.mark.parametrize("samples", SAMPLES)
@pytest.mark.parametrize(
    ("name", "backwards", "last"), [*WAYS, *((name, False, False) for name in WIDE)]
)
def test_convolution(
    name: str, backwards: bool, last: bool, samples: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    node = convolution_of(name, backwards, last)
    random = np.random.default_rng(SEED)
    weights, image, by = (
        random.normal(size=(count, *one.shape)).astype(np.float32)
        for count, one in zip((1, samples, samples), (*node.inputs, node), strict=True)
    )
    seen = called(monkeypatch)
    for fast, slow in both(node, [weights, image], by, monkeypatch):
        assert fast.shape == slow.shape
        assert fast.dtype == slow.dtype
        np.testing.assert_allclose(fast, slow, rtol=2e-6, atol=2e-6 * np.abs(slow).max())
    assert ("windows_joined" in seen) == ("shared" not in name), seen


@pytest.mark.parametrize("samples", SAMPLES)
@pytest.mark.parametrize("last", [False, True])
@pytest.mark.parametrize("kind", ["max", "average"])
@pytest.mark.parametrize("name", POOLS)
def test_pooling(
    name: str, kind: str, last: bool, samples: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """To the last bit, except for sums of several windows; with ties, infinity, and no numbers."""
    node = pooling_of(name, kind, last)
    random = np.random.default_rng(SEED)
    image = random.integers(-2, 3, (samples, *node.inputs[0].shape)).astype(np.float32)
    image[random.random(image.shape) < 0.02] = np.nan
    image[random.random(image.shape) < 0.02] = -np.inf
    by = random.normal(size=(samples, *node.shape)).astype(np.float32)
    seen = called(monkeypatch)
    value, gradient = both(node, [image], by, monkeypatch)
    for fast, slow in (value, gradient):
        assert fast.shape == slow.shape
    np.testing.assert_array_equal(*value)
    apart = name in ("apart", "gaps", "over channels")
    bound = 0 if apart else 2e-6
    np.testing.assert_allclose(*gradient, rtol=bound, atol=bound * np.abs(by).max())
    assert seen == ["windows_pooled", "windows_pooled_back"]


def test_only_what_they_know_is_given_to_them() -> None:
    for kind, samples, reported in (
        (np.float32, LEAST_SAMPLES, True),
        (np.float32, LEAST_SAMPLES - 1, False),
        (np.float64, LEAST_SAMPLES, False),
    ):
        assert compiled(np.zeros(1, kind), samples) == reported


def test_a_way_that_is_too_long_is_numpys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runs, "_MOST", 3)
    for known in (runs._down, runs._up):
        known.cache_clear()
    node = convolution_of("plain")
    sources = [np.ones((1, *node.inputs[0].shape), np.float32)]
    sources += [np.ones((LEAST_SAMPLES, *node.inputs[1].shape), np.float32)]
    seen = called(monkeypatch)
    for fast, slow in both(
        node, sources, np.ones((LEAST_SAMPLES, *node.shape), np.float32), monkeypatch
    ):
        np.testing.assert_array_equal(fast, slow)
    assert seen == []
    for known in (runs._down, runs._up):
        known.cache_clear()


def test_what_makes_no_sense_is_refused() -> None:
    """A fault of ours ends in a sentence, not in an access outside our arrays."""
    way = runs.down((axis(2, 2, 2), axis(4, 3)))
    assert way is not None
    image, weights = np.ones((8, 16), np.float32), np.ones((6, 3), np.float32)
    out = np.ones((3, 2, 16), np.float32)
    reported = *way[:3], image, weights, None, out
    twins.windows_moved(16, 3, *reported)
    assert (out == 6).all()
    for number, shorter in ((3, image[:7]), (4, weights[:5]), (6, out[:2])):
        less = [*reported[:number], np.ascontiguousarray(shorter), *reported[number + 1 :]]
        with pytest.raises(ValueError, match="a place is out of range"):
            twins.windows_moved(16, 3, *less)
    beyond = way.runs + np.array([0, 0, 0, 1])
    with pytest.raises(ValueError, match="a place is out of range"):
        twins.windows_moved(16, 3, beyond, *reported[1:])
    with pytest.raises(ValueError, match="a place is out of range"):
        twins.windows_joined(16, 3, *way[:3], image[:7], out, weights)
    with pytest.raises(ValueError, match="a place is out of range"):
        twins.windows_pooled(16, 1, *way[:3], True, image[:7], out[0])
    means = True, True, True, None, None, out[0], image[:7]
    with pytest.raises(ValueError, match="a place is out of range"):
        twins.windows_pooled_back(16, 1, *way[:3], *means)
    most = False, True, True, image[:7], out[0], out[0], image
    with pytest.raises(ValueError, match="an array is too short"):
        twins.windows_pooled_back(16, 1, *way[:3], *most)
    with pytest.raises(ValueError, match="a size is out of range"):
        twins.windows_moved(15, 3, *reported)
    with pytest.raises(TypeError, match="another number of arguments"):
        twins.windows_joined(16, 3)


RECTIFIED = """{
    Rectified (source, mapsIn, mapsOut) = {
        kernel = ParameterTensor ((3 : 3 : mapsIn : mapsOut), init="uniform")
        offset = ParameterTensor ((1 : 1 : mapsOut), init="uniform")
        out = RectifiedLinear (BIASED)
        filtered = Convolution (
            kernel, source, (3 : 3 : mapsIn), mapDims=mapsOut, stride=(1 : 1 : mapsIn),
            autoPadding=(true : true : false), imageLayout="cudnn")
    }.out
    image = Input (7 : 6 : 2)
    class = Input {3}
    first = Rectified (image, 2, 5)
    second = Rectified (MaxPooling (first, 2, 2, 2, 2, imageLayout="cudnn"), 5, 9)
    z = LinearLayer {3} (second)
    ce = CrossEntropyWithSoftmax (class, z)
    featureNodes = (image) ; labelNodes = (class) ; criterionNodes = (ce)
}"""


@pytest.mark.parametrize("samples", [5, 24])
@pytest.mark.parametrize("biased", ["filtered + offset", "offset + filtered"])
def test_a_rectifier_is_computed_with_its_convolution(
    biased: str, samples: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As one by one; too few samples, and what is asked for between, are computed so."""
    built = network(RECTIFIED.replace("BIASED", biased))
    graph = lowered(built, [built.nodes["ce"]], [built.nodes["ce"]])
    fast = program_of(graph, "float32")
    with monkeypatch.context() as patch:
        patch.setattr(walk, "together", lambda *given: [])
        slow = program_of(graph, "float32")
    random = np.random.default_rng(SEED)
    values = {one.name: random.normal(size=one.shape) / 2 for one in graph.parameters}
    images = random.normal(size=(samples, 7 * 6 * 2))
    batch = Batch({"image": images, "class": np.eye(3)[np.arange(samples) % 3]}, expected=1.0)
    for one in (fast, slow):
        one.load(values)
    seen = called(monkeypatch)
    found, expected = (gradients_of(one, batch) for one in (fast, slow))
    assert seen.count("windows_rectified_back") == (2 if samples > LEAST_SAMPLES else 0)
    for name, gradient in expected.items():
        bound = 2e-6 * max(np.abs(gradient).max(), 1)
        np.testing.assert_allclose(found[name], gradient, rtol=2e-5, atol=bound, err_msg=name)
    for one in (fast, slow):
        one.feed(batch)
        one.forward()
    for node in graph.nodes:
        np.testing.assert_allclose(
            fast.read(node), slow.read(node), rtol=2e-5, atol=2e-5, err_msg=node.name
        )


def test_only_a_bias_of_each_map_is_computed_with_a_convolution() -> None:
    plain = RECTIFIED.replace("BIASED", "filtered + offset")
    for text, count in (
        (plain, 2),
        (plain.replace("filtered + offset", "filtered + Tanh (offset)"), 0),
        (plain.replace("filtered + offset", "filtered + offset + filtered"), 0),
        (plain.replace("((1 : 1 : mapsOut), ", "((1), "), 0),
    ):
        built = network(text)
        graph = lowered(built, [built.nodes["ce"]], [built.nodes["ce"]])
        parts = program_of(graph, "float32")._walk._parts
        assert sum(isinstance(one, Rectified) for one in parts) == count, text
