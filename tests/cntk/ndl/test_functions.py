"""Each of the 93 functions and 22 short forms builds its node, with a shape checked by hand."""

from __future__ import annotations

import re

import pytest

from netsharp_lsp.cntk.configuration.sources import read_text
from netsharp_lsp.cntk.ndl.containers import program_of_file
from netsharp_lsp.cntk.ndl.functions import FUNCTIONS, function_of
from netsharp_lsp.cntk.ndl.program import evaluate_program
from netsharp_lsp.cntk.networks.node_types import NODE_TYPES
from tests.cntk.ndl.building import faults, network, node

#: What the calls below are made of; each takes what it names.
GIVEN = {
    "v": "Input(4)",
    "w": "Input(4)",
    "one": "Input(1)",
    "two": "Input(2)",
    "small": "Input(4, 4, 3)",
    "picture": "ImageInput(8, 6, 3, imageLayout = cudnn)",
    "old": "ImageInput(8, 6, 3)",
    "pooled": "Pooling(picture, max, {2, 2}, stride = {2, 2}, autoPadding = false)",
    "M": "Parameter(4, 3)",
    "S": "Parameter(3, 3)",
    "W": "Parameter(4, 9)",
    "c": "Parameter(4, 1)",
    "d": "Parameter(4)",
    "E": "Parameter(5, 2)",
    "K": "Parameter(7, 0)",
    "A": "Parameter(2, 0)",
    "shifts": "Constant(1)",
}


def text_of(call: str) -> str:
    """A network of one call, after everything that it needs."""
    needed: dict[str, str] = {}
    waiting = [call]
    while waiting:
        for name in re.findall(r"\w+", waiting.pop()):
            if name in GIVEN and name not in needed:
                needed[name] = GIVEN[name]
                waiting.append(GIVEN[name])
    lines = [f"{name} = {needed[name]}\n" for name in GIVEN if name in needed]
    return "".join((*lines, f"x = {call}\n"))


