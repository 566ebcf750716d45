"""The table of the fields of each type of node in model files, by the version of the model.

A row is a list of fields; where the file has a node's parts in another form, two functions of
`parts` convert them when they are read and written.
"""

from __future__ import annotations

from typing import NamedTuple

from netsharp_engine.cntk.stored import parts
from netsharp_engine.cntk.stored.binary import BinaryReading, BinaryWriting
from netsharp_engine.cntk.stored.fields import (
    DOUBLE,
    OLD_SHAPE,
    OWN,
    REAL,
    SEED,
    SHAPE,
    SIZE,
    TEXT,
    TRUTH,
    TRUTHS,
    UNSIGNED,
    WHOLE,
    Codec,
    Field,
    NodePlace,
    read_fields,
    words,
    write_fields,
)
from netsharp_engine.cntk.stored.matrices import MATRIX
from netsharp_engine.cntk.stored.old_normalization import OLD
from netsharp_engine.cntk.stored.values import EPSILON, StoredNode


class Attributes(NamedTuple):
    """The functions that write and read the attributes of a type."""

    fields: tuple[Field, ...] = ()
    made: parts.Made = parts.attributes
    spread: parts.Spread = parts.spread

    def write(self, out: BinaryWriting, node: StoredNode, version: int) -> None:
        """Write the fields of a node that a version has."""
        write_fields(out, self.fields, self.spread(node), NodePlace(version, node.dtype, node.name))

    def read(self, given: BinaryReading, node: StoredNode, version: int) -> StoredNode:
        """Return a node with the attributes that a version has."""
        place = NodePlace(version, node.dtype, node.name)
        return self.made(given, node, read_fields(given, self.fields, place))


def _windows(pool: str, backwards: bool, *further: Field) -> Attributes:
    """Return the attributes of kernels that move over images, with the defaults of a node that
    lacks some.
    """
    return Attributes(
        (
            Field(".oldSides", Codec(parts.read_old_sides, parts.write_old_sides), until=4),
            Field("kernelShape", SHAPE, (1,), 5),
            Field("mapCount", SHAPE, (1,), 5),
            Field("strideShape", SHAPE, (1,), 5),
            Field("dimSharing", TRUTHS, (True,), 5),
            Field("dimPadding", TRUTHS, (False,), 5),
            Field("dimPadLower", SHAPE, (0,), 5),
            Field("dimPadUpper", SHAPE, (0,), 5),
            Field("pool", words(parts.KINDS), pool, 5),
            Field("imageLayout", parts.LAYOUT, "CHW", 5),
            Field("maxTempMemSizeInSamples", SIZE, 0, 5),
            Field("transpose", TRUTH, backwards, 9),
            Field("dimOutputShape", SHAPE, (0,), 20, quiet=True),
            Field("ceilOut", TRUTH, False, 21, quiet=True),
            Field("poolIncludePad", TRUTH, False, 23, quiet=True),
            *further,
        ),
        parts.images,
        parts.spread_images,
    )


