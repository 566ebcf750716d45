"""The table of the second format's functions: their types in the first format, with their
attributes and the order of their inputs.

Axes of the second format count from 0, those of the first from 1. It must not know files.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from netsharp_engine.cntk.stored.dictionaries.wire import FREE, INFERRED, WireAxis
from netsharp_engine.cntk.stored.values import EPSILON

_NAMES = """
    Negate Sigmoid Tanh ReLU Exp Log Sqrt Floor Abs Reciprocal Softmax Hardmax TransposeAxes
    Where Slice Dropout Reshape Pooling SumAll Plus Minus ElementTimes Equal NotEqual Less
    LessEqual Greater GreaterEqual PackedIndex GatherPacked ScatterPacked Times TransposeTimes
    Convolution SquaredError CrossEntropyWithSoftmax ClassificationError PastValue FutureValue
    ReduceElements BatchNormalization Clip Select Splice Combine RandomSample
    RandomSampleInclusionFrequency ROIPooling Logistic OptimizedRNNStack ReconcileDynamicAxis
    LogSoftmax LogPlus CosDistance Sin Cos Pass Block Unpooling LambdaRank NDCG
    EditDistanceError NoOp LabelsToGraph StopGradient ELU ForwardBackward
    CosDistanceWithNegativeSamples OneHot Pow ToSequence ToSequenceLike UnpackSequence Assign
    Gather StableSigmoid RandomDistribution Sinh Cosh UnpackBatch ToBatch Asin Acos Pad Crop
    Atanh Asinh TopK Squeeze ConstantOp LatticeSequenceWithSoftmax Cast EyeLike CustomProxy
    StraightThrough Tan Atan ConvolutionSequenceShape
