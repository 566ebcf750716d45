"""The library function that creates each node type, in one table, and the text of its call.  Knows
no names of nodes.

A type without a row, or whose function is hidden by another name, is written with `new
ComputationNode`.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from netsharp_lsp.cntk.networks.node_types import (
    NODE_TYPES,
    REAL,
    SHAPE,
    TEXT,
    TRUTH,
    TRUTHS,
    WHOLE,
)
from netsharp_lsp.cntk.writing.attributes import LISTS, USUAL, single_of, written_attributes

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from netsharp_lsp.cntk.networks.node import Attribute, Node


class LibraryCall(NamedTuple):
    """A function: its name, the parameters that are inputs, attributes after them, named ones with
    their defaults, and attributes before the inputs.
    """

    function: str
    inputs: tuple[str, ...]
    after: tuple[str, ...] = ()
    named: Mapping[str, tuple[str, Attribute]] = MappingProxyType({})
    before: tuple[str, ...] = ()


def _by_name(*names: str) -> dict[str, tuple[str, Attribute]]:
    """Return arguments named like their attributes, which are omitted if they have their
    default.
    """
    return {name: (name, USUAL[name]) for name in names}


_WINDOWS: dict[str, tuple[str, Attribute]] = {
    "strideShape": ("stride", (1,)),
    "dimPadding": ("autoPadding", (True,)),
    "dimPadLower": ("lowerPad", (0,)),
    "dimPadUpper": ("upperPad", (0,)),
    "imageLayout": ("imageLayout", "CHW"),
}
_KERNELS: dict[str, tuple[str, Attribute]] = {
    "mapCount": ("mapDims", (0,)),
    "dimSharing": ("sharing", (True,)),
    "dimDilation": ("dilation", (1,)),
    "maxTempMemSizeInSamples": ("maxTempMemSizeInSamples", 0),
    **_WINDOWS,
}
_SIDES = ("windowWidth", "windowHeight", "horizontalSubsample", "verticalSubsample")
_LAYOUT = _by_name("imageLayout")
#: Functions whose parameters are inputs alone: `_` and the like are their names in the library.
_PLAIN: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("Abs", "Dropout", "Exp", "Floor", "Log", "Pass", "Sigmoid"), ("_",)),
    **dict.fromkeys(("Hardmax", "LogSoftmax", "Reciprocal", "Sin", "Softmax", "Sqrt"), ("z",)),
    **dict.fromkeys(("SumColumnElements", "Tanh"), ("z",)),
    **dict.fromkeys(("Acos", "Asin", "Asinh", "Atanh", "Cosh", "Cosine", "Sinh"), ("x",)),
    **dict.fromkeys(("Negate", "StopGradient"), ("input",)),
    **dict.fromkeys(("MatrixL1Reg", "MatrixL2Reg", "SumElements"), ("matrix",)),
    **dict.fromkeys(("InvStdDev", "Mean"), ("dataVectorSequence",)),
    **dict.fromkeys(("Equal", "Greater", "GreaterEqual", "Less", "LessEqual"), ("_", "y")),
    **dict.fromkeys(("ElementTimes", "Minus", "NotEqual", "Plus"), ("_", "y")),
    **dict.fromkeys(
        ("KhatriRaoProduct", "LogPlus", "TransposeTimes"), ("leftMatrix", "rightMatrix")
    ),
    **dict.fromkeys(("LambdaRank", "NDCG1Eval"), ("gain", "prediction", "queryId")),
    "Clip": ("minValue", "maxValue", "x"),
    "CosDistance": ("aVectorSequence", "anotherVectorSequence"),
    "CosDistanceWithNegativeSamples": (
        "aVectorSequence",
        "anotherVectorSequence",
        "numShifts",
        "numNegSamples",
    ),
    "CrossEntropy": ("refProbVectorSequence", "outProbVectorSequence"),
    "CrossEntropyWithSoftmax": ("labelSequence", "outProbVectorSequence"),
    "ClassBasedCrossEntropyWithSoftmax": (
        "labelClassDescriptorVectorSequence",
        "mainInputInfo",
        "mainWeight",
        "classLogProbsBeforeSoftmax",
    ),
    "ClassificationError": ("labelSequence", "outVectorSequence"),
    "DiagTimes": ("diagonalMatrixAsColumnVector", "matrix"),
    "GatherPacked": ("indexSequence", "sourceData"),
    "Logistic": ("label", "probability"),
    "PackedIndex": ("nodeWithLayoutToPackFor", "indexSequence"),
    "PerDimMeanVarDeNormalization": ("dataVectorSequence", "meanVector", "invStdDevVector"),
    "ReconcileDynamicAxis": ("dataInput", "layoutInput"),
    "ScatterPacked": ("cond", "indexSequence", "sourceData"),
    "SquareError": ("aMatrix", "anotherMatrix"),
    "Where": ("cond",),
}
CALLS: dict[str, LibraryCall] = {
    **{operation: LibraryCall(operation, names) for operation, names in _PLAIN.items()},
    "RectifiedLinear": LibraryCall("ReLU", ("_",)),
    "If": LibraryCall("BS.Boolean.If", ("cond", "thenVal", "elseVal")),
    "Times": LibraryCall("Times", ("x", "y"), named=_by_name("outputRank", "inferInputRankToMap")),
    "Reshape": LibraryCall(
        "NewReshape",
        ("input",),
        ("shape",),
        {"beginAxis": ("beginAxis", 0), "endAxis": ("endAxis", 0)},
    ),
    "LegacyReshape": LibraryCall(
        "Reshape",
        ("input",),
        ("numRows",),
        {name: (name, 0) for name in ("imageWidth", "imageHeight", "imageChannels")},
    ),
    "Slice": LibraryCall(
        "Slice", ("input",), before=("beginIndex", "endIndex"), named={"axis": ("axis", 1)}
    ),
    "RowRepeat": LibraryCall("RowRepeat", ("input",), ("numRepeats",)),
    "TransposeDimensions": LibraryCall("TransposeDimensions", ("_",), ("axis1", "axis2")),
    "Convolution": LibraryCall(
        "Convolution", ("weightNode", "inputValueNode"), ("kernelShape",), _KERNELS
    ),
    "Pooling": LibraryCall(
        "Pooling",
        ("input",),
        ("pool", "kernelShape"),
        {
            **_WINDOWS,
            "ceilOut": ("ceilOutDim", False),
            "poolIncludePad": ("includePad", False),
        },
    ),
    "MaxUnpooling": LibraryCall(
        "MaxUnpooling", ("unpoolInput", "poolInput"), ("kernelShape",), _WINDOWS
    ),
    "MaxPooling": LibraryCall("MaxPooling", ("input",), _SIDES, _LAYOUT),
    "AveragePooling": LibraryCall("AveragePooling", ("input",), _SIDES, _LAYOUT),
    "ROIPooling": LibraryCall(
        "ROIPooling",
        ("input", "ROIs"),
        ("roiOutputShape",),
        {"featureScale": ("spatialScale", 0.0625)},
    ),
    "OptimizedRNNStack": LibraryCall(
        "OptimizedRNNStack",
        ("weights", "input"),
        ("hiddenDims",),
        {
            "numLayers": ("numLayers", 1),
            "bidirectional": ("bidirectional", False),
            "recurrentOp": ("recurrentOp", "lstm"),
            "axis": ("axis", -1),
        },
    ),
    "EnvironmentInput": LibraryCall("EnvironmentInput", (), ("propertyName",)),
    "DynamicAxis": LibraryCall("DynamicAxis", ()),
}
#: Transposed convolutions.
BACKWARDS = LibraryCall(
    "ConvolutionTranspose",
    ("weightNode", "inputValueNode"),
    ("kernelShape",),
    {**_KERNELS, "dimOutputShape": ("outputShape", (0,))},
)
#: Operators and their precedence; a call has the highest.
SIGNS = {"Plus": ("+", 1), "Minus": ("-", 1), "ElementTimes": (".*", 2), "Times": ("*", 2)}
TIGHTEST = 9


def call_of(node: Node) -> LibraryCall | None:
    """Return the function that creates a node, None if none creates exactly this one."""
    attributes = written_attributes(node)
    if node.operation == "Convolution":
        if attributes.get("transpose"):
            return BACKWARDS
        if any(dimension for dimension in _dimensions(attributes["dimOutputShape"])):
            return None
    found = CALLS.get(node.operation)
    return found if found is not None and len(node.inputs) == len(found.inputs) else None


def sign_of(node: Node) -> tuple[str, int] | None:
    """Return the operator that creates a node, None if there is none."""
    found = SIGNS.get(node.operation)
    if found is None or node.operation != "Times":
        return found
    return (
        found
        if all(USUAL[key] == value for key, value in written_attributes(node).items())
        else None
    )


def written_call(call: LibraryCall, node: Node, inputs: Sequence[str]) -> str:
    """Return the call of a function with the given texts of its inputs."""
    attributes = written_attributes(node)
    given = [*(value_of(attributes[key]) for key in call.before), *inputs]
    given += [value_of(attributes[key]) for key in call.after]
    for key, (name, usual) in call.named.items():
        value = attributes.get(key, usual)
        value = short(key, value)
        if value != usual:
            given.append(f"{name}={value_of(value)}")
    return f"{call.function} ({', '.join(given)})"


def written_node(node: Node, inputs: Sequence[str]) -> str:
    """Return the constructor of a node with all of its attributes."""
    row = NODE_TYPES[node.operation]
    parts = [f"operation = '{node.operation}'"]
    if inputs:
        parts.append(f"inputs = ({' : '.join(inputs)})")
    attributes = written_attributes(node)
    if "shape" in row.attributes and "shape" not in attributes:
        attributes["shape"] = node.shape or ()
    for key, value in attributes.items():
        kind = row.attributes[key]
        if not kind.endswith("?") or short(key, value) != USUAL.get(key):
            parts.append(f"{key} = {_BY_KIND[kind.rstrip('?')].format(value_of(value))}")
    return f"new ComputationNode {{ {' ; '.join((*parts, _NO_TAG))} }}"


_NO_TAG = "tag = ''"
_BY_KIND = {
    SHAPE: "new TensorShape {{ dims = {} }}",
    TRUTHS: "new BoolVector {{ items = {} }}",
    **dict.fromkeys((REAL, TEXT, TRUTH, WHOLE), "{}"),
}


def names_given(node: Node) -> frozenset[str]:
    """Return the names that the constructor of a node defines within its braces."""
    row = NODE_TYPES[node.operation]
    return frozenset(("operation", "inputs", "tag", *row.attributes))


def short(key: str, value: Attribute) -> Attribute:
    """Return a list for the dimensions of a kernel as one element if all of them are equal."""
    if key in LISTS and isinstance(value, tuple) and len(set(value)) == 1:
        return value[:1]
    return value


def value_of(value: Attribute) -> str:
    """Return a value as BrainScript text; raise ValueError for a string with both kinds of
    quotes.
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, tuple):
        found = " : ".join(map(value_of, value)).replace(" : ", ":")
        return found if len(value) == 1 else f"({found})"
    if isinstance(value, str):
        mark = "'" if "'" not in value else '"'
        if mark in value or not value.isprintable():
            raise ValueError(value)
        return f"{mark}{value}{mark}"
    return number_of(value) if isinstance(value, float) else str(value)


def number_of(value: float) -> str:
    """Return a number with the fewest digits that identify it in single precision, or all
    of them.
    """
    exact = repr(value)
    single = single_of(value) == value
    if value.is_integer() and abs(value) < 1e9:
        return str(int(value))
    for count in range(1, 10) if single else ():
        text = f"{value:.{count}g}"
        if single_of(float(text)) == value:
            exact = text
            break
    return exact.removesuffix(".0")


def _dimensions(value: Attribute) -> tuple[int, ...]:
    return value if isinstance(value, tuple) else ()
