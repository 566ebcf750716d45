"""Networks over images from their configuration: where kernels begin, both layouts, their files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from netsharp_engine.cntk.stored.model_file import read_model, written_model
from netsharp_engine.cntk.stored.values import StoredModel, StoredNode
from tests.cntk.training.experiments import run
from tests.cntk.training.test_model_files import Second
from tests.conftest import SEED

CONFIGURATION = """\
command = learn:tell
modelPath = "out/net.dnn"
precision = "double"
learn = {
    action = "train"
    @BUILDER@
    SGD = { maxEpochs = 2 ; minibatchSize = 4 ; learningRatesPerSample = 0.01 ; momentumPerMB = 0 }
    reader = { file = "data.ctf" ; input = {
        features = { dim = @SIZE@ ; format = "dense" } ; labels = { dim = 2 ; format = "dense" } } }
}
tell = { action = "write" ; outputPath = "out/told" ; outputNodeNames = @TOLD@
    format = { type = "real" ; precisionFormat = ".15" }
    reader = { file = "data.ctf" ; input = {
        features = { dim = @SIZE@ ; format = "dense" }
        labels = { dim = 2 ; format = "dense" } } } }
"""
BRAINSCRIPT = """BrainScriptNetworkBuilder = {
        features = ImageInput (@IMAGE@, tag="feature") ; labels = Input (2, tag="label")
        W = ParameterTensor {(@WEIGHTS@), initValueScale=4}
        maps = @NODE@
        z = ParameterTensor {(2 : 0)} * FlattenDimensions (Tanh (maps), 1, 3)
        ce = CrossEntropyWithSoftmax (labels, z, tag="criterion")
    }"""
#: The older network and the same with CHW: convolution with padding, maximum, mean.
NDL = """NDLNetworkBuilder = { networkDescription = "net.ndl" }"""
NDL_TEXT = """load = ndlMacros
run = Net
ndlMacros = [
    unused (x) = { y = Tanh (x) }
]
Net = [
    features = ImageInput (5, 5, 2, imageLayout="@LAYOUT@", tag="feature")
    labels = InputValue (2, tag="label")
    W = Parameter (3, 18, init="uniform", initValueScale=4)
    maps = Convolution (W, features, 3, 3, 3, 1, 1, zeroPadding=@PAD@, imageLayout="@LAYOUT@")
    most = MaxPooling (maps, 2, 2, 1, 1, imageLayout="@LAYOUT@")
    average = AveragePooling (most, 2, 2, 1, 1, imageLayout="@LAYOUT@")
    V = Parameter (2, @FLAT@, init="uniform", initValueScale=4)
    z = Times (V, average)
    ce = CrossEntropyWithSoftmax (labels, z, tag="criterion")
    OutputNodes = (z)
]
"""


def made(folder: Path, builder: str, message: str, images: np.ndarray[Any, Any]) -> Path:
    folder.mkdir()
    lines = [
        f"|labels {row % 2} {1 - row % 2} |features {' '.join(map(repr, image.tolist()))}"
        for row, image in enumerate(images.reshape(len(images), -1))
    ]
    (folder / "data.ctf").write_text("\n".join(lines) + "\n")
    text = CONFIGURATION.replace("@BUILDER@", builder).replace("@TOLD@", message)
    (folder / "net.cntk").write_text(text.replace("@SIZE@", str(images[0].size)))
    return folder


def learnt(folder: Path) -> np.ndarray[Any, Any]:
    """The kernels of the model that was trained."""
    stored = read_model((folder / "out" / "net.dnn").read_bytes())
    (found,) = (node.values for node in stored.nodes if node.name == "W")
    assert found is not None
    return found


def numbers(path: Path) -> np.ndarray[Any, Any]:
    return np.loadtxt(path, ndmin=2)


#: Image, weights, node and shape of what it makes, and the first cell under its first kernel along
#: width and height.
CASES = [
    (
        "6 : 5 : 2",
        "3 : 3 : 2 : 4",
        "Convolution (W, features, (3 : 3 : 2), mapDims=4, autoPadding=(true : true : false))",
        (6, 5, 4),
        -1,
    ),
    (
        "6 : 5 : 2",
        "2 : 2 : 2 : 4",
        "Convolution (W, features, (2 : 2 : 2), mapDims=4, autoPadding=(true : true : false))",
        (6, 5, 4),
        0,
    ),
    (
        "7 : 7 : 2",
        "4 : 4 : 2 : 3",
        "Convolution (W, features, (4 : 4), mapDims=3, stride=(3 : 3))",
        (3, 3, 3),
        -1,
    ),
    (
        "7 : 7 : 2",
        "3 : 3 : 2 : 3",
        "Convolution (W, features, (3 : 3), mapDims=3, stride=3, autoPadding=false)",
        (2, 2, 3),
        0,
    ),
    (
        "6 : 6 : 2",
        "3 : 3 : 2 : 3",
        "Convolution (W, features, (3 : 3 : 2), mapDims=3, autoPadding=false, stride=(2 : 2 : 2),"
        " lowerPad=(1 : 1 : 0), upperPad=(0 : 0 : 0))",
        (3, 3, 3),
        -1,
    ),
]


@pytest.mark.parametrize(("image", "weights", "node", "shape", "first"), CASES)
def test_where_kernels_begin(
    tmp_path: Path, image: str, weights: str, node: str, shape: tuple[int, ...], first: int
) -> None:
    width, height, depth = (int(one) for one in image.split(" : "))
    builder = BRAINSCRIPT.replace("@IMAGE@", image.replace(" :", ",")).replace("@WEIGHTS@", weights)
    images = np.random.default_rng(SEED).normal(size=(8, depth, height, width)).round(3)
    folder = made(tmp_path / "run", builder.replace("@NODE@", node), "maps", images)
    answer, _ = run(folder)
    assert (answer.code, answer.complaints) == (0, ())
    kernels = learnt(folder).reshape([int(one) for one in weights.split(" : ")][::-1])
    found = numbers(folder / "out" / "told.maps").reshape(8, *shape[::-1])
    step = 1 if "stride" not in node else 2 if "2 : 2 : 2" in node else 3
    for y, x in ((0, 0), (shape[1] - 1, shape[0] - 1)):
        expected = np.zeros((8, len(kernels)))
        for v, u in np.ndindex(*kernels.shape[2:]):
            row, column = first + y * step + v, first + x * step + u
            if 0 <= row < height and 0 <= column < width:
                expected += images[:, :, row, column] @ kernels[:, :, v, u].T
        np.testing.assert_allclose(found[:, :, y, x], expected, rtol=1e-12, atol=1e-13)


def test_a_transposed_convolution_is_trained(tmp_path: Path) -> None:
    node = "ConvolutionTranspose (W, features, (3 : 3 : 4), mapDims=2, stride=(2 : 2 : 4)"
    node += ", autoPadding=(true : true : false))"
    builder = BRAINSCRIPT.replace("@IMAGE@", "4, 3, 2").replace("@WEIGHTS@", "3 : 3 : 4 : 2")
    images = np.random.default_rng(SEED).normal(size=(8, 2, 3, 4)).round(3)
    folder = made(tmp_path / "run", builder.replace("@NODE@", node), "maps", images)
    answer, follower = run(folder)
    assert (answer.code, answer.complaints) == (0, ())
    losses = [event["loss"] for event in follower.epochs]
    assert losses[1] < losses[0]
    kernels = learnt(folder).reshape(2, 4, 3, 3)
    expected = np.zeros((8, 4, 5, 7))
    for y, x, v, u in np.ndindex(3, 4, 3, 3):
        row, column = 2 * y - 1 + v, 2 * x - 1 + u
        if 0 <= row < 5 and 0 <= column < 7:
            expected[:, :, row, column] += images[:, :, y, x] @ kernels[:, :, v, u]
    found = numbers(folder / "out" / "told.maps").reshape(expected.shape)
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("pad", ["true", "false"])
@pytest.mark.parametrize("layout", ["legacy", "cudnn"])
def test_both_layouts_of_images(tmp_path: Path, layout: str, pad: str) -> None:
    """In the older one channels run fastest, and the maps of weights do."""
    random = np.random.default_rng(SEED)
    images = random.normal(size=(8, 2, 5, 5)).round(3)  # [channel, height, width]
    size = 5 if pad == "true" else 3
    shown = images if layout == "cudnn" else images.transpose(0, 2, 3, 1)
    folder = made(tmp_path / layout, NDL, "maps:most:average", shown)
    text = NDL_TEXT.replace("@LAYOUT@", layout).replace("@PAD@", pad)
    (folder / "net.ndl").write_text(text.replace("@FLAT@", str(3 * (size - 2) ** 2)))
    answer, _ = run(folder)
    assert (answer.code, answer.complaints) == (0, ())
    weights = learnt(folder).reshape(-1)
    if layout == "legacy":
        kernels = weights.reshape(2, 3, 3, 3)  # [channel, height, width, map]
    else:
        kernels = weights.reshape(3, 2, 3, 3).transpose(1, 2, 3, 0)
    padded = np.pad(images, ((0, 0), (0, 0), (1, 1), (1, 1))) if pad == "true" else images
    maps = np.zeros((8, size, size, 3))
    for v, u in np.ndindex(3, 3):
        window = padded[:, :, v : v + size, u : u + size]
        maps += np.einsum("ncyx,cm->nyxm", window, kernels[:, v, u])
    most = np.max(_corners(maps), axis=0)
    for name, values in (("maps", maps), ("most", most), ("average", np.mean(_corners(most), 0))):
        expected = values if layout == "legacy" else values.transpose(0, 3, 1, 2)
        found = numbers(folder / "out" / f"told.{name}").reshape(expected.shape)
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-13)


def _corners(values: np.ndarray[Any, Any]) -> list[np.ndarray[Any, Any]]:
    """The four cells of each window of 2 x 2, with a step of 1."""
    height, width = values.shape[1] - 1, values.shape[2] - 1
    return [values[:, y : y + height, x : x + width] for y, x in np.ndindex(2, 2)]


STORED = [
    StoredNode(
        "Convolution",
        "c",
        (),
        (),
        {
            "kernelShape": (3, 4, 2),
            "mapCount": (5,),
            "strideShape": (1, 2, 2),
            "dimSharing": (True,),
            "dimPadding": (True, False, False),
            "dimPadLower": (0, 1, 0),
            "dimPadUpper": (0,),
            "pool": "none",
            "imageLayout": "CHW",
            "maxTempMemSizeInSamples": 7,
            "transpose": True,
        },
    ),
    StoredNode(
        "AveragePooling",
        "p",
        (),
        (),
        {
            "windowWidth": 2,
            "imageLayout": "HWC",
            "windowHeight": 3,
            "horizontalSubsample": 4,
            "verticalSubsample": 5,
        },
    ),
    StoredNode("Reshape", "r", (), (), {"beginAxis": 1, "endAxis": 3, "shape": (0, 2)}),
]


def test_files_hold_all_of_it() -> None:
    data = written_model(StoredModel(STORED, {}, "float32"))
    assert list(read_model(data).nodes) == STORED


def test_a_second_reader_reads_a_convolution() -> None:
    given = Second(written_model(StoredModel(STORED[:1], {}, "float32")))
    given.at = given.data.index("Convolution\0c\0".encode("utf-16-le")) + 28
    shapes = [[given.number("I") for _ in range(given.number("I"))] for _ in range(3)]
    assert shapes == [[3, 4, 2], [5], [1, 2, 2]]
    truths = [[given.number("?") for _ in range(given.number("Q"))] for _ in range(2)]
    assert truths == [[True], [True, False, False]]
    pads = [[given.number("I") for _ in range(given.number("I"))] for _ in range(2)]
    assert pads == [[0, 1, 0], [0]]
    assert [given.number("i"), given.number("i"), given.number("Q")] == [0, 1, 7]
    assert [given.number("?"), given.number("?")] == [True, False]
    assert given.word() == "ENodeList"
