"""Every operation on tensors with shapes, attributes and values of its sources to try it on."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import numpy as np
import numpy.typing as npt

from netsharp_engine.geometry import CorneredAxis
from netsharp_engine.graph import Graph
from netsharp_engine.nodes import Node
from netsharp_engine.ops.tensors import (
    _BINARY,
    COUNTING,
    DRAWING,
    ENVIRONMENT,
    GATHERING,
    HELD,
    TENSORS,
)
from netsharp_engine.ops.tensors.images import POOLING
from netsharp_engine.ops.tensors.shaping import COLUMNS, DELAYS

Array = npt.NDArray[np.float64]
Shape = tuple[int, ...]
#: Shapes of sources by operation, row-major; element-wise ones have more below.
SHAPES: dict[str, list[tuple[Shape, ...]]] = {
    "Times": [((3, 4), (3,)), ((3, 4), (2, 3)), ((2, 3, 4, 5), (2, 3)), ((3, 1), (3,))],
    "CrossEntropyWithSoftmax": [((4,), (4,)), ((1, 4), (4,))],
    "ClassificationError": [((4,), (4,))],
    "SquareError": [((4,), (4,)), ((4,), (1, 4))],
    "If": [((3, 4), (4,), (3, 4)), ((1,), (3, 1), (4,))],
    "Clip": [((1,), (1,), (3, 4)), ((4,), (1,), (3, 4))],
    "Slice": [((5,),), ((3, 4),)],
    "RowStack": [((3,), (2,)), ((2, 3), (3,), (2, 1))],
    "Reshape": [((6,),), ((3, 2),)],
    "TransposeDimensions": [((2, 3),), ((2, 3, 4),), ((3,),)],
    "TransposeTimes": [((3, 4), (4,)), ((3, 4), (2, 4)), ((4,), (4,))],
    "ReduceElements": [((4,),), ((3, 4),), ((3, 4, 2),)],
    "PerDimMeanVarNormalization": [((4,), (4,), (4,)), ((2, 4), (4,), (1, 4))],
    "PerDimMeanVarDeNormalization": [((4,), (4,), (4,)), ((2, 4), (4,), (1, 4))],
    "LookupTable": [((4, 3), (4,)), ((4, 3), (8,)), ((4, 3), (3, 4))],
    "DiagTimes": [((3,), (3,)), ((1, 3), (2, 3)), ((6,), (2, 3))],
    "KhatriRaoProduct": [((3,), (2,)), ((2, 2), (3, 1))],
    "CosDistance": [((4,), (4,)), ((2, 2), (4,))],
    "CosDistanceWithNegativeSamples": [((4,), (4,), (1,), (1,)), ((2, 2), (4,), (1,), (1,))],
    "Diagonal": [((3, 3),), ((1, 1),)],
    "LegacyReshape": [((6,),), ((3, 2),)],
    "CrossEntropy": [((4,), (4,)), ((1, 4), (4,))],
    "Logistic": [((1,), (1,)), ((4,), (1, 4)), ((1,), (1,), (1,)), ((4,), (4,), (4,))],
    "ClassBasedCrossEntropyWithSoftmax": [((4,), (3,), (7, 3), (2,))],
    "ROIPooling": [((2, 5, 4), (3, 4))],
    "MaxUnpooling": [((1, 2, 3), (1, 5, 7)), ((6,), (5, 7))],
    "DummyCriterion": [((1,), (4,), (2, 2))],
    "NoiseContrastiveEstimation": [((6,), (3,), (7, 3), (7,)), ((4,), (3,), (7, 3), (7, 1))],
    "Crop": [((5, 4), (2, 3)), ((2, 5, 4), (3, 3))],
    "OneHot": [((3,),), ((2, 3),)],
    "Pad": [((3, 4),)],
    "TopK": [((5,),), ((2, 4),)],
    "Gather": [((2,), (5, 3)), ((2, 3), (4,)), ((1,), (4, 2, 2))],
    "EyeLike": [((3, 4),)],
}
PAIRS: list[tuple[Shape, ...]] = [
    ((3, 4), (3, 4)),
    ((3, 4), (4,)),
    ((1,), (3, 4)),
    ((3, 1), (1, 4)),
]
UNARY: list[tuple[Shape, ...]] = [((4,),), ((3, 4),)]
#: Attributes by operation: each set is tried.
ATTRIBUTES: dict[str, list[dict[str, object]]] = {
    "Slice": [
        {"axis": 1, "beginIndex": 1, "endIndex": 3},
        {"axis": 1, "beginIndex": -2, "endIndex": 0},
        {"axis": 1, "beginIndex": 0, "endIndex": 0, "stride": 2},
        {"axis": 1, "beginIndex": 1, "endIndex": 0, "stride": -2},
        {"axis": 1, "beginIndex": 0, "endIndex": -1, "stride": -1},
    ],
    "OneHot": [{"axis": 1, "classes": 4}, {"axis": 2, "classes": 4}],
    "Pad": [{"head": (1, 2), "foot": (2, 0), "mode": mode, "value": 0.5} for mode in range(3)],
    "TopK": [{"count": 2, "places": False}, {"count": 3, "places": True}],
    "ConstantOp": [{"value": 0.5}],
    "RowStack": [{"axis": 1}, {"axis": 3}],
    "Reshape": [{"shape": (2, 3)}],
    "LegacyReshape": [{"shape": (2, 3)}],
    "ROIPooling": [{"size": (2, 3)}, {"size": (1, 1)}, {"size": (2, 3), "scale": 4.0}],
    "MaxUnpooling": [{"axes": tuple(CorneredAxis(*side) for side in ((5, 3, 2), (7, 3, 2)))}],
    "RowRepeat": [{"numRepeats": 1}, {"numRepeats": 3}],
    "Crop": [{"offsets": (0, 0)}, {"offsets": (1, 2)}],
    "CosDistanceWithNegativeSamples": [{"negatives": 1}, {"negatives": 4}],
    "TransposeDimensions": [{"axis1": 1, "axis2": 2}],
    "ReduceElements": [
        {"axis": axis, "reductionOp": kind}
        for axis in (0, 1)
        for kind in ("Sum", "Mean", "LogSum", "Max", "Min", "Prod", "Argmax", "Argmin")
    ],
}
SAMPLES = 3
#: Operations whose derivative has a gap at 0, and those that are defined above it.
AWAY_FROM_ZERO = ("Abs", "RectifiedLinear", "Reciprocal", "MatrixL1Reg", "ExponentialLinearUnit")
POSITIVE = ("Log", "Sqrt", "CrossEntropy", "Pow")
#: Those whose sources lie between -1 and 1.
INSIDE = ("Acos", "Asin", "Atanh")
#: Those that `test_images.py`, `test_acting.py` and `test_drawing.py` test, which need more.
WINDOWED = ("Convolution", *POOLING, "Dropout", *COUNTING, *DRAWING, *GATHERING, ENVIRONMENT)
#: Those whose gradient is given, not that of their value.
GIVEN = ("DummyCriterion", "LambdaRank", "NDCG1Eval", "StraightThrough")


def shapes(operation: str) -> list[tuple[Shape, ...]]:
    if operation in SHAPES:
        return SHAPES[operation]
    return PAIRS if operation in _BINARY.split() else UNARY


def values(operation: str, shape: Shape, random: np.random.Generator) -> Array:
    drawn = random.normal(size=shape)
    if operation in INSIDE:
        return np.tanh(drawn) * 0.9
    if operation in POSITIVE:
        return np.abs(drawn) + 0.1
    if operation in AWAY_FROM_ZERO:
        return drawn + np.sign(drawn) * 0.1
    return drawn


def clipped(sources: list[Array]) -> list[Array]:
    """Numbers to both sides of a range."""
    sources[0][...], sources[1][...] = -0.5, 0.5
    return sources


def shares(sources: list[Array]) -> list[Array]:
    """Labels of every sample that sum to 1, as the original takes it."""
    count = max(map(len, sources))
    labels, z = (np.broadcast_to(one, (count, *one.shape[1:])).copy() for one in sources)
    return [np.abs(labels) / np.abs(labels).sum(-1, keepdims=True), z]


def checked(sources: list[Array]) -> list[Array]:
    """Labels of 0 and 1, probabilities, and weights that are 1 in the mean, as the original takes
    it.
    """
    sources[0] = (sources[0] > 0).astype(float)
    sources[1] = 0.1 + 0.8 / (1 + np.exp(-sources[1]))
    if len(sources) == 3:
        count = max(map(len, sources))
        weights = np.abs(np.broadcast_to(sources[2], (count, *sources[2].shape[1:]))) + 0.1
        sources[2] = weights / weights.sum() * count
    return sources


def shifted(sources: list[Array]) -> list[Array]:
    """Second vectors, shifted by two samples."""
    sources[2] = np.full((1, 1), 2.0)
    return sources


def worded(sources: list[Array]) -> list[Array]:
    """Words of seven in two classes."""
    labels = np.array([[5.0, 1, 4, 7], [0, 0, 0, 4], [3, 0, 0, 4]])
    sources[0] = np.resize(labels, sources[0].shape)
    return sources


def contrasted(sources: list[Array]) -> list[Array]:
    """A word of seven and its noise, with the logarithms of their probabilities."""
    words = np.array([5.0, 0, 3, 6, 1, 5, 2, 2, 4])
    logs = -np.abs(sources[0][:, 1::2]) - 0.5
    sources[0][:, ::2] = np.resize(words, sources[0][:, ::2].shape)
    sources[0][:, 1::2] = -logs
    sources[0][:, 1] *= -1
    return sources


def boxed(sources: list[Array]) -> list[Array]:
    """Regions as shares of an image: left, top, width and height; some reach beyond it."""
    sources[1] = 1 / (1 + np.exp(-sources[1]))
    return sources


def numbered(sources: list[Array]) -> list[Array]:
    """Numbers of rows of the second source, and of some classes beyond."""
    most = sources[1].shape[1] if len(sources) > 1 else 5
    sources[0] = np.floor(np.abs(sources[0]) * 10) % most
    return sources


#: What sources have to be beside drawn at random.
PREPARED: dict[str, Callable[[list[Array]], list[Array]]] = {
    "Clip": clipped,
    "ROIPooling": boxed,
    "CrossEntropyWithSoftmax": shares,
    "Logistic": checked,
    "CosDistanceWithNegativeSamples": shifted,
    "ClassBasedCrossEntropyWithSoftmax": worded,
    "NoiseContrastiveEstimation": contrasted,
    "OneHot": numbered,
    "Gather": numbered,
}


CASES = [
    (operation, sizes, attributes, spread)
    for operation in sorted(TENSORS.difference(HELD, COLUMNS, DELAYS, WINDOWED, GIVEN))
    for sizes in shapes(operation)
    for attributes in ATTRIBUTES.get(operation, [{}])
    if (operation, attributes.get("axis"), len(sizes)) != ("RowStack", 3, 2)
    for spread in product((SAMPLES, 1), repeat=len(sizes))
]


def node_of(operation: str, sizes: tuple[Shape, ...], **given: object) -> Node:
    graph = Graph()
    sources = [graph.input(f"x{number}", shape) for number, shape in enumerate(sizes)]
    rank = len(sizes[0]) - (2 if len(sizes[0]) == 4 else 1)
    if operation == "Times" and len(sizes[0]) == 4:
        given["outputRank"] = rank
    return graph.apply(operation, *sources, name="y", **given)
