"""The functions of NDL as a table: their names, arguments, options and releases; builds nothing.

CNTK ignores options that a function does not list; all functions have `tag`.
"""

from __future__ import annotations

from typing import NamedTuple

from netsharp_lsp.cntk.versions import ALWAYS, FIRST, Releases

#: How an option is read.
WHOLE, REAL, TRUTH, WORD, SHAPE, TRUTHS = "whole", "real", "truth", "word", "shape", "truths"
#: Any number of arguments, from the first number on.
ANY = 10**6


class Choice(NamedTuple):
    """An option: how it is read, its default, and the releases that have it."""

    kind: str
    default: str
    known: Releases = ALWAYS


class NdlFunction(NamedTuple):
    """A function.  `form` selects how its node is created, `fewest` and `most` count its positional
    arguments, `signature` names them.
    """

    name: str
    short: str
    operation: str
    signature: tuple[str, ...]
    fewest: int
    most: int
    form: str = "plain"
    options: dict[str, Choice] = {}  # noqa: RUF012 - a table row, which is not modified
    known: Releases = ALWAYS


_AXIS = {
    "dynamicAxis": Choice(WORD, ""),
    "precision": Choice(WORD, "", Releases("2.7")),
}
_LEGACY = {"imageLayout": Choice(WORD, "HWC")}
_CUDNN = {"imageLayout": Choice(WORD, "CHW")}
_PARAMETER = {
    "init": Choice(WORD, "uniform"),
    "initValueScale": Choice(REAL, "1"),
    "value": Choice(REAL, "0"),
    "initFromFilePath": Choice(WORD, ""),
    "initOnCPUOnly": Choice(TRUTH, "false"),
    "randomSeed": Choice(WHOLE, "-1"),
    "learningRateMultiplier": Choice(REAL, "1"),
    "needGradient": Choice(TRUTH, "true"),
    "needsGradient": Choice(TRUTH, "true"),
    "computeGradient": Choice(TRUTH, "true"),
    "kernelWidth": Choice(WHOLE, "0"),
    "kernelHeight": Choice(WHOLE, "0"),
}
_WINDOWS = {
    "stride": Choice(SHAPE, "1"),
    "autoPadding": Choice(TRUTHS, "true"),
    "lowerPad": Choice(SHAPE, "0"),
    "upperPad": Choice(SHAPE, "0"),
    **_CUDNN,
}
_CONVOLUTION = {
    "mapCount": Choice(SHAPE, "0"),
    "sharing": Choice(TRUTHS, "true"),
    "transpose": Choice(TRUTH, "false"),
    "outputShape": Choice(SHAPE, "0", Releases("2.0")),
    "maxTempMemSizeInSamples": Choice(WHOLE, "0"),
    "zeroPadding": Choice(TRUTH, "false"),
    **_WINDOWS,
}
_DELAY = {
    "timeStep": Choice(WHOLE, "1"),
    "delayTime": Choice(WHOLE, "1"),
    "defaultHiddenActivity": Choice(REAL, "0.1"),
}
_RESHAPE = {
    "imageWidth": Choice(WHOLE, "0"),
    "imageHeight": Choice(WHOLE, "0"),
    "imageChannels": Choice(WHOLE, "0"),
    **_LEGACY,
}
_NORMALIZATION = {
    "spatial": Choice(TRUTH, "false"),
    "normalizationTimeConstant": Choice(REAL, "0"),
    "blendTimeConstant": Choice(REAL, "0"),
    "epsilon": Choice(REAL, "0.00001"),
    "engine": Choice(WORD, "cntk"),
    "disableRegularization": Choice(TRUTH, "false", Releases("2.3")),
    **_CUDNN,
}