#: What the program knows by name and cannot build: its table of nodes lacks them.
UNBUILT = ("ROIPooling", "Asinh", "Atanh", "Atan", "Tan")
#: A call, and the shape of its node in CNTK's order.
CALLS = [
    ("Input(4)", (4,)),
    *((f"{name}(v)", (4,)) for name in ("Pass", "Cosh", "Sinh", "Acos", "Asin", "StopGradient")),
    ("Cast(v, precision = double)", (4,)),
    ("LabelsToGraph(v)", (4,)),
    ("EditDistanceError(v, w)", (1,)),
    ("ForwardBackward(v, w)", (1,)),
    ("LatticeSequenceWithSoftmax(v, w, v, w)", (1,)),
    ("InputValue(4, 3)", (4, 3)),
    ("SparseInput(9)", (9,)),
    ("SparseInputValue(9)", (9,)),
    ("ImageInput(8, 6, 3)", (3, 8, 6)),
    ("Image(8, 6, 3, imageLayout = CHW)", (8, 6, 3)),
    ("ImageInput(8, 6, 3, 1, imageLayout = legacy)", (3, 8, 6)),
    ("SparseImageInput(8, 6, 3)", (3, 8, 6)),
    ('SparseImage(8, 6, 3, imageLayout = "cudnn")', (8, 6, 3)),
    ("LearnableParameter(4, 3)", (4, 3)),
    ("Parameter(4)", (4,)),
    ("Parameter(4, 3, 2)", (4, 3, 2)),
    ("ImageParameter(5, 4, 3)", (3, 5, 4)),
    ("ImageParameter(7, 5, 4, 3, imageLayout = CHW)", (7, 5, 4, 3)),
    ("ImageParameter(7, 5, 4, 3)", (7, 3, 5, 4)),
    ("Constant(3)", (1, 1)),
    ("Const(3, rows = 2, cols = 5)", (2, 5)),
    ("RowSlice(1, 2, v)", (2,)),
    ("RowRepeat(v, 3)", (12,)),
    ("RowStack(v, w, one)", (9,)),
    ("Diagonal(S)", (1, 3)),
    ("Reshape(v, 2)", (2,)),
    ("Reshape(v, 4, imageWidth = 2, imageHeight = 2, imageChannels = 1)", (1, 2, 2)),
    (
        "Reshape(v, 4, imageWidth = 2, imageHeight = 2, imageChannels = 1, imageLayout = CHW)",
        (2, 2, 1),
    ),
    ("PastValue(4, v)", (4,)),
    ("Delay(4, 1, v, delayTime = 2)", (4,)),
    ("FutureValue(4, v, timeStep = 3)", (4,)),
    ("Convolution(K, old, 3, 3, 7, 1, 1)", (7, 6, 4)),
    (
        "Convolve(K, picture, 3, 3, 7, 1, 1, zeroPadding = true, imageLayout = cudnn)",
        (8, 6, 7),
    ),
    (
        "Convolution(K, picture, {3, 3, 3}, mapCount = 7, stride = {1, 1, 3},"
        " autoPadding = {true, true, false})",
        (8, 6, 7),
    ),
    ("Pooling(picture, max, {2, 2}, stride = {2, 2}, autoPadding = false)", (4, 3, 3)),
    ('Pooling(picture, "average", 2, stride = 2)', (4, 6, 3)),
    (
        "MaxUnpooling(pooled, picture, {2, 2}, stride = {2, 2}, autoPadding = false)",
        (8, 6, 3),
    ),
    ("MaxPooling(old, 2, 2, 2, 2)", (3, 4, 3)),
    ("AveragePooling(picture, 2, 2, 2, 2, imageLayout = cudnn)", (4, 3, 3)),
    ("BatchNormalization(v, c, c, c, c)", (4,)),
    ("ReconcileDynamicAxis(v, w)", (4,)),
    ("Crop(picture, small, 1, 1)", (4, 4, 3)),
    ("Abs(v)", (4,)),
    ("ClassBasedCrossEntropyWithSoftmax(v, v, W, two)", (1,)),
    ("CBCEWithSM(v, v, W, two)", (1,)),
    ("ClassificationError(v, w)", (1,)),
    ("ErrorPrediction(v, w, shifts)", (1,)),
    ("Clip(shifts, shifts, v)", (4, 1)),
    ("ColumnElementTimes(v, w)", (4,)),
    ("CosDistance(v, w)", (1,)),
    ("CosDist(v, w)", (1,)),
    ("CosDistanceWithNegativeSamples(v, w, shifts, shifts)", (2,)),
    ("CosWithNegSamples(v, w, shifts, shifts)", (2,)),
    ("Cosine(v)", (4,)),
    ("Cos(v)", (4,)),
    ("CrossEntropy(v, w)", (1,)),
    ("CrossEntropyWithSoftmax(v, w)", (1,)),
    ("CEWithSM(v, w)", (1,)),
    ("DiagTimes(d, v)", (4,)),
    ("Dropout(v)", (4,)),
    ("DummyCriterion(one, v, w)", (1,)),
    ("ElementTimes(v, w)", (4,)),
    ("Equal(v, w)", (4,)),
    ("Exp(v)", (4,)),
    ("Floor(v)", (4,)),
    ("Greater(v, w)", (4,)),
    ("GreaterEqual(v, w)", (4,)),
    ("Hardmax(v)", (4,)),
    ("If(v, w, w)", (4,)),
    ("InvStdDev(v)", (4,)),
    ("KhatriRaoProduct(v, w)", (16,)),
    ("ColumnwiseCrossProduct(v, w)", (16,)),
    ("Less(v, w)", (4,)),
    ("LessEqual(v, w)", (4,)),
    ("Log(v)", (4,)),
    ("LogPlus(v, w)", (4,)),
    ("LogSoftmax(v)", (4,)),
    ("Logistic(one, one)", (1,)),
    ("LookupTable(E, v)", (10,)),
    ("MatrixL1Reg(M)", (1,)),
    ("L1Reg(M)", (1,)),
    ("MatrixL2Reg(M)", (1,)),
    ("L2Reg(M)", (1,)),
    ("Mean(v)", (4,)),
    ("Minus(v, w)", (4,)),
    ("Negate(v)", (4,)),
    ("NotEqual(v, w)", (4,)),
    ("PerDimMeanVarDeNormalization(v, d, d)", (4,)),
    ("PerDimMVDeNorm(v, d, d)", (4,)),
    ("PerDimMeanVarNormalization(v, d, d)", (4,)),
    ("PerDimMVNorm(v, d, d)", (4,)),
    ("Plus(v, c)", (4, 1)),
    ("Reciprocal(v)", (4,)),
    ("RectifiedLinear(v)", (4,)),
    ("ReLU(v)", (4,)),
    ("RowElementTimes(one, v)", (4,)),
    ("Scale(shifts, v)", (4, 1)),
    ("SequenceWithSoftmax(v, w, w)", (1,)),
    ("SEWithSM(v, w, w)", (1,)),
    ("Sigmoid(v)", (4,)),
    ("Sin(v)", (4,)),
    ("Softmax(v)", (4,)),
    ("Sqrt(v)", (4,)),
    ("SquareError(v, w)", (1,)),
    ("SE(v, w)", (1,)),
    ("SumColumnElements(v)", (1,)),
    ("SumElements(v)", (1,)),
    ("Tanh(v)", (4,)),
    ("Times(A, v)", (2,)),
    ("Transpose(M)", (3, 4)),
    ("TransposeTimes(M, v)", (3,)),
]


@pytest.mark.parametrize(("call", "shape"), CALLS, ids=[call for call, _ in CALLS])
def test_shape(call: str, shape: tuple[int, ...]) -> None:
    one = node(text_of(call))
    assert one.shape == shape
    name = call.partition("(")[0]
    function = function_of(name)
    assert function is not None
    assert one.operation == function.operation
    assert NODE_TYPES[one.operation].fewest <= len(one.inputs) <= NODE_TYPES[one.operation].most


