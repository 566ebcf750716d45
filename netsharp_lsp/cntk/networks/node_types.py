"""The table of native node types: inputs, shape rule, attributes, older names, cost.

Knows no language.  What a type does is described in `cntk/library/documentation`.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from netsharp_lsp.cntk.networks import costs
from netsharp_lsp.cntk.networks.node import PARAMETER, elements
from netsharp_lsp.cntk.networks.rules import (
    criteria,
    elementwise,
    images,
    leaves,
    products,
    reshaping,
    sequences,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from netsharp_lsp.cntk.networks.node import Node

    Rule = Callable[[Node, bool], None]
    #: Multiply-adds of a node, all of whose shapes are known.
    Cost = Callable[[Node], int]

#: How an attribute is read; one that ends in `?` may be absent.
SHAPE, TRUTHS, WHOLE, REAL, TEXT, TRUTH = "shape", "truths", "whole", "real", "text", "truth"
#: Any number of inputs, from one on.
ANY = 10**6


class NodeType(NamedTuple):
    """A native node type: the number of its inputs, the rule of its shape, the types of its
    attributes, its older names, its multiply-adds if it has any, and the release that added it
    unless it is the first.
    """

    fewest: int
    most: int
    rule: Rule
    attributes: Mapping[str, str] = MappingProxyType({})
    aliases: tuple[str, ...] = ()
    cost: Cost | None = None
    since: str = ""


def _unary(rule: Rule, **attributes: str) -> NodeType:
    return NodeType(1, 1, rule, attributes)


def _binary(rule: Rule, **attributes: str) -> NodeType:
    return NodeType(2, 2, rule, attributes)


def _later(since: str) -> NodeType:
    """Return an element-wise type of a later release."""
    return NodeType(1, 1, elementwise.same, since=since)


_PRODUCT = {"outputRank": WHOLE, "inferInputRankToMap": WHOLE}
_WINDOWS = {
    "kernelShape": SHAPE,
    "strideShape": SHAPE,
    "dimPadding": TRUTHS,
    "dimPadLower": SHAPE,
    "dimPadUpper": SHAPE,
    "imageLayout": TEXT,
}
_OLD_WINDOWS = {
    "windowWidth": WHOLE,
    "windowHeight": WHOLE,
    "horizontalSubsample": WHOLE,
    "verticalSubsample": WHOLE,
    "imageLayout": TEXT,
}
_DELAY = {"defaultHiddenActivation": REAL, "shape": SHAPE, "timeStep": WHOLE}
_OF_SEQUENCES = (
    *("hSmoothingWeight", "frameDropThresh", "seqGammarAMF", "seqGammarLMF"),
    *("seqGammarBMMIFactor", "seqGammarWordPen"),
)
_SAMPLE = {"sizeOfSampledSet": WHOLE, "allowDuplicates": TRUTH}

#: Types whose inputs are attached after all other nodes are built.
DELAYS = frozenset(("PastValue", "FutureValue"))
#: Types that hold data of a reader.
INPUTS = frozenset(("InputValue", "SparseInputValue"))

NODE_TYPES: dict[str, NodeType] = {
    PARAMETER: NodeType(0, 0, leaves.declared),
    "InputValue": NodeType(0, 0, leaves.declared),
    "SparseInputValue": NodeType(0, 0, leaves.declared),
    "DynamicAxis": NodeType(0, 0, leaves.declared),
    "EnvironmentInput": NodeType(0, 0, leaves.one_number, {"propertyName": TEXT}),
    "Abs": _unary(elementwise.same),
    "Cosine": _unary(elementwise.same),
    "Acos": _later("2.2"),
    "Asin": _later("2.2"),
    "Asinh": _later("2.3"),
    "Atanh": _later("2.3"),
    "Cosh": _later("2.1"),
    "Sinh": _later("2.1"),
    "StopGradient": _later("2.4"),
    "StraightThrough": _later("2.6"),
    "Cast": NodeType(1, 1, elementwise.same, {"precision": TEXT}, since="2.7"),
    "Exp": _unary(elementwise.same),
    "Floor": _unary(elementwise.same),
    "Log": _unary(elementwise.same),
    "Negate": _unary(elementwise.same),
    "Pass": _unary(elementwise.same),
    "Reciprocal": _unary(elementwise.same),
    "RectifiedLinear": _unary(elementwise.same),
    "Sigmoid": _unary(elementwise.same),
    "Sin": _unary(elementwise.same),
    "Sqrt": _unary(elementwise.same),
    "Tanh": _unary(elementwise.same),
    "Softmax": _unary(elementwise.same),
    "LogSoftmax": _unary(elementwise.same),
    "Hardmax": _unary(elementwise.same),
    "Dropout": _unary(elementwise.same),
    "Trace": _unary(
        elementwise.same,
        say=TEXT,
        logFrequency=WHOLE,
        logFirst=WHOLE,
        logGradientToo=TRUTH,
        onlyUpToRow=WHOLE,
        onlyUpToT=WHOLE,
    ),
    "Plus": _binary(elementwise.pair),
    "Minus": _binary(elementwise.pair),
    "ElementTimes": NodeType(
        2, 2, elementwise.pair, aliases=("ColumnElementTimes", "RowElementTimes", "Scale")
    ),
    "LogPlus": _binary(elementwise.pair),
    "Less": _binary(elementwise.pair),
    "Equal": _binary(elementwise.pair),
    "Greater": _binary(elementwise.pair),
    "GreaterEqual": _binary(elementwise.pair),
    "NotEqual": _binary(elementwise.pair),
    "LessEqual": _binary(elementwise.pair),
    "If": NodeType(3, 3, elementwise.together),
    "Clip": NodeType(3, 3, elementwise.together),
    "PerDimMeanVarNormalization": NodeType(
        3, 3, elementwise.normalized, aliases=("PerDimMeanVarNormalizationNode",)
    ),
    "PerDimMeanVarDeNormalization": NodeType(
        3, 3, elementwise.normalized, aliases=("PerDimMeanVarDeNormalizationNode",)
    ),
    "Times": NodeType(2, 2, products.times, _PRODUCT, cost=costs.product),
    "QuantizedTimes": NodeType(
        2,
        2,
        products.times,
        _PRODUCT | {"bitSmoothingA": WHOLE, "bitSmoothingB": WHOLE},
        cost=costs.product,
        since="2.0",
    ),
    "TransposeTimes": NodeType(2, 2, products.transpose_times, cost=costs.transposed_product),
    "DiagTimes": _binary(products.diagonal_times),
    "KhatriRaoProduct": _binary(products.khatri_rao),
    "LookupTable": _binary(products.lookup),
    "Reshape": _unary(reshaping.reshape, shape=SHAPE, beginAxis=WHOLE, endAxis=WHOLE),
    "LegacyReshape": _unary(
        reshaping.legacy_reshape,
        numRows=WHOLE,
        imageWidth=WHOLE,
        imageHeight=WHOLE,
        imageChannels=WHOLE,
    ),
    "ReduceElements": _unary(reshaping.reduce_elements, reductionOp=TEXT, axis=WHOLE),
    "Slice": NodeType(
        1,
        1,
        reshaping.slice_axis,
        {"beginIndex": WHOLE, "endIndex": WHOLE, "axis": WHOLE},
        aliases=("RowSlice",),
    ),
    "RowStack": NodeType(1, ANY, reshaping.row_stack, {"alongAxis": "whole?"}),
    "RowRepeat": _unary(reshaping.row_repeat, numRepeats=WHOLE),
    "TransposeDimensions": NodeType(
        1,
        1,
        reshaping.transpose_dimensions,
        {"axis1": WHOLE, "axis2": WHOLE},
        aliases=("Transpose",),
    ),
    "Diagonal": _unary(reshaping.diagonal),
    "Convolution": NodeType(
        2,
        2,
        images.convolution,
        _WINDOWS
        | {
            "mapCount": SHAPE,
            "dimSharing": TRUTHS,
            "transpose": TRUTH,
            "maxTempMemSizeInSamples": WHOLE,
            "dimDilation": "shape?",
            "dimOutputShape": "shape?",
        },
        cost=costs.convolution,
    ),
    "Pooling": NodeType(
        1,
        1,
        images.pooling,
        _WINDOWS | {"pool": TEXT, "ceilOut": "truth?", "poolIncludePad": "truth?"},
    ),
    "MaxUnpooling": NodeType(2, 2, images.max_unpooling, _WINDOWS),
    "MaxPooling": NodeType(1, 1, images.old_pooling, _OLD_WINDOWS),
    "AveragePooling": NodeType(1, 1, images.old_pooling, _OLD_WINDOWS),
    "ROIPooling": _binary(images.roi_pooling, roiOutputShape=SHAPE, featureScale="real?"),
    "BatchNormalization": NodeType(
        5,
        6,
        images.batch_normalization,
        {
            "spatial": TRUTH,
            "normalizationTimeConstant": REAL,
            "blendTimeConstant": REAL,
            "epsilon": REAL,
            "useCntkEngine": TRUTH,
            "disableRegularization": "truth?",
            "imageLayout": TEXT,
        },
    ),
    "Crop": NodeType(2, 4, images.crop, {"xOffset": "whole?", "yOffset": "whole?"}),
    "OptimizedRNNStack": NodeType(
        2,
        2,
        images.recurrent_stack,
        {
            "bidirectional": TRUTH,
            "numLayers": WHOLE,
            "hiddenDims": WHOLE,
            "recurrentOp": TEXT,
            "axis": WHOLE,
        },
        aliases=("RNN",),
        cost=costs.recurrent_stack,
    ),
    "PastValue": NodeType(1, 2, sequences.delayed, _DELAY, aliases=("Delay",)),
    "FutureValue": NodeType(1, 2, sequences.delayed, _DELAY),
    "Where": _unary(sequences.where),
    "PackedIndex": _binary(sequences.packed_index),
    "GatherPacked": _binary(sequences.gather_packed),
    "ScatterPacked": NodeType(3, 3, sequences.scatter_packed),
    "ReconcileDynamicAxis": NodeType(2, 2, sequences.reconciled, aliases=("ReconcileMBLayout",)),
    "SumColumnElements": _unary(sequences.summed_columns),
    "Mean": _unary(sequences.over_all_data),
    "InvStdDev": _unary(sequences.over_all_data),
    "EpochAccumulator": _unary(sequences.accumulated),
    "SumElements": _unary(criteria.total),
    "MatrixL1Reg": _unary(criteria.total),
    "MatrixL2Reg": _unary(criteria.total),
    "SquareError": _binary(criteria.compared),
    "CrossEntropy": _binary(criteria.compared),
    "CrossEntropyWithSoftmax": _binary(criteria.compared),
    "ClassificationError": NodeType(2, 3, criteria.classified, aliases=("ErrorPrediction",)),
    "Logistic": NodeType(2, 3, criteria.logistic),
    "NDCG1Eval": NodeType(3, 3, criteria.compared),
    "LambdaRank": NodeType(3, 3, criteria.compared),
    "SequenceWithSoftmax": NodeType(3, 3, criteria.in_sequence),
    "EditDistanceError": NodeType(
        2,
        2,
        criteria.compared,
        {
            "subPen": REAL,
            "delPen": REAL,
            "insPen": REAL,
            "squashInputs": TRUTH,
            "tokensToIgnore": "shape?",
        },
        since="2.0",
    ),
    "LabelsToGraph": NodeType(1, 1, elementwise.same, since="2.0"),
    "ForwardBackward": NodeType(
        2, 2, criteria.compared, {"blankTokenId": WHOLE, "delayConstraint": WHOLE}, since="2.0"
    ),
    "LatticeSequenceWithSoftmax": NodeType(
        4,
        4,
        criteria.in_sequence,
        dict.fromkeys(("symListPath", "phonePath", "stateListPath", "transProbPath"), TEXT)
        | dict.fromkeys(_OF_SEQUENCES, REAL)
        | {"latticeConfigPath": TEXT, "doReferenceAlign": TRUTH, "seqGammarUsesMBR": TRUTH},
        since="2.4",
    ),
    "DummyCriterion": NodeType(3, 3, criteria.given),
    "ClassBasedCrossEntropyWithSoftmax": NodeType(4, 4, criteria.class_based),
    "NoiseContrastiveEstimation": NodeType(4, 4, criteria.noise_contrastive),
    "CosDistance": _binary(criteria.cosine),
    "CosDistanceWithNegativeSamples": NodeType(4, 4, criteria.cosine_with_negatives),
    "RandomSample": NodeType(1, 1, criteria.sampled, _SAMPLE),
    "RandomSampleInclusionFrequency": NodeType(1, 1, criteria.sampled_frequency, _SAMPLE),
}

#: Types that occur only in models of CNTK 2: no text builds them.
MODEL_TYPES: dict[str, NodeType] = {
    **dict.fromkeys(("ExponentialLinearUnit", "Tan", "Atan"), _unary(elementwise.same)),
    "Pow": _binary(elementwise.pair),
    "OneHot": _unary(reshaping.one_hot, numClass=WHOLE, axis=WHOLE),
    "Pad": _unary(reshaping.padded, head=SHAPE, foot=SHAPE, mode=WHOLE, value=REAL),
    "TopK": _unary(reshaping.largest, numItems=WHOLE),
    "Gather": _binary(reshaping.gathered),
    "Squeeze": _unary(reshaping.squeezed),
    "ConstantOp": _unary(elementwise.same, fillValue=REAL),
    "EyeLike": _unary(reshaping.identity),
    "Assign": _binary(reshaping.second),
}


def row_of(operation: str) -> NodeType | None:
    """Return the row of a type; None for an unknown type."""
    return NODE_TYPES.get(operation) or MODEL_TYPES.get(operation)


def rule_of(operation: str) -> NodeType:
    """Return the row of a type that is in a table."""
    return NODE_TYPES.get(operation) or MODEL_TYPES[operation]


#: Older names of types.
ALIASES = {older: operation for operation, row in NODE_TYPES.items() for older in row.aliases}


def family(operation: str) -> str:
    """Return the name of the module of a type's shape rule."""
    return rule_of(operation).rule.__module__.rpartition(".")[2]


def multiply_adds(node: Node) -> int | None:
    """Return the multiply-adds of a node per sample and time step; None if shapes are unknown."""
    row = row_of(node.operation)
    if row is None or row.cost is None:
        return 0
    shapes = [node.shape, *(one.shape for one in node.inputs)]
    known = all(shape is not None and elements(shape) for shape in shapes)
    return row.cost(node) if known else None