def _row(
    names: str,
    signature: str,
    form: str = "plain",
    options: dict[str, Choice] | None = None,
    since: str = FIRST,
) -> NdlFunction:
    """Return a row: `Name Short=Operation` and the arguments; `?` may be absent, `*` be
    repeated.
    """
    written, _, operation = names.partition("=")
    name, _, short = written.partition(" ")
    words = signature.split()
    fewest = sum(not word.endswith(("?", "*")) for word in words)
    most = ANY if signature.endswith("*") else len(words)
    stripped = tuple(word.rstrip("?*") for word in words)
    known = Releases(since) if since != FIRST else ALWAYS
    operation = operation or name
    return NdlFunction(name, short, operation, stripped, fewest, most, form, options or {}, known)


_POOLED = "input windowWidth windowHeight horizontalSubsample verticalSubsample"
_FUNCTIONS = (
    _row("InputValue Input", "dim dims*", "input", _AXIS),
    _row("SparseInputValue SparseInput", "dim dims*", "input", _AXIS),
    _row(
        "ImageInput Image=InputValue",
        "imageWidth imageHeight imageChannels numImages?",
        "image",
        _LEGACY | _AXIS,
    ),
    _row(
        "SparseImageInput SparseImage=SparseInputValue",
        "imageWidth imageHeight imageChannels numImages?",
        "image",
        _LEGACY | _AXIS,
    ),
    _row("LearnableParameter Parameter", "dim dims*", "parameter", _PARAMETER),
    _row(
        "ImageParameter=LearnableParameter",
        "width height channels dims*",
        "image parameter",
        _PARAMETER | _LEGACY,
    ),
    _row(
        "Constant Const=LearnableParameter",
        "value",
        "constant",
        {"rows": Choice(WHOLE, "1"), "cols": Choice(WHOLE, "1")},
    ),
    _row("RowSlice=Slice", "startRow numRows input", "row slice"),
    _row("RowRepeat", "input numRepeats", "row repeat"),
    _row("RowStack", "input inputs*"),
    _row("Diagonal", "input", "early"),
    _row("Reshape=LegacyReshape", "input numRows", "reshape", _RESHAPE),
    _row("PastValue Delay", "rows cols? input", "delay", _DELAY),
    _row("FutureValue", "rows cols? input", "delay", _DELAY),
    _row(
        "Convolution Convolve",
        "weight input kernelWidth kernelHeight? outputChannels? horizontalSubsample?"
        " verticalSubsample?",
        "convolution",
        _CONVOLUTION,
    ),
    _row("Pooling", "input poolKind kernelShape", "pooling", _WINDOWS),
    _row("MaxUnpooling", "input mask kernelShape", "unpooling", _WINDOWS),
    _row("MaxPooling", _POOLED, "old pooling", _LEGACY),
    _row("AveragePooling", _POOLED, "old pooling", _LEGACY),
    _row(
        "BatchNormalization",
        "input scale bias runMean runVariance runCount?",
        "normalization",
        _NORMALIZATION,
    ),
    _row("ReconcileDynamicAxis", "data layout"),
    _row("Crop", "x y offsetX? offsetY?", "crop"),
    _row("ROIPooling", "input ROIs", "missing"),
    _row("Abs", "x"),
    _row(
        "ClassBasedCrossEntropyWithSoftmax CBCEWithSM",
        "labels input weight classLogProbabilities",
    ),
    _row("ClassificationError ErrorPrediction", "labels out topN?"),
    _row("Clip", "minValue maxValue x"),
    _row("ColumnElementTimes=ElementTimes", "left right"),
    _row("CosDistance CosDist", "left right"),
    _row(
        "CosDistanceWithNegativeSamples CosWithNegSamples",
        "left right numShifts numNegativeSamples",
    ),
    _row("Cosine Cos", "x"),
    _row("CrossEntropy", "labels probabilities"),
    _row("CrossEntropyWithSoftmax CEWithSM", "labels out"),
    _row("DiagTimes", "diagonal matrix"),
    _row("Dropout", "x"),
    _row("DummyCriterion", "objectives derivatives prediction"),
    _row("ElementTimes", "left right"),
    _row("Equal", "left right"),
    _row("Exp", "x"),
    _row("Floor", "x"),
    _row("Greater", "left right"),
    _row("GreaterEqual", "left right"),
    _row("Hardmax", "x"),
    _row("If", "condition then else"),
    _row("InvStdDev", "data"),
    _row("KhatriRaoProduct ColumnwiseCrossProduct", "left right"),
    _row("Less", "left right"),
    _row("LessEqual", "left right"),
    _row("Log", "x"),
    _row("LogPlus", "left right"),
    _row("LogSoftmax", "x"),
    _row("Logistic", "labels probabilities weight?"),
    _row("LookupTable", "table index"),
    _row("MatrixL1Reg L1Reg", "matrix"),
    _row("MatrixL2Reg L2Reg", "matrix"),
    _row("Mean", "data"),
    _row("Minus", "left right"),
    _row("Negate", "x"),
    _row("NotEqual", "left right"),
    _row("PerDimMeanVarDeNormalization PerDimMVDeNorm", "data mean invStdDev"),
    _row("PerDimMeanVarNormalization PerDimMVNorm", "data mean invStdDev"),
    _row("Plus", "left right"),
    _row("Reciprocal", "x"),
    _row("RectifiedLinear ReLU", "x"),
    _row("RowElementTimes=ElementTimes", "left right"),
    _row("Scale=ElementTimes", "factor matrix"),
    _row("SequenceWithSoftmax SEWithSM", "labels out hmmScores"),
    _row("Sigmoid", "x"),
    _row("Sin", "x"),
    _row("Softmax", "x"),
    _row("Sqrt", "x"),
    _row("SquareError SE", "left right"),
    _row("SumColumnElements", "x"),
    _row("SumElements", "x"),
    _row("Tanh", "x"),
    _row("Times", "left right"),
    _row("Transpose=TransposeDimensions", "matrix"),
    _row("TransposeTimes", "left right"),
    # Of later releases.  "missing" are those that they parse and cannot build.
    _row("Pass", "x", since="2.0"),
    _row("EditDistanceError", "left right", since="2.0"),
    _row("ForwardBackward", "graph features", since="2.0"),
    _row("LabelsToGraph", "labels", since="2.0"),
    _row("Cosh", "x", since="2.1"),
    _row("Sinh", "x", since="2.1"),
    _row("Acos", "x", since="2.2"),
    _row("Asin", "x", since="2.2"),
    _row("Asinh", "x", "missing", since="2.3"),
    _row("Atanh", "x", "missing", since="2.3"),
    _row("StopGradient", "x", since="2.4"),
    _row(
        "LatticeSequenceWithSoftmax", "labels evaluation scaledLogLikelihood lattice", since="2.4"
    ),
    _row("Atan", "x", "missing", since="2.6"),
    _row("Tan", "x", "missing", since="2.6"),
    _row("Cast", "x", "cast", {"precision": Choice(WORD, "")}, since="2.7"),
)
#: Every function by its canonical name.
FUNCTIONS = {function.name: function for function in _FUNCTIONS}
_NAMES = {
    name.lower(): function
    for function in _FUNCTIONS
    for name in (function.name, function.short)
    if name
}
#: Options that only one of the two forms of a convolution has.
ONLY_2D = frozenset(("zeroPadding",))
ONLY_ND = frozenset(
    (
        *("mapCount", "stride", "sharing", "autoPadding", "lowerPad", "upperPad", "transpose"),
        "outputShape",
    )
)
#: From this number of arguments on, only releases from 2.0 take a call.
COUNTS = {"BatchNormalization": (6, Releases("2.0"))}
#: The groups of the arrays of a network, by their names in lower case.
GROUP_ARRAYS = {
    "featurenodes": "feature",
    "labelnodes": "label",
    "criterionnodes": "criterion",
    "evalnodes": "evaluation",
    "outputnodes": "output",
    "criterianodes": "criterion",
}


def function_of(name: str) -> NdlFunction | None:
    """Return the function of a name or short form, in any case."""
    return _NAMES.get(name.lower())


def is_reserved(name: str) -> bool:
    """Return whether every release has a function of a name, so that it is reserved."""
    function = function_of(name)
    return function is not None and function.known == ALWAYS
