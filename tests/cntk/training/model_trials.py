"""Trials of functions of the second format: what goes in, and the values of another library."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from netsharp_engine.cntk.stored.dictionaries.functions import OPERATIONS
from tests.cntk.training.model_writing import Axis, Shape
from tests.peers import peer

torch = peer("torch")
from torch.nn import functional  # noqa: E402

Array = Any
SAMPLES = 3
#: What stands for all axes of a sample.
EVERY = Axis((2147483646, "AllStaticAxes"))


def op(name: str) -> int:
    return OPERATIONS.index(name)


def at(place: int) -> Axis:
    """An axis from 0 on, or from the end where negative."""
    return Axis((place, f"staticAxisIdx={place}"))


class Trial(NamedTuple):
    """A function: its attributes, the row-major shapes of its inputs, and what it is to give of
    tensors [samples, *shape].  ``held``: how many inputs in front are parameters.  ``drawn`` makes
    the numbers of an input.
    """

    name: str
    attributes: dict[str, Any]
    shapes: tuple[tuple[int, ...], ...]
    wanted: Callable[..., Any]
    held: int = 0
    drawn: Callable[[np.random.Generator, tuple[int, ...]], Array] = lambda r, s: r.normal(size=s)
    output: int = 0
    #: Why it is not exported, where that is so.
    refused: str = ""


def inside(random: np.random.Generator, shape: tuple[int, ...]) -> Array:
    return np.tanh(random.normal(size=shape)) * 0.9


def positive(random: np.random.Generator, shape: tuple[int, ...]) -> Array:
    return np.abs(random.normal(size=shape)) + 0.1


def counted(random: np.random.Generator, shape: tuple[int, ...]) -> Array:
    """Whole numbers for what has one or two axes, any others beyond."""
    return random.integers(0, 4, shape) if len(shape) < 4 else random.normal(size=shape)


def corners(random: np.random.Generator, shape: tuple[int, ...]) -> Array:
    """Two corners of each region; an image."""
    if shape[-1] != 4:
        return random.normal(size=shape)
    return np.sort(random.uniform(0, 11, (*shape[:-1], 2, 2)), -2).reshape(shape)


def unary(name: str, wanted: Callable[[Any], Any], **more: Any) -> Trial:
    return Trial(name, {}, ((3, 4),), wanted, **more)


def pair(name: str, wanted: Callable[..., Any], **more: Any) -> Trial:
    """The second is broadcast: CNTK fills shapes up behind, so the fastest axes are those in
    common.
    """
    return Trial(name, {}, ((3, 4), (4,)), lambda a, b: wanted(a, b[:, None]), **more)


def reduction(kind: str, wanted: Callable[[Any], Any], **options: Any) -> Trial:
    return Trial("ReduceElements", {"reductionOpName": kind, **options}, ((2, 3, 4),), wanted)


def window(**options: Any) -> dict[str, Any]:
    """Attributes of windows, as CNTK writes them: all of them, the channels last."""
    return {"lowerPad": Shape((0,)), "upperPad": Shape((0,)), **options}


def flat(z: Any) -> Any:
    return z.reshape(len(z), -1)


def ceiled(kind: str, size: int, kernel: int, stride: int) -> Trial:
    """A pooling whose last window may stand out of the image, where real cells alone count."""

    def wanted(z: Any) -> Any:
        if kind == "max":
            return functional.max_pool2d(z, kernel, stride, ceil_mode=True)
        return functional.avg_pool2d(z, kernel, stride, ceil_mode=True, count_include_pad=False)

    reported = window(poolingType=int(kind != "max"), poolingWindowShape=Shape((kernel, kernel)))
    reported |= {"strides": Shape((stride, stride)), "autoPadding": [False], "ceilOutDim": True}
    return Trial("Pooling", reported, ((2, size, size + 1),), wanted)


def padded_pool(z: Any, kernel: int, stride: int, pads: tuple[int, int], kind: str) -> Any:
    """A pooling with cells in front and behind."""
    both = pads * 2
    if kind == "max":
        return functional.max_pool2d(functional.pad(z, both, value=-torch.inf), kernel, stride)
    sums = functional.avg_pool2d(functional.pad(z, both), kernel, stride)
    if kind == "all":
        return sums
    return sums / functional.avg_pool2d(functional.pad(torch.ones_like(z), both), kernel, stride)


def pooling(kind: str, size: int, kernel: int, stride: int, pads: tuple[int, int]) -> Trial:
    """Automatic padding: what strides leave over is shared between both sides."""
    reported = window(poolingType=int(kind != "max"), poolingWindowShape=Shape((kernel, kernel)))
    reported |= {"strides": Shape((stride, stride)), "autoPadding": [True, True, False]}
    reported |= {"includePad": kind == "all"}
    return Trial(
        "Pooling",
        reported,
        ((2, size, size),),
        lambda z: padded_pool(z, kernel, stride, pads, kind),
    )


def convolution(
    wanted: Callable[[Any, Any], Any],
    weights: tuple[int, ...],
    image: tuple[int, ...],
    **options: Any,
) -> Trial:
    given = window(sharing=[True], autoPadding=[False], strides=Shape((1,)), transpose=False)
    return Trial("Convolution", given | options, (weights, image), wanted, held=1)


def normalized(*inputs: Any) -> Any:
    image, scale, bias, mean, variance, _ = inputs
    return functional.batch_norm(
        image, *(one.reshape(-1) for one in (mean, variance, scale, bias)), eps=1e-3
    )


def picked(indices: Any, reference: Any) -> Any:
    return torch.stack([reference[0][one.long()] for one in indices])


def marked(z: Any, classes: int, axis: int) -> Any:
    return functional.one_hot(z.long(), classes).movedim(-1, axis)


def crossed(z: Any, labels: Any) -> Any:
    return (z[:, :, None] * labels[:, None, :]).flatten(1)


SPATIAL = {"spatial": True, "epsilon": 1e-3, "normalizationTimeConstant": 0.0}
TRIALS = [
    unary("Negate", torch.neg),
    unary("Sigmoid", torch.sigmoid),
    unary("StableSigmoid", torch.sigmoid),
    unary("Tanh", torch.tanh),
    unary("ReLU", torch.relu),
    unary("Exp", torch.exp),
    unary("Log", torch.log, drawn=positive),
    unary("Sqrt", torch.sqrt, drawn=positive),
    unary("Floor", torch.floor),
    unary("Abs", torch.abs),
    unary("Reciprocal", torch.reciprocal),
    unary("Sin", torch.sin),
    unary("Cos", torch.cos),
    unary("Tan", torch.tan),
    unary("Asin", torch.asin, drawn=inside),
    unary("Acos", torch.acos, drawn=inside),
    unary("Atan", torch.atan),
    unary("Sinh", torch.sinh),
    unary("Cosh", torch.cosh),
    unary("Asinh", torch.asinh),
    unary("Atanh", torch.atanh, drawn=inside),
    unary("ELU", functional.elu),
    unary("StraightThrough", lambda z: torch.where(z > 0, 1.0, -1.0)),
    unary("Softmax", lambda z: torch.softmax(flat(z), 1).reshape(z.shape)),
    unary("LogSoftmax", lambda z: torch.log_softmax(flat(z), 1).reshape(z.shape)),
    unary("Hardmax", lambda z: functional.one_hot(flat(z).argmax(1), 12).reshape(z.shape)),
    *(unary(name, lambda z: z) for name in ("Pass", "NoOp", "StopGradient", "Dropout")),
    Trial("Cast", {"newDataType": 2}, ((3, 4),), lambda z: z),
    Trial("ConstantOp", {"fillValue": 1.5}, ((3, 4),), lambda z: torch.full_like(z, 1.5)),
    Trial("EyeLike", {"outputSparse": False}, ((3, 4),), lambda z: torch.eye(3, 4), held=1),
    pair("Plus", torch.add),
    pair("Minus", torch.sub),
    pair("ElementTimes", torch.mul),
    pair("LogPlus", torch.logaddexp),
    pair("Pow", torch.pow, drawn=positive),
    pair("Less", torch.lt, drawn=counted),
    pair("LessEqual", torch.le, drawn=counted),
    pair("Equal", torch.eq, drawn=counted),
    pair("NotEqual", torch.ne, drawn=counted),
    pair("GreaterEqual", torch.ge, drawn=counted),
    pair("Greater", torch.gt, drawn=counted),
    Trial("Select", {}, ((3, 4),) * 3, lambda c, a, b: torch.where(c != 0, a, b), drawn=counted),
    Trial("Clip", {}, ((3, 4), (1,), (1,)), lambda z, a, b: z.clip(a.min(), b.max()), held=-2),
    Trial(
        "Times",
        {"outputRank": 1, "inferInputRankToMap": -1},
        ((4, 5), (4,)),
        lambda w, z: z @ w[0],
        held=1,
    ),
    Trial(
        "Times",
        {"outputRank": 2, "inferInputRankToMap": 0},
        ((3, 4, 2, 5), (3, 4)),
        lambda w, z: torch.einsum("nab,abcd->ncd", z, w[0]),
        held=1,
    ),
    Trial("TransposeTimes", {"outputRank": 1}, ((5, 4), (4,)), lambda w, z: z @ w[0].T, held=1),
    Trial(
        "CosDistance",
        {},
        ((4,), (4,)),
        lambda a, b: functional.cosine_similarity(a, b)[:, None],
    ),
    Trial(
        "Slice",
        {"axis": at(0), "beginIndex": 1, "endIndex": -1, "sliceStrides": 1},
        ((3, 4),),
        lambda z: z[:, :, 1:-1],
    ),
    Trial(
        "Slice",
        {"axis": at(-1), "beginIndex": 0, "endIndex": 0, "sliceStrides": 2},
        ((5, 4),),
        lambda z: z[:, ::2],
    ),
    Trial(
        "Slice",
        {"axis": at(0), "beginIndex": 1, "endIndex": 0, "sliceStrides": -2},
        ((3, 6),),
        lambda z: z.flip(2)[:, :, :5:2],
    ),
    Trial(
        "Slice",
        {
            "axisVec": [at(0), at(1)],
            "beginIndexVec": [1, -2],
            "endIndexVec": [3, 0],
            "sliceStridesVec": [1, 1],
        },
        ((3, 4),),
        lambda z: z[:, -2:, 1:3],
    ),
    Trial(
        "Slice",
        {"axisVec": [at(-1), at(-2)], "beginIndexVec": [0, 1], "endIndexVec": [0, 6]}
        | {"sliceStridesVec": [2, -3]},
        ((5, 6),),
        lambda z: z[:, ::2, [5, 2]],
    ),
    Trial("Reshape", {"newShape": Shape((2, 6))}, ((3, 4),), lambda z: z.reshape(-1, 6, 2)),
    Trial(
        "Reshape",
        {"newShape": Shape((2, 2)), "beginAxis": at(0), "endAxis": at(1)},
        ((3, 4),),
        lambda z: z.reshape(-1, 3, 2, 2),
    ),
    Trial("Squeeze", {}, ((2, 1, 3),), lambda z: z.squeeze(2)),
    Trial("Squeeze", {"axisVec": [at(-1)]}, ((1, 1, 3),), lambda z: z.squeeze(1)),
    Trial(
        "TransposeAxes",
        {"axis1": at(0), "axis2": at(1)},
        ((3, 4),),
        lambda z: z.transpose(1, 2),
    ),
    Trial(
        "TransposeAxes",
        {"axisVec": [at(1), at(2), at(0)]},
        ((2, 3, 4),),
        # Counted from 0, the fastest first: the new fastest axis is the second.
        lambda z: z.permute(0, 3, 1, 2),
    ),
    Trial(
        "TransposeAxes",
        {"axisVec": [at(-2), at(-4), at(-1), at(-3)]},
        ((2, 3, 4, 5),),
        lambda z: z.permute(0, 3, 1, 4, 2),
    ),
    Trial("Splice", {"axis": at(0)}, ((3, 4), (3, 2)), lambda a, b: torch.cat((a, b), 2)),
    Trial("Splice", {"axis": at(-1)}, ((3, 4), (2, 4)), lambda a, b: torch.cat((a, b), 1)),
    reduction("Sum", lambda z: z.sum(3, keepdim=True), axis=at(0)),
    reduction("Mean", lambda z: z.mean(1, keepdim=True), axis=at(-1)),
    reduction("Max", lambda z: z.amax(2), axis=at(1), reductionKeepDimensions=False),
    reduction("Min", lambda z: z.amin((1, 2, 3))[:, None], axis=EVERY),
    reduction("LogSum", lambda z: z.logsumexp((2, 3), True), axisVec=[at(0), at(1)]),
    reduction("Mean", lambda z: z.mean((1, 3)), axisVec=[at(0), at(2)])._replace(
        attributes={
            "reductionOpName": "Mean",
            "axisVec": [at(0), at(2)],
            "reductionKeepDimensions": False,
        }
    ),
    reduction("Prod", lambda z: z.prod(2, keepdim=True), axis=at(1)),
    reduction("Argmax", lambda z: z.argmax(3, keepdim=True), axis=at(0)),
    reduction("Argmin", lambda z: flat(z).argmin(1)[:, None], axis=EVERY),
    Trial(
        "OneHot",
        {"numClass": 4, "onehotAxis": at(0), "oneHotOutputSparse": False},
        ((3,),),
        lambda z: marked(z, 4, 2),
        drawn=counted,
    ),
    Trial(
        "OneHot",
        {"numClass": 5, "onehotAxis": at(-1), "oneHotOutputSparse": True},
        ((2, 3),),
        lambda z: marked(z, 5, 1),
        drawn=counted,
    ),
    *(
        Trial(
            "Pad",
            {"paddingHead": [1, 2], "paddingFoot": [0, 1], "paddingMode": mode}
            | {"paddingConstantValue": 0.5},
            ((4, 3),),
            lambda z, mode=mode: torch.tensor(
                np.pad(z, ((0, 0), (2, 1), (1, 0)), ("constant", "reflect", "symmetric")[mode])
                if mode
                else np.pad(z, ((0, 0), (2, 1), (1, 0)), constant_values=0.5)
            ),
        )
        for mode in range(3)
    ),
    Trial("TopK", {"numItems": 2}, ((3, 5),), lambda z: z.topk(2).values),
    Trial("TopK", {"numItems": 2}, ((3, 5),), lambda z: z.topk(2).indices, output=1),
    Trial("Gather", {}, ((2,), (4, 3)), picked, drawn=counted),
    Trial("Gather", {}, ((2, 3), (4, 2, 2)), picked, drawn=counted),
    *(
        pooling("max", *found)
        for found in ((6, 3, 2, (1, 0)), (5, 3, 1, (1, 1)), (6, 2, 2, (0, 0)))
    ),
    # A stride of 3 leaves 2 cells over: one on each side.
    pooling("max", 6, 3, 3, (0, 0)),
    pooling("real", 5, 3, 2, (1, 1)),
    pooling("all", 6, 3, 2, (1, 0)),
    ceiled("max", 6, 3, 2),
    ceiled("mean", 6, 3, 2),
    ceiled("max", 7, 2, 3),
    Trial(
        "Pooling",
        window(poolingType=1, poolingWindowShape=Shape((5, 4)), strides=Shape((1,)))
        | {"autoPadding": [False]},
        ((2, 4, 5),),
        lambda z: z.mean((2, 3), keepdim=True),
    ),
    convolution(lambda w, z: functional.conv2d(z, w[0]), (4, 3, 2, 3), (3, 5, 6)),
    # Along the channels there is no padding, whatever is said.
    convolution(
        lambda w, z: functional.conv2d(functional.pad(z, (1, 0, 1, 0)), w[0], stride=2),
        (4, 3, 3, 3),
        (3, 6, 6),
        autoPadding=[True],
        strides=Shape((2, 2)),
    ),
    # In 9, kernel 5, stride 4: three places, one cell left over of which none is shared.
    convolution(
        lambda w, z: functional.conv2d(functional.pad(z, (2, 2, 2, 2)), w[0], stride=4),
        (2, 3, 5, 5),
        (3, 9, 9),
        autoPadding=[True, True, False],
        strides=Shape((4, 4)),
    ),
    # In 7, kernel 5, stride 4: two cells left over, one on each side.
    convolution(
        lambda w, z: functional.conv2d(functional.pad(z, (1, 1, 1, 1)), w[0], stride=4),
        (2, 3, 5, 5),
        (3, 7, 7),
        autoPadding=[True, True, False],
        strides=Shape((4, 4)),
    ),
    convolution(
        lambda w, z: functional.conv2d(z, w[0], groups=2),
        (6, 2, 3, 3),
        (4, 5, 6),
        groups=2,
    ),
    convolution(
        lambda w, z: functional.conv2d(functional.pad(z, (1, 1, 1, 1)), w[0], groups=4),
        (4, 1, 3, 3),
        (4, 5, 6),
        groups=4,
        autoPadding=[True, True, False],
    ),
    convolution(
        lambda w, z: functional.conv2d(z, w[0], dilation=(3, 2)),
        (4, 3, 2, 3),
        (3, 7, 8),
        dilation=Shape((2, 3, 1)),
    ),
    convolution(
        lambda w, z: functional.conv2d(
            functional.pad(z, (2, 2, 2, 2)), w[0], dilation=2, groups=3, stride=2
        ),
        (6, 1, 3, 3),
        (3, 7, 7),
        dilation=Shape((2, 2, 1)),
        groups=3,
        strides=Shape((2, 2)),
        autoPadding=[True, True, False],
    ),
    convolution(
        lambda w, z: functional.conv1d(z, w[0]),
        (4, 3, 2),
        (3, 6),
    ),
    convolution(
        lambda w, z: functional.conv3d(z, w[0], stride=(1, 2, 1)),
        (2, 3, 2, 2, 2),
        (3, 4, 5, 3),
        strides=Shape((1, 2, 1)),
    ),
    convolution(
        lambda w, z: functional.conv_transpose2d(z, w[0], stride=2),
        (3, 4, 2, 3),
        (3, 4, 5),
        transpose=True,
        strides=Shape((2, 2)),
    ),
    convolution(
        # 6 is what 3 places of automatic padding come from, and so is 5.
        lambda w, z: functional.conv_transpose2d(z, w[0], stride=2)[:, :, 1:7, 1:7],
        (3, 4, 3, 3),
        (3, 3, 3),
        transpose=True,
        strides=Shape((2, 2)),
        autoPadding=[True, True, False],
        outputShape=Shape((6, 6, 4)),
    ),
    Trial(
        "BatchNormalization",
        SPATIAL,
        ((3, 4, 5), (3,), (3,), (3,), (3,), (1,)),
        normalized,
        held=-5,
        drawn=positive,
    ),
    Trial(
        "ROIPooling",
        {"roiOutputShape": Shape((2, 3)), "spatialScale": 0.5, "poolingType": 0},
        ((2, 6, 8), (3, 4)),
        lambda z, boxes: regions(z.numpy(), boxes.numpy()),
        drawn=corners,
    ),
]


def regions(images: Array, boxes: Array) -> Any:
    """The largest cells of 3 x 2 parts of regions, one by one, as R-CNN's authors have it."""
    found = np.zeros((len(images), boxes.shape[1], 2, 3, 2))
    for n, r, c, i, j in np.ndindex(*found.shape):
        left, top, right, bottom = (int(np.floor(one * 0.5 + 0.5)) for one in boxes[n, r])
        high, wide = max(bottom - top + 1, 1) / 3, max(right - left + 1, 1) / 2
        rows = range(top + int(np.floor(i * high)), top + int(np.ceil((i + 1) * high)))
        columns = range(left + int(np.floor(j * wide)), left + int(np.ceil((j + 1) * wide)))
        cells = [images[n, c, y, x] for y in rows for x in columns if 0 <= y < 6 and 0 <= x < 8]
        found[n, r, c, i, j] = max(cells, default=0)
    return torch.tensor(found)