"""
#: All functions by their numbers.  CNTK: PrimitiveOpType.
OPERATIONS = tuple(_NAMES.split())
BLOCK, COMBINE = "Block", "Combine"
#: Special values of an axis: all axes of a sample, and those and the batch.
ALL_STATIC, ALL_AXES = 2147483646, 2147483643

Given = Mapping[str, Any]
Shapes = Sequence[tuple[int, ...]]


#: Attributes that may count from the end, where the rank is not known.
_AXES = ("axis", "axis1", "axis2", "alongAxis", "order")
#: What a product says in the place of a rank where it sums over the steps of a sequence.
_OVER_STEPS = -2


class Unreadable(Exception):  # noqa: N818
    """A function that the first format has no terms for: the reason, to follow its name."""


class Twin(NamedTuple):
    """A function: its name in the first format, its attributes, and which input is which there."""

    operation: str
    attributes: Callable[[Given, Shapes], dict[str, Any]]
    order: tuple[int, ...] = ()

    def in_first_format(self, given: Given, shapes: Shapes) -> tuple[str, dict[str, Any]]:
        """Return its type in the first format, and its attributes there; ``shapes`` are those of
        its inputs that are known. Unreadable where the first format has no terms for it.
        """
        axis = given.get("axis")
        if self.operation == "ReduceElements" and getattr(axis, "place", 0) == ALL_AXES:
            if given.get("reductionOpName", "Sum") != "Sum":
                raise Unreadable("reduces all samples of a minibatch to one")
            return "SumElements", {}
        in_first_format = self.attributes(given, shapes)
        if any(axis < 0 for key in _AXES for axis in _several(in_first_format.get(key, 1))):
            in_first_format["axesFromEnd"] = True
        return self.operation, in_first_format


def _several(axes: Any) -> tuple[int, ...]:
    """Return one axis or several as a tuple."""
    return axes if isinstance(axes, tuple) else (axes,)


def _none(given: Given, shapes: Shapes) -> dict[str, Any]:
    return {}


def _axis(given: Given, key: str = "axis") -> int:
    """Return an axis from 1; 0 for all axes of a sample. Unreadable where it is not an axis of a
    sample.
    """
    found = given.get(key)
    if not isinstance(found, WireAxis):
        raise Unreadable(f"has no '{key}'")
    if found.place == ALL_STATIC:
        return 0
    if abs(found.place) > 1000:
        raise Unreadable(
            f"works along the axis '{found.name[:40]}', which is not an axis of a sample"
        )
    return found.place + 1 if found.place >= 0 else found.place


def _sizes(given: Given, key: str) -> tuple[int, ...]:
    """Return a shape; sizes to be inferred are 0."""
    found = given.get(key, ())
    if not isinstance(found, tuple):
        raise Unreadable(f"has no shape as its '{key}'")
    return tuple(0 if one in (INFERRED, FREE) else one for one in found)


def _truths(given: Given, key: str, otherwise: bool) -> tuple[bool, ...]:
    found = given.get(key)
    return tuple(map(bool, found)) if isinstance(found, list) and found else (otherwise,)


def _product(given: Given, shapes: Shapes) -> dict[str, Any]:
    if given.get("inferInputRankToMap", -1) == _OVER_STEPS:
        raise Unreadable("multiplies along the steps of a sequence, which is not done")
    return {
        "outputRank": given.get("outputRank", 1),
        "inferInputRankToMap": given.get("inferInputRankToMap", -1),
    }


def _slice(given: Given, shapes: Shapes) -> dict[str, Any]:
    if "axisVec" in given:
        lists = [given.get(key) or [] for key in ("axisVec", "beginIndexVec", "endIndexVec")]
        strides = given.get("sliceStridesVec") or [1] * len(lists[0])
        if len({len(one) for one in (*lists, strides)}) > 1 or not strides:
            raise Unreadable("has lists of axes and ranges that are not equally long")
        axes = tuple(_axis({"axis": one}) for one in lists[0])
        found: dict[str, Any] = {
            "axis": axes,
            "beginIndex": tuple(lists[1]),
            "endIndex": tuple(lists[2]),
        }
        if len(axes) == 1:
            found = {key: value[0] for key, value in found.items()}
        strided = tuple(strides)
    else:
        found = {"axis": _axis(given)}
        found |= {key: given.get(key, 0) for key in ("beginIndex", "endIndex")}
        strided = (given.get("sliceStrides", 1),)
    if set(strided) != {1}:
        found["stride"] = strided if len(strided) > 1 else strided[0]
    return found


def _reshape(given: Given, shapes: Shapes) -> dict[str, Any]:
    """Return a new shape for some axes; an end beyond the rank is the end, where a new axis can
    be.
    """
    begin, end = given.get("beginAxis"), given.get("endAxis")
    found: dict[str, Any] = {"shape": _sizes(given, "newShape")}
    found["beginAxis"] = _bound(begin, 1)
    found["endAxis"] = _bound(end, 0)
    return found


def _bound(axis: Any, otherwise: int) -> int:
    """Return a bound of axes as the first format has it: from 1, 0 for the end."""
    if not isinstance(axis, WireAxis) or axis.place in (ALL_STATIC, ALL_AXES):
        return otherwise
    if abs(axis.place) > 1000:
        # The end of the axes of a sample has an index of its own.
        return 0
    return axis.place + 1


def _windows(given: Given, kernel: tuple[int, ...]) -> dict[str, Any]:
    found: dict[str, Any] = {
        "kernelShape": kernel,
        "strideShape": _sizes(given, "strides") or (1,),
        "dimPadding": _truths(given, "autoPadding", True),
        "dimPadLower": _sizes(given, "lowerPad") or (0,),
        "dimPadUpper": _sizes(given, "upperPad") or (0,),
        "imageLayout": "CHW",
        # What is left over of strides lies on both sides, as CNTK 2 has it on every device.
        "padCentred": True,
    }
    if given.get("ceilOutDim"):
        found["ceilOut"] = True
    if given.get("includePad"):
        found["poolIncludePad"] = True
    return found


def _convolution(given: Given, shapes: Shapes) -> dict[str, Any]:
    """Return the attributes of a convolution; kernels are as large as the filter without its last
    axis, which counts the maps.
    """
    shape = shapes[0] if shapes else ()
    backwards = bool(given.get("transpose", False))
    if len(shape) < 2:
        raise Unreadable("has a filter whose shape is not known")
    kernel = _sizes(given, "kernelShape")
    kernel = kernel if all(kernel) and kernel else shape[:-1]
    found = _windows(given, kernel)
    found["mapCount"] = (shape[-1],)
    found["dimSharing"] = _truths(given, "sharing", True)
    found["transpose"] = backwards
    # Along the channels a kernel has all of them: padding there means nothing.
    padding = found["dimPadding"]
    padding += padding[-1:] * (len(kernel) - len(padding))
    if len(kernel) > 1 and padding[len(kernel) - 1]:
        found["dimPadding"] = (*padding[: len(kernel) - 1], False)
    output, gaps = _sizes(given, "outputShape"), _sizes(given, "dilation")
    if backwards and any(output):
        found["dimOutputShape"] = output
    if any(one > 1 for one in gaps):
        found["dimDilation"] = gaps
    if given.get("groups", 1) > 1:
        found["groups"] = given["groups"]
    return found


#: What the second format counts kinds of pooling by: not as the first does.
_KINDS = ("max", "average")


def _pooling(given: Given, shapes: Shapes) -> dict[str, Any]:
    kind = given.get("poolingType", 0)
    if kind not in range(len(_KINDS)):
        raise Unreadable(f"pools in the unknown way {kind}")
    kernel = _sizes(given, "poolingWindowShape") or _sizes(given, "unpoolingWindowShape")
    if not any(kernel) and shapes and shapes[0]:
        # A window of unknown shape is as large as the image.
        kernel = shapes[0][:-1]
    return {**_windows(given, kernel), "pool": _KINDS[kind]}


def _unpooling(given: Given, shapes: Shapes) -> dict[str, Any]:
    found = _pooling(given, shapes)
    if found.pop("pool") != "max":
        raise Unreadable("reverses a pooling by means")
    return found


def _normalization(given: Given, shapes: Shapes) -> dict[str, Any]:
    return {
        "spatial": bool(given.get("spatial", False)),
        "normalizationTimeConstant": float(given.get("normalizationTimeConstant", 0.0)),
        "blendTimeConstant": float(given.get("blendTimeConstant", 0.0)),
        "epsilon": float(given.get("epsilon", EPSILON)),
        "useCntkEngine": not given.get("useCuDNNEngine", False),
        "imageLayout": "CHW",
    }


def _delay(given: Given, shapes: Shapes) -> dict[str, Any]:
    return {"timeStep": given.get("offset", 1)}


def _reduction(given: Given, shapes: Shapes) -> dict[str, Any]:
    axes = given.get("axisVec") or [given.get("axis")]
    found = tuple(_axis({"axis": one}) for one in axes)
    kept = given.get("reductionKeepDimensions", found != (0,))
    attributes: dict[str, Any] = {"axis": found[0] if len(found) == 1 else found}
    attributes["reductionOp"] = given.get("reductionOpName", "Sum")
    return attributes if kept or found == (0,) else {**attributes, "keepDimensions": False}


def _where(given: Given, shapes: Shapes) -> dict[str, Any]:
    axes = given.get("newDynamicAxes") or []
    return {"newDynamicAxes": tuple(one.name for one in axes if isinstance(one, WireAxis))}


def _splice(given: Given, shapes: Shapes) -> dict[str, Any]:
    axis = _axis(given)
    return {"alongAxis": axis} if axis != 1 else {}


def _transposition(given: Given, shapes: Shapes) -> dict[str, Any]:
    several = given.get("axisVec")
    if not several:
        return {"axis1": _axis(given, "axis1"), "axis2": _axis(given, "axis2")}
    # Counted from the end, the rank is that of the list.
    order = tuple(_axis({"axis": one}) for one in several)
    order = tuple(axis + len(order) + 1 if axis < 0 else axis for axis in order)
    moved = [at for at, axis in enumerate(order, 1) if axis != at]
    if len(moved) == 2:
        return {"axis1": moved[0], "axis2": moved[1]}
    return {"axis1": 0, "axis2": 0, "order": order}


def _stack(given: Given, shapes: Shapes) -> dict[str, Any]:
    return {
        "bidirectional": bool(given.get("bidirectional", False)),
        "numLayers": given.get("numLayers", 1),
        "hiddenDims": given.get("hiddenSize", 0),
        "recurrentOp": given.get("recurrentOp", "lstm"),
        "axis": -1,
    }


def _regions(given: Given, shapes: Shapes) -> dict[str, Any]:
    found: dict[str, Any] = {"roiOutputShape": _sizes(given, "roiOutputShape")}
    if given.get("poolingType", 0) != 0:
        raise Unreadable("pools regions by means, which CNTK refuses, too")
    if "spatialScale" in given:
        found["featureScale"] = float(given["spatialScale"])
    return found


def _one_hot(given: Given, shapes: Shapes) -> dict[str, Any]:
    axis = given.get("onehotAxis")
    place = _axis(given, "onehotAxis") if isinstance(axis, WireAxis) else 1
    sparse = bool(given.get("oneHotOutputSparse", False))
    return {"numClass": given.get("numClass", 0), "axis": place, "sparse": sparse}


def _padding(given: Given, shapes: Shapes) -> dict[str, Any]:
    return {
        "head": tuple(given.get("paddingHead") or ()),
        "foot": tuple(given.get("paddingFoot") or ()),
        "mode": given.get("paddingMode", 0),
        "value": float(given.get("paddingConstantValue", 0.0)),
    }


def _largest(given: Given, shapes: Shapes) -> dict[str, Any]:
    """Return the number of items; CNTK moves the axis in question to the front before, and back
    after.
    """
    return {"numItems": given.get("numItems", 1)}


def _squeezed(given: Given, shapes: Shapes) -> dict[str, Any]:
    axes = given.get("axisVec") or [given["axis"]] if {"axisVec", "axis"} & given.keys() else []
    return {"axis": tuple(_axis({"axis": one}) for one in axes)} if axes else {}


def _filled(given: Given, shapes: Shapes) -> dict[str, Any]:
    return {"fillValue": float(given.get("fillValue", 0.0))}


def _cropped(given: Given, shapes: Shapes) -> dict[str, Any]:
    """Return the offsets along width and height, where they are given."""
    offsets = given.get("offset")
    if not isinstance(offsets, list) or len(offsets) != 2:
        return {}
    return {"xOffset": int(offsets[0]), "yOffset": int(offsets[1])}


def _sampled(given: Given, shapes: Shapes) -> dict[str, Any]:
    return {
        "sizeOfSampledSet": given.get("numSamples", 1),
        "allowDuplicates": bool(given.get("allowDuplicates", False)),
    }


def _same_attributes(given: Given, shapes: Shapes) -> dict[str, Any]:
    """Return the plain attributes of a function that the first format lacks."""
    plain = (bool, int, float, str)
    return {key: value for key, value in given.items() if isinstance(value, plain)}


_PAIR_SWAPPED = (1, 0)


def _named(operation: str) -> Twin:
    return Twin(operation, _none)


#: The functions that the first format calls otherwise, or that have attributes or another order.
_ROWS: dict[str, Twin] = {
    "ReLU": _named("RectifiedLinear"),
    "Cos": _named("Cosine"),
    "NoOp": _named("Pass"),
    "ELU": _named("ExponentialLinearUnit"),
    "StableSigmoid": _named("Sigmoid"),
    "SumAll": _named("SumElements"),
    "Select": _named("If"),
    "SquaredError": Twin("SquareError", _none, _PAIR_SWAPPED),
    "NDCG": Twin("NDCG1Eval", _none, _PAIR_SWAPPED),
    "StopGradient": _named("StopGradient"),
    "TransposeAxes": Twin("TransposeDimensions", _transposition),
    "Where": Twin("Where", _where),
    "Slice": Twin("Slice", _slice),
    "Reshape": Twin("Reshape", _reshape),
    "Pooling": Twin("Pooling", _pooling),
    "Unpooling": Twin("MaxUnpooling", _unpooling),
    "Convolution": Twin("Convolution", _convolution),
    "GatherPacked": Twin("GatherPacked", _none, _PAIR_SWAPPED),
    "ScatterPacked": Twin("ScatterPacked", _none, (2, 1, 0)),
    **dict.fromkeys(("PackedIndex", "ReconcileDynamicAxis"), Twin("", _none)),
    "Times": Twin("Times", _product),
    "TransposeTimes": Twin("TransposeTimes", _product),
    "CrossEntropyWithSoftmax": Twin("CrossEntropyWithSoftmax", _none, _PAIR_SWAPPED),
    "ClassificationError": Twin("ClassificationError", _none, _PAIR_SWAPPED),
    "Logistic": Twin("Logistic", _none, _PAIR_SWAPPED),
    "LambdaRank": Twin("LambdaRank", _none, _PAIR_SWAPPED),
    "Clip": Twin("Clip", _none, (1, 2, 0)),
    "PastValue": Twin("PastValue", _delay),
    "FutureValue": Twin("FutureValue", _delay),
    "ReduceElements": Twin("ReduceElements", _reduction),
    "BatchNormalization": Twin("BatchNormalization", _normalization),
    "Splice": Twin("RowStack", _splice),
    "RandomSample": Twin("RandomSample", _sampled),
    "RandomSampleInclusionFrequency": Twin("RandomSampleInclusionFrequency", _sampled),
    "ROIPooling": Twin("ROIPooling", _regions),
    "OptimizedRNNStack": Twin("OptimizedRNNStack", _stack, _PAIR_SWAPPED),
    "OneHot": Twin("OneHot", _one_hot),
    "Pad": Twin("Pad", _padding),
    "TopK": Twin("TopK", _largest),
    "Gather": Twin("Gather", _none),
    "Squeeze": Twin("Squeeze", _squeezed),
    "ConstantOp": Twin("ConstantOp", _filled),
    "Crop": Twin("Crop", _cropped),
    "Dropout": Twin("Dropout", _none),
}
_UNLIKE = frozenset(
    (
        "Block",
        "Combine",
        "Cast",
        "EyeLike",
        "CustomProxy",
        "RandomDistribution",
        "UnpackSequence",
        "ToSequence",
        "ToSequenceLike",
        "EditDistanceError",
        "ForwardBackward",
        "LatticeSequenceWithSoftmax",
        "ConvolutionSequenceShape",
    )
)


def function_of(name: str) -> Twin:
    """Return the row that translates a function to the first format."""
    row = _ROWS.get(name)
    if row is None:
        return Twin(name, _same_attributes if name in _UNLIKE else _none)
    return row if row.operation else row._replace(operation=name)