def test_every_name_is_called() -> None:
    called = {call.partition("(")[0] for call, _ in CALLS} | set(UNBUILT)
    names = {name for one in FUNCTIONS.values() for name in (one.name, one.short) if name}
    assert len(FUNCTIONS) == 93
    assert len(names) == 115
    assert called == names


@pytest.mark.parametrize("name", UNBUILT)
def test_names_that_have_no_constructor(name: str) -> None:
    call = f"{name}(picture, v)" if name == "ROIPooling" else f"{name}(v)"
    assert faults(text_of(call)) == [("no-constructor", call)]


def test_later_releases_count_the_samples_of_a_normalization() -> None:
    source = read_text("a.ndl", text_of("BatchNormalization(v, c, c, c, c)").encode())
    assert not isinstance(source, str)
    program = program_of_file(source)
    first, later = (evaluate_program(program, later=later).network for later in (False, True))
    assert first is not None
    assert later is not None
    assert list(later.nodes) == [*first.nodes, "x.run_sample_count"]
    count = later.nodes["x.run_sample_count"]
    assert later.nodes["x"].inputs[5] is count
    assert (count.shape, count.attributes["learningRateMultiplier"]) == ((1,), 0)
    assert (later.nodes["x"].shape, count.attributes["initValue"]) == ((4,), 0)


PARAMETERS = [
    ("Parameter(4)", {"init": "uniform", "randomSeed": -1, "initValueScale": 1.0}),
    (
        "Parameter(4, init = Gaussian, initValueScale = 2, randomSeed = 3)",
        {"init": "gaussian", "randomSeed": 3, "initValueScale": 2.0},
    ),
    ("Parameter(4, init = henormal)", {"init": "heNormal", "initOnCPUOnly": False}),
    (
        'Parameter(4, init = "fixedValue", value = 1.5e-2)',
        {"init": "fromValue", "initValue": 0.015},
    ),
    ("Parameter(4, init = FixedValue)", {"init": "fromValue", "initValue": 0.0}),
    (
        'Parameter(4, init = fromFile, initFromFilePath = "a/b.txt")',
        {"init": "fromFile", "initFromFilePath": "a/b.txt"},
    ),
    (
        "Parameter(4, init = bilinear, kernelWidth = 3, kernelHeight = 2)",
        {"init": "bilinear", "kernelWidth": 3, "kernelHeight": 2},
    ),
    ("Parameter(4, learningRateMultiplier = 0.5)", {"learningRateMultiplier": 0.5}),
    ("Parameter(4, needGradient = false)", {"learningRateMultiplier": 0.0}),
    (
        "Parameter(4, needsGradient = F, learningRateMultiplier = 2)",
        {"learningRateMultiplier": 0.0},
    ),
    ("Parameter(4, computeGradient = 0)", {"learningRateMultiplier": 0.0}),
    ("Parameter(4, computeGradient = true)", {"learningRateMultiplier": 1.0}),
    ("Constant( -2)", {"init": "fromValue", "initValue": -2.0, "learningRateMultiplier": 0.0}),
    ("Delay(4, v)", {"timeStep": 1, "defaultHiddenActivation": 0.1}),
    ("Delay(4, 1, v, delayTime = 3)", {"timeStep": 3}),
    ("Delay(4, v, timeStep = 2, delayTime = 3)", {"timeStep": 2}),
    ("PastValue(4, v, defaultHiddenActivity = 0)", {"defaultHiddenActivation": 0.0}),
    ("RowSlice(1, 2, v)", {"beginIndex": 1, "endIndex": 3, "axis": 1}),
    (
        "BatchNormalization(v, c, c, c, c, spatial = true, engine = cuDNN, epsilon = 1e-3)",
        {"spatial": True, "useCntkEngine": False, "epsilon": 0.001, "imageLayout": "CHW"},
    ),
    (
        "Convolution(K, picture, 3, 2, 7, 2, 1, imageLayout = CHW)",
        {
            "kernelShape": (3, 2, 3),
            "mapCount": (7,),
            "strideShape": (2, 1, 3),
            "dimPadding": (False, False, False),
            "dimSharing": (True,),
            "imageLayout": "CHW",
        },
    ),
    ("Pooling(picture, Max, {2, 2})", {"pool": "max", "strideShape": (1,), "dimPadding": (True,)}),
]


@pytest.mark.parametrize(("call", "attributes"), PARAMETERS, ids=[it[0] for it in PARAMETERS])
def test_attributes(call: str, attributes: dict[str, object]) -> None:
    one = node(text_of(call))
    assert {key: one.attributes.get(key) for key in attributes} == attributes


def test_names_and_functions_in_any_case() -> None:
    found = network(
        "FEATURES = INPUT(10, TAG = FEATURE)\nw = pARAMETER(2, 10)\nz = times(W, Features)"
    )
    assert [one.name for one in found.nodes["z"].inputs] == ["w", "FEATURES"]
    assert found.groups["feature"] == (found.nodes["FEATURES"],)