_PLAIN = Attributes()
_PRODUCT = (
    Field("outputRank", SIZE, 1, 3),
    Field("inferInputRankToMap", WHOLE, -1, 12),
)
_RANDOM = (Field(".rngSeed", SEED, 0, 16), Field(".rngOffset", SIZE, 0, 16))
_SAMPLES = (Field("allowDuplicates", TRUTH, False), Field("sizeOfSampledSet", SIZE, 1), *_RANDOM)
_STATISTIC = Attributes(
    (Field(".computed", TRUTH, True), Field(".matrix", MATRIX)), parts.statistic
)
_INPUT = Attributes(
    (
        Field(".rows", SIZE, 0),
        Field(".columns", SIZE, 0),
        Field(".shape", OLD_SHAPE),
        Field(".axes", Codec(parts.read_axes, parts.write_axes), ("",), 8),
        Field(".multiplier", REAL, 0.0, 10),
    ),
    parts.input_value,
    parts.spread_input,
)
_DELAY = Attributes(
    (
        Field("timeStep", WHOLE, 1),
        Field(".rows", SIZE, 0, until=3),
        Field(".columns", SIZE, 0, until=3),
        Field(".shape", SHAPE, since=4),
        Field("defaultHiddenActivation", OWN, 0.1, 2),  # CNTK's DEFAULT_HIDDEN_ACTIVATION
    ),
    parts.delay,
    parts.spread_delay,
)
_SLICE = Attributes(
    (Field(".slices", Codec(parts.read_slices, parts.write_slices)),),
    parts.ranges,
    parts.spread_slice,
)
_SWAP = Attributes(
    (Field(".axes", Codec(parts.read_swap, parts.write_swap), (1, 2), 3),),
    parts.swap,
    parts.spread_swap,
)
_OLD_POOLING = Attributes(
    (
        Field("windowWidth", UNSIGNED),
        Field("imageLayout", parts.OLD_LAYOUT, "HWC"),
        Field("windowHeight", SIZE),
        Field("horizontalSubsample", SIZE),
        Field("verticalSubsample", SIZE),
    )
)
#: Models before version 26 have no scale: CNTK, ComputationNetworkLib/ConvolutionalNodes.h, loads
#: 1/16, that of Fast R-CNN, and a maximum as the kind.
_REGIONS = (
    Field("roiOutputShape", SHAPE),
    Field(".pool", WHOLE, 1, 26),
    Field("featureScale", DOUBLE, 0.0625, 26),
)
_NORMALIZATION = Attributes(
    (
        Field(".old", OLD, until=5),
        Field("spatial", TRUTH, since=6),
        Field("normalizationTimeConstant", DOUBLE, 0.0, 6),
        Field("blendTimeConstant", DOUBLE, 0.0, 6),
        Field("imageLayout", parts.LAYOUT, "CHW", 6),
        Field(".batches", SIZE, 0, 6, 12),
        Field(".samples", SIZE, 0, 13, 18),
        Field(".none", TRUTH, True, 19, 19),
        Field(".samples", SIZE, 0, 20),
        Field("epsilon", DOUBLE, EPSILON, 6),
        Field("useCntkEngine", TRUTH, True, 6),
    ),
    parts.normalization,
    parts.spread_normalization,
)
_STACK = Attributes(
    (
        Field("bidirectional", Codec(lambda g, p: bool(g.size()), lambda o, v, p: o.size(v)), 0),
        Field("numLayers", SIZE, 1),
        Field("hiddenDims", SIZE),
        Field("recurrentOp", TEXT, "lstm"),
        Field("axis", WHOLE, -1, 14),
    ),
    parts.stack,
    parts.spread_stack,
)
_TRACE = Attributes(
    (
        Field("say", TEXT, ""),
        Field("logFirst", SIZE, 10),
        Field("logFrequency", SIZE, 100),
        Field("logGradientToo", TRUTH, False),
        *(
            Field(f".printed{at}", TEXT if isinstance(one, str) else TRUTH, one)
            for at, one in enumerate(parts.PRINTED)
        ),
        Field("onlyUpToRow", SIZE, parts.MOST),
        Field("onlyUpToT", SIZE, parts.MOST),
    )
)
_WITHOUT = (
    *("Sigmoid", "Tanh", "RectifiedLinear", "Exp", "Log", "Negate", "Abs", "Sqrt", "Reciprocal"),
    *("Softmax", "LogSoftmax", "Pass", "Plus", "Minus", "ElementTimes", "StableSigmoid"),
    *("PerDimMeanVarNormalization", "CrossEntropyWithSoftmax", "ClassificationError"),
    *("SquareError", "Hardmax", "Floor", "Sin", "Cosine", "If", "Clip", "SumElements"),
    *("Less", "LessEqual", "Equal", "NotEqual", "GreaterEqual", "Greater", "SumColumnElements"),
    *("DynamicAxis", "PackedIndex", "GatherPacked", "ScatterPacked", "ReconcileDynamicAxis"),
    *("LogPlus", "PerDimMeanVarDeNormalization", "LookupTable", "DiagTimes", "KhatriRaoProduct"),
    *("CosDistance", "CosDistanceWithNegativeSamples", "Diagonal", "CrossEntropy", "Logistic"),
    *("ClassBasedCrossEntropyWithSoftmax", "DummyCriterion", "MatrixL1Reg", "MatrixL2Reg"),
    *(
        "LambdaRank",
        "NDCG1Eval",
        "EpochAccumulator",
        "Acos",
        "Asin",
        "Atan",
        "Tan",
        "Cosh",
        "Sinh",
        "Asinh",
        "Atanh",
    ),
    *("StopGradient", "ExponentialLinearUnit", "Pow", "LabelsToGraph", "SequenceWithSoftmax"),
)
#: Other names of types in files, by what they are called today.
RENAMED = {
    "ErrorPrediction": "ClassificationError",
    "ReconcileMBLayout": "ReconcileDynamicAxis",
    **dict.fromkeys(("ColumnElementTimes", "RowElementTimes", "Scale"), "ElementTimes"),
    "RowSlice": "Slice",
    "Delay": "PastValue",
    "Transpose": "TransposeDimensions",
    "RNN": "OptimizedRNNStack",
    "PerDimMeanVarNormalizationNode": "PerDimMeanVarNormalization",
    "PerDimMeanVarDeNormalizationNode": "PerDimMeanVarDeNormalization",
}
TYPES: dict[str, Attributes] = {
    "LearnableParameter": Attributes(
        (
            Field("learningRateMultiplier", REAL, 1.0, 3),
            Field(".shape", SHAPE, since=3),
            Field(".updated", TRUTH, True, until=2),
            Field(
                ".size", Codec(parts.read_size_of_parameter, parts.write_size_of_parameter), until=2
            ),
            Field(".matrix", MATRIX),
        ),
        parts.old_parameter,
        parts.spread_parameter,
    ),
    **dict.fromkeys(("InputValue", "SparseInputValue"), _INPUT),
    **dict.fromkeys(("Times", "TransposeTimes"), Attributes(_PRODUCT)),
    "QuantizedTimes": Attributes(
        (*_PRODUCT, Field("bitSmoothingA", SIZE, 0), Field("bitSmoothingB", SIZE, 0))
    ),
    **dict.fromkeys(("PastValue", "FutureValue"), _DELAY),
    "Slice": _SLICE,
    "RowStack": Attributes((Field("alongAxis", WHOLE, 1, 3, quiet=True),)),
    "ReduceElements": Attributes(
        (
            Field("axis", Codec(parts.read_reduced, parts.write_reduced), 0),
            Field("reductionOp", TEXT),
            Field("keepDimensions", TRUTH, True, 24, quiet=True),
        )
    ),
    "TransposeDimensions": _SWAP,
    "Where": Attributes((Field(".axis", TEXT, "WhereNodeAxis", 11),)),
    "RowRepeat": Attributes((Field("numRepeats", SIZE),)),
    "LegacyReshape": Attributes(
        (Field("numRows", SIZE), Field(".image", OLD_SHAPE)), parts.rows, parts.spread_rows
    ),
    "Reshape": Attributes(
        (Field("beginAxis", WHOLE, 0), Field("endAxis", WHOLE, 0), Field("shape", SHAPE))
    ),
    "Convolution": _windows(
        "none",
        False,
        Field(".planar", TRUTH, False, 5),
        Field("dimDilation", SHAPE, (1,), 18, quiet=True),
    ),
    "Pooling": _windows("none", False),
    "MaxUnpooling": _windows("max", True),
    **dict.fromkeys(("MaxPooling", "AveragePooling"), _OLD_POOLING),
    "ROIPooling": Attributes(_REGIONS),
    "Crop": Attributes(
        tuple(Field(name, DOUBLE, parts.FOUND) for name in parts.OFFSETS), parts.crop
    ),
    "BatchNormalization": _NORMALIZATION,
    "Dropout": Attributes(_RANDOM),
    **dict.fromkeys(("RandomSample", "RandomSampleInclusionFrequency"), Attributes(_SAMPLES)),
    "Mean": _STATISTIC,
    "InvStdDev": _STATISTIC,
    "OptimizedRNNStack": _STACK,
    "Trace": _TRACE,
    "EnvironmentInput": Attributes((Field("propertyName", TEXT),)),
    "NoiseContrastiveEstimation": Attributes(
        (Field(".mode", Codec(parts.read_mode, parts.write_mode), parts.TRAINED),)
    ),
    **dict.fromkeys(_WITHOUT, _PLAIN),
}


def row_of(operation: str) -> Attributes | None:
    """Return the row of a type, under any of its names in files; None for an unknown one."""
    return TYPES.get(RENAMED.get(operation, operation))
