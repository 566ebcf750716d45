"""Networks of CNTK over images in integers: both layouts, normalisation before and after what it
normalises, sums with shortcuts, transposed kernels; each trained by a run, and one by CNTK itself.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import netsharp
from netsharp_compile.bundles import ConvolvedBundle
from netsharp_compile.exporting.model import quantized_model
from netsharp_compile.importing.tensors import tensor_layers
from netsharp_compile.layers import values_of
from tests.cntk.training.experiments import run
from tests.compiling.builds import require_same_bits
from tests.compiling.qdq_files import HAS_RUNTIME
from tests.compiling.test_networks_of_cntk import shares
from tests.compiling.test_qdq import require_near
from tests.conftest import SEED
from tests.readme.test_leaving import MODELS, needs_models

WIDTH, HEIGHT, CHANNELS, CLASSES, ROWS = 6, 5, 2, 3, 120
CONFIGURATION = """\
command = learn
modelPath = "out/net.dnn"
precision = "float"
learn = {
    action = "train"
    BUILDER
    SGD = { maxEpochs = 2 ; minibatchSize = 10 ; learningRatesPerSample = 0.02 }
    reader = { file = "data.ctf" ; input = {
        features = { dim = 60 ; format = "dense" } ; labels = { dim = 3 ; format = "dense" } } }
}
"""
BRAINSCRIPT = """BrainScriptNetworkBuilder = {
        features = Input {(6:5:2)} ; labels = Input {3}
        convolved {maps} = ConvolutionalLayer {maps, (3:3), pad=true, bias=false}
        normal = BatchNormalizationLayer {spatialRank=2, normalizationTimeConstant=50}
        @NETWORK@
        z = LinearLayer {3} (last)
        ce = CrossEntropyWithSoftmax (labels, z)
        featureNodes = (features) ; labelNodes = (labels)
        criterionNodes = (ce) ; outputNodes = (z)
    }"""
NDL = """NDLNetworkBuilder = { networkDescription = "net.ndl" }"""
NDL_TEXT = """load = ndlMacros
run = Net
ndlMacros = [ unused (x) = { y = Tanh (x) } ]
Net = [
    features = ImageInput (6, 5, 2, imageLayout="@LAYOUT@", tag="feature")
    labels = InputValue (3, tag="label")
    W = Parameter (4, 18, init="uniform", initValueScale=2)
    maps = Convolution (W, features, 3, 3, 4, 1, 1, zeroPadding=true, imageLayout="@LAYOUT@")
    sc = Parameter (4, 1, init="fixedValue", value=1.5)
    b = Parameter (4, 1, init="fixedValue", value=0.1)
    m = Parameter (4, 1, init="fixedValue", value=0, learningRateMultiplier=0)
    v = Parameter (4, 1, init="fixedValue", value=0, learningRateMultiplier=0)
    n = @NORMAL@
    y = @FUNCTION@ (n)
    most = MaxPooling (y, 2, 2, 2, 1, imageLayout="@LAYOUT@")
    average = AveragePooling (most, 2, 2, 1, 1, imageLayout="@LAYOUT@")
    U = Parameter (3, 24, init="uniform", initValueScale=1)
    z = Times (U, average)
    ce = CrossEntropyWithSoftmax (labels, z, tag="criterion")
    OutputNodes = (z)
]
"""
#: What follows a convolution in each layout: the older one has no normalisation.
NORMAL = {
    "cudnn": "BatchNormalization (maps, sc, b, m, v, spatial=true, normalizationTimeConstant=50)",
    "legacy": "Plus (maps, b)",
}
#: Networks by what is in them; `last` is what the last layer reads.
NETWORKS = {
    "normalised before a convolution": "last = ReLU (convolved {4} (normal (features)))",
    "normalised before a convolution with a pool behind it": (
        "last = MaxPoolingLayer {(2:2), stride=(2:2)} (ReLU (convolved {4} (normal (features))))"
    ),
    "normalised behind a convolution": "last = Tanh (normal (convolved {4} (features)))",
    "normalised behind an operator": "last = normal (ReLU (convolved {4} (features)))",
    "normalised twice": "last = ReLU (normal (normal (convolved {4} (features))))",
    "normalised element by element": (
        "flat = BatchNormalizationLayer {normalizationTimeConstant=50}\n"
        "        last = Sigmoid (flat (DenseLayer {7, activation=Tanh} (features)))"
    ),
    "a shortcut as it is": (
        "one = ReLU (normal (convolved {4} (features)))\n"
        "        other = BatchNormalizationLayer {spatialRank=2} (convolved {4} (one))\n"
        "        last = ReLU (one + other)"
    ),
    "a shortcut with weights": (
        "one = ReLU (normal (convolved {4} (features)))\n"
        "        side = ConvolutionalLayer {6, (1:1), stride=(2:2), bias=false} (one)\n"
        "        main = ConvolutionalLayer {6, (3:3), pad=true, stride=(2:2)} (one)\n"
        "        last = Tanh (side + BatchNormalizationLayer {spatialRank=2} (main))"
    ),
    "a sum without an operator": (
        "one = ReLU (convolved {2} (features))\n        last = one + features"
    ),
    "transposed kernels": (
        "W = ParameterTensor {(3:3:4:2)}\n"
        "        last = ReLU (ConvolutionTranspose (W, features, (3:3:4), mapDims=2, "
        "stride=(2:2:4), autoPadding=(true:true:false)))"
    ),
    "means and largest values": (
        "one = MaxPoolingLayer {(2:2), stride=(2:2)} (Tanh (normal (convolved {4} (features))))\n"
        "        last = AveragePoolingLayer {(2:2)} (one)"
    ),
}


def images() -> np.ndarray:
    """Images of three kinds, each lighter in one part: [rows, channels, height, width]."""
    chance = np.random.default_rng(SEED)
    found = chance.normal(size=(ROWS, CHANNELS, HEIGHT, WIDTH))
    for row in range(ROWS):
        found[row, :, :, 2 * (row % CLASSES) : 2 * (row % CLASSES) + 2] += 1.5
    return found.round(3)


def trained(folder: Path, builder: str, shown: np.ndarray, text: str = "") -> netsharp.Model:
    """A model that a run made of images as files bring them."""
    labels = ("1 0 0", "0 1 0", "0 0 1")
    lines = [
        f"|labels {labels[row % CLASSES]} |features {' '.join(map(repr, image.tolist()))}\n"
        for row, image in enumerate(shown.reshape(ROWS, -1))
    ]
    (folder / "data.ctf").write_text("".join(lines))
    (folder / "net.ndl").write_text(text)
    (folder / "net.cntk").write_text(CONFIGURATION.replace("BUILDER", builder))
    answer, _ = run(folder)
    assert (answer.code, answer.complaints, answer.reports) == (0, (), ()), answer.reports
    return netsharp.load(folder / "out" / "net.dnn")


def require_the_same(model: netsharp.Model, rows: np.ndarray, folder: Path) -> list[str]:
    """Hold the layers to the network, what integers answer to both, and C to the simulator."""
    layers = tensor_layers(model.graph, model.tensors)
    *_, (_, found) = values_of(layers, rows)
    chances = model.compute(rows)
    assert np.abs(shares(found) - chances).max() < 1e-5
    made = netsharp.compile(model, rows)
    differing = made.simulate(rows).predicted != model.predict(rows).predicted
    assert np.sum(differing) <= max(1, len(rows) * 0.005)
    require_same_bits(made, rows[:12], folder)
    if HAS_RUNTIME:
        require_near(made, rows)
    return [one.name for one in layers]


@pytest.mark.costly
@pytest.mark.parametrize("what", NETWORKS)
def test_a_network_of_brainscript_is_the_same_in_integers(what: str, tmp_path: Path) -> None:
    builder = BRAINSCRIPT.replace("@NETWORK@", NETWORKS[what])
    shown = images()
    model = trained(tmp_path, builder, shown)
    names = require_the_same(model, shown.reshape(ROWS, -1), tmp_path)
    assert names[-1] == "z"
    if what == "a shortcut with weights":
        # Both ways are one sum, and normalisation is in their weights.
        assert len(names) == 3


@pytest.mark.costly
@pytest.mark.parametrize("layout", ["legacy", "cudnn"])
@pytest.mark.parametrize("function", ["RectifiedLinear", "Sigmoid"])
def test_both_layouts_are_compiled(layout: str, function: str, tmp_path: Path) -> None:
    """In the older one channels run fastest, in images, in maps and in weights."""
    shown = images()
    shown = shown if layout == "cudnn" else np.ascontiguousarray(shown.transpose(0, 2, 3, 1))
    text = NDL_TEXT.replace("@LAYOUT@", layout).replace("@FUNCTION@", function)
    model = trained(tmp_path, NDL, shown, text.replace("@NORMAL@", NORMAL[layout]))
    require_the_same(model, shown.reshape(ROWS, -1), tmp_path)
    first, *_ = tensor_layers(model.graph, model.tensors)
    (part,) = first.parts
    # A kernel for each map, and not a matrix.
    assert isinstance(part.bundle, ConvolvedBundle)
    assert part.weights.shape == (4, 3 * 3 * CHANNELS)


@needs_models
@pytest.mark.costly
def test_the_residual_network_that_cntk_wrote_is_compiled(tmp_path: Path) -> None:
    """Twenty layers, 269,914 parameters; shortcuts are padded by constants beside values."""
    model = netsharp.load(MODELS / "cifar10.ResNet.cmf")
    chance = np.random.default_rng(SEED)
    coarse = chance.normal(128, 40, (16, 3, 8, 8)).repeat(4, 2).repeat(4, 3)
    rows = np.clip(coarse + chance.normal(0, 15, coarse.shape), 0, 255).reshape(16, -1)
    layers = tensor_layers(model.graph, model.tensors)
    *_, (_, found) = values_of(layers, rows)
    assert np.abs(shares(found) - model.compute(rows)).max() < 1e-4
    assert [one.name for one in layers][:3] == [
        "z.conv1",
        "z.rn1.r.x.r.x.r.c1",
        "z.rn1.r.x.r.x.r.r",
    ]
    made = netsharp.compile(model, rows)
    same = made.simulate(rows).predicted == model.predict(rows).predicted
    assert np.sum(~same) <= 1
    assert made.report.scratch_bytes < 50_000
    made.write(tmp_path / "device")
    assert (tmp_path / "device" / "net.c").exists()
    if HAS_RUNTIME:
        require_near(made, rows)
        graph = quantized_model(model, made.network).proto.graph
        # Shortcuts are groups of one channel, and no places are numbered but where padding begins.
        assert sum(one.op_type == "Conv" for one in graph.node) == 26
        assert sum(one.op_type == "Gather" for one in graph.node) == 2
