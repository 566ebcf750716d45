"""Operations between tensors of any node, by CNTK's names; per-sample shapes are row-major.

CNTK writes the dimension that runs fastest first: its [50 x 2] is (2, 50) here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from netsharp_engine.geometry import product
from netsharp_engine.ops.definition import Operation, expect_inputs, expect_parameters, free
from netsharp_engine.ops.tensors.choosing import CHOOSING
from netsharp_engine.ops.tensors.criteria import CRITERIA, SUMS
from netsharp_engine.ops.tensors.images import IMAGES
from netsharp_engine.ops.tensors.products import PRODUCTS
from netsharp_engine.ops.tensors.shaping import (
    DELAYS,
    cropped,
    diagonal,
    indices,
    moved,
    one_element,
    reduced_elements,
    repeated,
    sliced,
    stacked,
    transposed,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from netsharp_engine.nodes import Node

__all__ = [
    "ACROSS",
    "COUNTING",
    "DRAWING",
    "ENVIRONMENT",
    "GATHERING",
    "HELD",
    "JOINING",
    "OPERATIONS",
    "STATISTICS",
    "SUMS",
    "TENSORS",
]

#: Operations whose value is their parameter's: the same for every sample.
HELD = ("LearnableParameter", "Mean", "InvStdDev")
#: Those of them that are computed from data before training: what they read is a source.
STATISTICS = HELD[1:]
#: Operations that join each sample with others: those of gaps are none.
ACROSS = ("CosDistanceWithNegativeSamples",)
#: The operation that says whether there is a training: 1, else 0.
ENVIRONMENT = "EnvironmentInput"
#: Operations that count samples in a parameter of their own, and keep running statistics.
COUNTING = ("BatchNormalization",)
#: Operations that draw classes by the weights that they read: the same for all samples.
DRAWING = ("RandomSample", "RandomSampleInclusionFrequency")
#: Operations that have one value for all samples of an epoch up to now.
GATHERING = ("EpochAccumulator",)
#: Operations that have one value for all samples that they are given.
JOINING = (*SUMS, *GATHERING)


def _held(node: Node) -> tuple[int, ...]:
    expect_inputs(node, int(node.op in STATISTICS))
    if len(node.parameters) != 1:
        raise ValueError(f"{len(node.parameters)} parameters given, 1 needed")
    return node.parameters[0].shape


def _number(node: Node) -> tuple[int, ...]:
    expect_inputs(node, 0)
    return (1,)


def _same(node: Node) -> tuple[int, ...]:
    expect_inputs(node, 1)
    return node.inputs[0].shape


def _mapped(count: int) -> Callable[[Node], tuple[int, ...]]:
    """Return the shape rule of element-wise operations: dimensions are equal, or 1 in one of the
    sources.
    """

    def shape(node: Node) -> tuple[int, ...]:
        expect_inputs(node, count)
        rank = max(len(source.shape) for source in node.inputs)
        padded = [(1,) * (rank - len(one.shape)) + one.shape for one in node.inputs]
        found = tuple(max(sizes) for sizes in zip(*padded, strict=True))
        for source, sizes in zip(node.inputs, padded, strict=True):
            if any(size not in (1, whole) for size, whole in zip(sizes, found, strict=True)):
                raise ValueError(f"{list(source.shape)} does not fit {list(found)}")
        return found

    return shape


def _delayed(node: Node) -> tuple[int, ...]:
    """Return the shape of a delay's source, which is connected later in a loop; the state at the
    border may be broadcast.
    """
    return node.inputs[0].shape


def _reshape(node: Node) -> tuple[int, ...]:
    """Return attribute ``shape``, which has as many elements as the source."""
    expect_inputs(node, 1)
    shape: tuple[int, ...] = tuple(node.attributes["shape"])
    if product(shape) != node.inputs[0].size:
        raise ValueError(f"{list(node.inputs[0].shape)} cannot become {list(shape)}")
    return shape


def _normalization(node: Node) -> tuple[int, ...]:
    """Return the shape of the first source; scale, bias, mean and variance are of its elements or
    its maps.

    The parameter counts samples.
    """
    expect_inputs(node, 5)
    expect_parameters(node, (1,))
    values, *others = node.inputs
    channels = values.shape[0] if node.attributes["spatial"] else values.size
    for one in others:
        if one.size != channels:
            raise ValueError(f"{list(one.shape)} does not fit {channels} channels")
    return values.shape


def _sampled(node: Node) -> tuple[int, ...]:
    """Return, for sampling, [set, classes]: a 1 among all classes for each of a set; for how often
    classes are drawn [1, classes].

    Attributes ``sizeOfSampledSet`` and ``allowDuplicates``.
    """
    expect_inputs(node, 1)
    classes, size = node.inputs[0].size, node.attributes["sizeOfSampledSet"]
    if size < 1 or (size >= classes and not node.attributes["allowDuplicates"]):
        raise ValueError(f"{size} different classes cannot be drawn from {classes}")
    return (size, classes) if node.op == DRAWING[0] else (1, classes)


_UNARY = (
    "Sigmoid Tanh RectifiedLinear Exp Log Negate Abs Sqrt Reciprocal Softmax LogSoftmax Pass"
    " Hardmax Floor Sin Cosine Acos Asin Atan Tan Cosh Sinh Asinh Atanh ExponentialLinearUnit"
    " StraightThrough StopGradient"
)
_BINARY = "Pow Plus Minus ElementTimes LogPlus Less LessEqual Equal NotEqual GreaterEqual Greater"
_RULES: dict[str, Callable[[Node], tuple[int, ...]]] = {
    "If": _mapped(3),
    "Clip": _mapped(3),
    "Slice": sliced,
    "RowStack": stacked,
    "TransposeDimensions": transposed,
    "ReduceElements": reduced_elements,
    "SumColumnElements": one_element,
    "RowRepeat": repeated,
    "Diagonal": diagonal,
    "Crop": cropped,
    "LegacyReshape": _reshape,
    "Where": indices,
    "PackedIndex": indices,
    "GatherPacked": moved,
    "ScatterPacked": moved,
    "ReconcileDynamicAxis": moved,
}
OPERATIONS = (
    *(Operation(name, _held, free) for name in HELD),
    *(Operation(name, _same, free) for name in _UNARY.split()),
    *(Operation(name, _mapped(2), free) for name in _BINARY.split()),
    Operation("PerDimMeanVarNormalization", _mapped(3), free),
    Operation("PerDimMeanVarDeNormalization", _mapped(3), free),
    *PRODUCTS,
    Operation("Reshape", _reshape, free),
    *IMAGES,
    *CHOOSING,
    Operation("Dropout", _same, free),
    Operation(ENVIRONMENT, _number, free, alone=True),
    *(Operation(name, _normalization, free) for name in COUNTING),
    *(Operation(name, _sampled, free) for name in DRAWING),
    *(Operation(name, _same, free) for name in GATHERING),
    *CRITERIA,
    *(Operation(name, rule, free) for name, rule in _RULES.items()),
    *(Operation(name, _delayed, free) for name in DELAYS),
)
#: The names of all of them.
TENSORS = frozenset(operation.name for operation in OPERATIONS)
