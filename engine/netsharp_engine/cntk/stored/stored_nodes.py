"""What the original's model files hold of a node: the table of types, each with its attributes.

It knows nothing of what stands around nodes in a file.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from netsharp_engine.cntk.generators import Array
from netsharp_engine.cntk.stored.binary import BinaryReading, BinaryWriting


class StoredNode(NamedTuple):
    """A node of a file: ``values`` are its numbers, the first dimension fastest, if it has any."""

    operation: str
    name: str
    shape: tuple[int, ...]
    inputs: tuple[str, ...] = ()
    attributes: Mapping[str, Any] = {}
    values: Array | None = None
    dtype: str = "float32"


class Attributes(NamedTuple):
    """How the attributes of a type are written and read."""

    write: Callable[[BinaryWriting, StoredNode], None]
    read: Callable[[BinaryReading, StoredNode], StoredNode]


def _write_parameter(out: BinaryWriting, node: StoredNode) -> None:
    out.pack("f", node.attributes["learningRateMultiplier"])
    out.shape(node.shape)
    _write_values(out, node)


def _read_parameter(given: BinaryReading, node: StoredNode) -> StoredNode:
    (multiplier,) = given.take("f")
    at = given.at
    shape = given.shape()
    values = given.matrix()
    size = 1
    for one in shape:
        size *= one
    if size != values.size:
        raise given.fault(f"'{node.name}' has {values.size:,} numbers, and its shape {size:,}", at)
    return node._replace(
        shape=shape, values=values, attributes={"learningRateMultiplier": float(multiplier)}
    )


def _write_input(out: BinaryWriting, node: StoredNode) -> None:
    out.size(0)
    out.size(0)
    out.shape(node.shape)
    out.pack("I", 1)
    out.text(node.attributes.get("dynamicAxis", ""))
    out.pack("f", 0.0)


def _read_input(given: BinaryReading, node: StoredNode) -> StoredNode:
    given.size()
    given.size()
    shape = given.shape()
    axis = given.text() if given.whole("I") == 1 else ""
    given.take("f")
    return node._replace(shape=shape, attributes={"dynamicAxis": axis})


def _write_times(out: BinaryWriting, node: StoredNode) -> None:
    out.size(node.attributes.get("outputRank", 1))
    out.pack("i", node.attributes.get("inferInputRankToMap", -1))


def _read_times(given: BinaryReading, node: StoredNode) -> StoredNode:
    rank, inferred = given.size(), given.whole()
    return node._replace(attributes={"outputRank": rank, "inferInputRankToMap": inferred})


def _write_statistic(out: BinaryWriting, node: StoredNode) -> None:
    out.pack("?", True)
    _write_values(out, node)


def _read_statistic(given: BinaryReading, node: StoredNode) -> StoredNode:
    at = given.at
    if not given.take("?")[0]:
        raise given.fault(f"'{node.name}' was never computed", at)
    return node._replace(values=given.matrix())


def _write_values(out: BinaryWriting, node: StoredNode) -> None:
    assert node.values is not None
    out.matrix(node.values, node.shape[0])


def _write_delay(out: BinaryWriting, node: StoredNode) -> None:
    out.pack("i", node.attributes.get("timeStep", 1))
    out.shape(node.shape)
    out.pack(_REALS[node.dtype], node.attributes.get("defaultHiddenActivation", 0.1))


def _read_delay(given: BinaryReading, node: StoredNode) -> StoredNode:
    steps, shape = given.whole(), given.shape()
    (initial,) = given.take(_REALS[node.dtype])
    found = {"timeStep": steps, "shape": shape, "defaultHiddenActivation": float(initial)}
    return node._replace(shape=shape, attributes=found)


def _write_slice(out: BinaryWriting, node: StoredNode) -> None:
    begin, end, axis = (node.attributes[name] for name in ("beginIndex", "endIndex", "axis"))
    out.pack("qqi", begin, end - begin, axis)


def _read_slice(given: BinaryReading, node: StoredNode) -> StoredNode:
    begin, size, axis = given.take("qqi")
    return node._replace(attributes={"beginIndex": begin, "endIndex": begin + size, "axis": axis})


def _write_reduction(out: BinaryWriting, node: StoredNode) -> None:
    out.pack("i", node.attributes.get("axis", 0))
    out.text(node.attributes["reductionOp"])


def _read_reduction(given: BinaryReading, node: StoredNode) -> StoredNode:
    return node._replace(attributes={"axis": given.whole(), "reductionOp": given.text()})


def _write_swap(out: BinaryWriting, node: StoredNode) -> None:
    out.pack("ii", node.attributes["axis1"], node.attributes["axis2"])


def _read_swap(given: BinaryReading, node: StoredNode) -> StoredNode:
    first, second = given.take("ii")
    return node._replace(attributes={"axis1": first, "axis2": second})


def _write_stack(out: BinaryWriting, node: StoredNode) -> None:
    out.pack("i", node.attributes.get("alongAxis", 1))


def _read_stack(given: BinaryReading, node: StoredNode) -> StoredNode:
    axis = given.whole()
    return node._replace(attributes={"alongAxis": axis} if axis != 1 else {})


def _read_chosen_axis(given: BinaryReading, node: StoredNode) -> StoredNode:
    given.text()
    return node


_REALS = {"float32": "f", "float64": "d"}
#: What the original counts kinds of pooling and layouts of images by.
_KINDS, _LAYOUTS = ("none", "max", "average"), ("HWC", "CHW")


def _write_windows(out: BinaryWriting, node: StoredNode) -> None:
    given = node.attributes
    for name in ("kernelShape", "mapCount", "strideShape"):
        out.shape(given.get(name, (1,)))
    for name, one in (("dimSharing", True), ("dimPadding", False)):
        _write_truths(out, given.get(name, (one,)))
    for name in ("dimPadLower", "dimPadUpper"):
        out.shape(given.get(name, (0,)))
    backwards = node.operation == "MaxUnpooling"
    out.pack("i", _KINDS.index("max" if backwards else given.get("pool", "none")))
    out.pack("i", _LAYOUTS.index(given.get("imageLayout", "CHW")))
    out.size(given.get("maxTempMemSizeInSamples", 0))
    out.pack("?", backwards or given.get("transpose", False))
    if node.operation == "Convolution":
        out.pack("?", given.get("form") == "2D")


def _read_windows(given: BinaryReading, node: StoredNode) -> StoredNode:
    found: dict[str, Any] = {}
    for name in ("kernelShape", "mapCount", "strideShape"):
        found[name] = given.shape()
    for name in ("dimSharing", "dimPadding"):
        found[name] = _read_truths(given)
    for name in ("dimPadLower", "dimPadUpper"):
        found[name] = given.shape()
    found["pool"] = _of(given, _KINDS)
    found["imageLayout"] = _of(given, _LAYOUTS)
    found["maxTempMemSizeInSamples"] = given.size()
    found["transpose"] = bool(given.take("?")[0])
    if node.operation == "Convolution" and given.take("?")[0]:
        found["form"] = "2D"
    return node._replace(attributes=found)


def _write_old_windows(out: BinaryWriting, node: StoredNode) -> None:
    given = node.attributes
    out.pack("I", given["windowWidth"])
    out.pack("I", _LAYOUTS.index(given.get("imageLayout", "HWC")))
    for name in ("windowHeight", "horizontalSubsample", "verticalSubsample"):
        out.size(given[name])


def _read_old_windows(given: BinaryReading, node: StoredNode) -> StoredNode:
    found: dict[str, Any] = {"windowWidth": given.whole("I")}
    found["imageLayout"] = _of(given, _LAYOUTS, "I")
    for name in ("windowHeight", "horizontalSubsample", "verticalSubsample"):
        found[name] = given.size()
    return node._replace(attributes=found)


def _write_reshape(out: BinaryWriting, node: StoredNode) -> None:
    out.pack("ii", node.attributes.get("beginAxis", 0), node.attributes.get("endAxis", 0))
    out.shape(node.attributes["shape"])


def _read_reshape(given: BinaryReading, node: StoredNode) -> StoredNode:
    begin, end = given.take("ii")
    ends = {"beginAxis": int(begin), "endAxis": int(end)}
    return node._replace(attributes={**ends, "shape": given.shape()})


def _write_normalization(out: BinaryWriting, node: StoredNode) -> None:
    given, counted = node.attributes, node.values
    out.pack("?", given["spatial"])
    out.pack("dd", given["normalizationTimeConstant"], given["blendTimeConstant"])
    out.pack("i", _LAYOUTS.index(given.get("imageLayout", "CHW")))
    out.size(0 if counted is None else int(counted[0]))
    out.pack("d", given["epsilon"])
    out.pack("?", given.get("useCntkEngine", True))


def _read_normalization(given: BinaryReading, node: StoredNode) -> StoredNode:
    found: dict[str, Any] = {"spatial": bool(given.take("?")[0])}
    constant, blend = given.take("dd")
    found |= {"normalizationTimeConstant": constant, "blendTimeConstant": blend}
    found["imageLayout"] = _of(given, _LAYOUTS)
    counted = np.array([given.size()], np.float64)
    (found["epsilon"],) = given.take("d")
    found["useCntkEngine"] = bool(given.take("?")[0])
    return node._replace(attributes=found, values=counted)


def _write_truths(out: BinaryWriting, values: Sequence[bool]) -> None:
    out.size(len(values))
    out.pack(f"{len(values)}?", *values)


def _read_truths(given: BinaryReading) -> tuple[bool, ...]:
    at, count = given.at, given.size()
    if count > given.left:
        raise given.fault(f"a list of {count:,} truths does not fit into the file", at)
    return tuple(map(bool, given.take(f"{count}?")))


def _of(given: BinaryReading, words: Sequence[str], form: str = "i") -> str:
    """A word by its number."""
    at, number = given.at, given.whole(form)
    if not 0 <= number < len(words):
        raise given.fault(f"{number} is expected to be less than {len(words)}", at)
    return words[number]


def _write_repeats(out: BinaryWriting, node: StoredNode) -> None:
    out.size(node.attributes["numRepeats"])


def _read_repeats(given: BinaryReading, node: StoredNode) -> StoredNode:
    return node._replace(attributes={"numRepeats": given.size()})


_IMAGE = ("imageChannels", "imageWidth", "imageHeight")


def _write_rows(out: BinaryWriting, node: StoredNode) -> None:
    given = node.attributes
    channels, *sides = (given.get(name, 0) for name in _IMAGE)
    out.size(given["numRows"])
    first = given.get("imageLayout", "HWC") == "HWC"
    out.shape((channels, *sides) if first else (*sides, channels))


def _read_rows(given: BinaryReading, node: StoredNode) -> StoredNode:
    """An image as one of the older layout: shapes are the same."""
    found: dict[str, Any] = {"numRows": given.size(), "imageLayout": "HWC"}
    at, image = given.at, given.shape()
    if len(image) not in (0, len(_IMAGE)):
        raise given.fault(f"an image has width, height and channels, not {len(image)} sides", at)
    return node._replace(attributes=found | dict(zip(_IMAGE, image or (0, 0, 0), strict=True)))


#: How a trace prints where nothing is said: truths, and texts in front, behind and between.
_PRINTED = (False, "", False, True, "", "", "", "", "\n", " ", "\n", "")
_MOST = 100_000_000


def _write_trace(out: BinaryWriting, node: StoredNode) -> None:
    given = node.attributes
    out.text(given.get("say", ""))
    out.size(given.get("logFirst", 10))
    out.size(given.get("logFrequency", 100))
    out.pack("?", given.get("logGradientToo", False))
    for one in _PRINTED:
        if isinstance(one, str):
            out.text(one)
        else:
            out.pack("?", one)
    for name in ("onlyUpToRow", "onlyUpToT"):
        out.size(given.get(name, _MOST))


def _read_trace(given: BinaryReading, node: StoredNode) -> StoredNode:
    found: dict[str, Any] = {"say": given.text(), "logFirst": given.size()}
    found |= {"logFrequency": given.size(), "logGradientToo": bool(given.take("?")[0])}
    for one in _PRINTED:
        if isinstance(one, str):
            given.text()
        else:
            given.take("?")
    found |= {"onlyUpToRow": given.size(), "onlyUpToT": given.size()}
    return node._replace(attributes=found)


def _write_recurrences(out: BinaryWriting, node: StoredNode) -> None:
    given = node.attributes
    out.size(int(given.get("bidirectional", False)))
    out.size(given.get("numLayers", 1))
    out.size(given["hiddenDims"])
    out.text(given.get("recurrentOp", "lstm"))
    out.pack("i", given.get("axis", -1))


def _read_recurrences(given: BinaryReading, node: StoredNode) -> StoredNode:
    found: dict[str, Any] = {"bidirectional": bool(given.size()), "numLayers": given.size()}
    found |= {"hiddenDims": given.size(), "recurrentOp": given.text(), "axis": given.whole()}
    return node._replace(attributes=found)


_PLAIN = Attributes(lambda out, node: None, lambda given, node: node)
_STATISTIC = Attributes(_write_statistic, _read_statistic)
_WITHOUT = (
    *("Sigmoid", "Tanh", "RectifiedLinear", "Exp", "Log", "Negate", "Abs", "Sqrt", "Reciprocal"),
    *("Softmax", "LogSoftmax", "Pass", "Dropout", "Plus", "Minus", "ElementTimes"),
    *("PerDimMeanVarNormalization", "CrossEntropyWithSoftmax", "ClassificationError"),
    *("SquareError", "Hardmax", "Floor", "Sin", "Cosine", "If", "Clip", "SumElements"),
    *("Less", "LessEqual", "Equal", "NotEqual", "GreaterEqual", "Greater", "SumColumnElements"),
    *("DynamicAxis", "PackedIndex", "GatherPacked", "ScatterPacked", "ReconcileDynamicAxis"),
    *("LogPlus", "PerDimMeanVarDeNormalization", "LookupTable", "DiagTimes", "KhatriRaoProduct"),
    *("CosDistance", "CosDistanceWithNegativeSamples", "Diagonal", "CrossEntropy", "Logistic"),
    *("ClassBasedCrossEntropyWithSoftmax", "DummyCriterion", "MatrixL1Reg", "MatrixL2Reg"),
    *("LambdaRank", "NDCG1Eval"),
)
_DELAY = Attributes(_write_delay, _read_delay)
TYPES: dict[str, Attributes] = {
    "LearnableParameter": Attributes(_write_parameter, _read_parameter),
    "InputValue": Attributes(_write_input, _read_input),
    "SparseInputValue": Attributes(_write_input, _read_input),
    **dict.fromkeys(("Times", "TransposeTimes"), Attributes(_write_times, _read_times)),
    **dict.fromkeys(("PastValue", "FutureValue"), _DELAY),
    "Slice": Attributes(_write_slice, _read_slice),
    "RowStack": Attributes(_write_stack, _read_stack),
    "ReduceElements": Attributes(_write_reduction, _read_reduction),
    "TransposeDimensions": Attributes(_write_swap, _read_swap),
    "Where": Attributes(lambda out, node: out.text("WhereNodeAxis"), _read_chosen_axis),
    "RowRepeat": Attributes(_write_repeats, _read_repeats),
    "LegacyReshape": Attributes(_write_rows, _read_rows),
    "Reshape": Attributes(_write_reshape, _read_reshape),
    **dict.fromkeys(
        ("Convolution", "Pooling", "MaxUnpooling"), Attributes(_write_windows, _read_windows)
    ),
    "ROIPooling": Attributes(
        lambda out, node: out.shape(node.attributes["roiOutputShape"]),
        lambda given, node: node._replace(attributes={"roiOutputShape": given.shape()}),
    ),
    **dict.fromkeys(
        ("MaxPooling", "AveragePooling"), Attributes(_write_old_windows, _read_old_windows)
    ),
    "Trace": Attributes(_write_trace, _read_trace),
    "EnvironmentInput": Attributes(
        lambda out, node: out.text(node.attributes["propertyName"]),
        lambda given, node: node._replace(attributes={"propertyName": given.text()}),
    ),
    "OptimizedRNNStack": Attributes(_write_recurrences, _read_recurrences),
    "BatchNormalization": Attributes(_write_normalization, _read_normalization),
    "Mean": _STATISTIC,
    "InvStdDev": _STATISTIC,
    **dict.fromkeys(_WITHOUT, _PLAIN),
}
