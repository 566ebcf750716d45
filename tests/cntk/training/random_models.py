"""Random networks that become model files of either format, by writers that know no reader.

A network is a list of nodes in words of the first format; `first` and `second` write it down as the
description of the formats has it.  Shapes are CNTK's, the fastest dimension first.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from netsharp_engine.cntk.stored.dictionaries.functions import OPERATIONS
from tests.cntk.training.model_writing import (
    BATCH,
    STEPS,
    Axis,
    First,
    Second,
    Shape,
    dimensions,
    size,
    text,
)

Dims = tuple[int, ...]
Array = Any
_EVERY = Axis((2147483646, "AllStaticAxes"))
#: Functions of one value, and those that need one between -1 and 1, above 0, or read beforehand.
SMOOTH = ("Sigmoid", "Tanh", "RectifiedLinear", "Negate", "Abs", "Sin", "Cosine", "Pass", "Softmax")
SMOOTH += ("LogSoftmax", "Dropout")
CALM = ("Exp", "Acos", "Asin", "Atan", "Tan", "Cosh", "Sinh", "Asinh", "Atanh")
CALM += ("ExponentialLinearUnit", "StopGradient")
ABOVE = ("Log", "Sqrt", "Reciprocal")
STEPPED = ("Floor", "Hardmax")
PAIRS = ("Plus", "Minus", "ElementTimes", "LogPlus")
COMPARED = ("Less", "LessEqual", "Equal", "NotEqual", "GreaterEqual", "Greater")
REDUCED = ("Sum", "Mean", "Max", "Min", "LogSum")
#: What the second format calls nodes otherwise.
_SECOND = {
    "RectifiedLinear": "ReLU",
    "Cosine": "Cos",
    "ExponentialLinearUnit": "ELU",
    "If": "Select",
    "TransposeDimensions": "TransposeAxes",
    "RowStack": "Splice",
}
#: Which inputs of the first format stand where in the second.
_TURNED = {"Clip": (2, 0, 1)}


class Made(NamedTuple):
    """A node: its type and name, what it reads, its attributes, its shape, its numbers."""

    operation: str
    name: str
    inputs: tuple[str, ...]
    attributes: dict[str, Any]
    shape: Dims
    values: Array = None


class Grown:
    """A network that grows by random nodes of a format, over sequences or not."""

    def __init__(self, seed: int, form: str, version: int = 27) -> None:
        self.random = np.random.default_rng(seed)
        self.form, self.version = form, version
        self.steps = bool(self.random.integers(2))
        self.nodes: list[Made] = []
        self.shapes: dict[str, Dims] = {}
        image = (5, 4, 4) if self.random.integers(2) else (6,)
        self.raw = [self.node("InputValue", (), {}, image)]
        self.pool = [self.raw[0], self.node("Tanh", self.raw, {}, image)]
        growing = [self.smooth, self.calm, self.stepped, self.pair, self.product, self.arranged]
        growing += [self.arranged, self.window, self.normalized]
        growing += [self.delayed, self.looped] if self.steps else [self.later] * (form == "v2")
        for _ in range(int(self.random.integers(3, 9))):
            made = growing[self.random.integers(len(growing))](self.one())
            self.pool.append(made)
        # Numbers stay within what single precision tells apart.
        last = self.pool[-1]
        self.output = self.node("Tanh", (last,), {}, self.shapes[last])

    def one(self) -> str:
        return self.pool[self.random.integers(len(self.pool))]

    def among(self, names: Sequence[Any]) -> Any:
        return names[self.random.integers(len(names))]

    def whole(self, low: int, high: int) -> int:
        return int(self.random.integers(low, high))

    def node(
        self,
        operation: str,
        inputs: Sequence[str],
        attributes: dict[str, Any],
        shape: Dims,
        values=None,
    ) -> str:
        name = f"n{len(self.nodes)}"
        self.nodes.append(Made(operation, name, tuple(inputs), attributes, shape, values))
        self.shapes[name] = shape
        return name

    def held(self, shape: Dims, values: Array = None) -> str:
        """A parameter, its numbers row-major."""
        if values is None:
            values = self.random.normal(size=shape[::-1]) / 2
        fields = {"learningRateMultiplier": 1.0}
        return self.node("LearnableParameter", (), fields, shape, np.asarray(values, np.float32))

    def same(self, operation: str, *sources: str, **options: Any) -> str:
        return self.node(operation, sources, options, self.shapes[sources[0]])

    def smooth(self, source: str) -> str:
        return self.same(self.among(SMOOTH), source)

    def calm(self, source: str) -> str:
        name = self.same("Tanh", source)
        half = self.same("ElementTimes", name, self.held((1,), np.array([0.9])))
        if self.random.integers(3):
            return self.same(self.among(CALM), half)
        one = self.same("Plus", self.same("ElementTimes", half, half), self.held((1,), [0.1]))
        return self.same(self.among(ABOVE), one)

    def stepped(self, source: str) -> str:
        """What jumps reads an input alone: no rounding comes before it."""
        raw, kind = self.raw[0], self.whole(0, 4)
        if kind == 0:
            return self.same(self.among(STEPPED), raw)
        flag = self.same(self.among(COMPARED), raw, self.held((1,), [0.25]))
        if kind == 1:
            return flag
        if kind == 2:
            return self.same("If", flag, raw, self.held((1,)))
        low, high = self.held((1,), [-0.5]), self.held((1,), [0.75])
        return self.node("Clip", (low, high, raw), {}, self.shapes[raw])

    def pair(self, source: str) -> str:
        """With another node of its shape, or a parameter that is broadcast."""
        shape = self.shapes[source]
        fit = [one for one in self.pool if self.shapes[one] == shape]
        kinds = [shape, (1,), (shape[0],), (*shape[:-1], 1)]
        other = self.among([*fit, self.held(self.among(kinds))])
        both = (source, other) if self.random.integers(2) else (other, source)
        return self.node(self.among(PAIRS), both, {}, shape)

    def product(self, source: str) -> str:
        """Of a matrix, or of a tensor with all or some dimensions of a value."""
        shape = self.shapes[source]
        met = self.whole(1, len(shape) + 1)
        made = (self.whole(1, 5),) if self.random.integers(3) else (2, self.whole(1, 4))
        if self.random.integers(4) == 0 and len(shape) == 1:
            weights = self.held((shape[0], made[0]))
            return self.node("TransposeTimes", (weights, source), _product(1), (made[0],))
        weights = self.held((*made, *shape[:met]))
        return self.node("Times", (weights, source), _product(len(made)), (*made, *shape[met:]))

    def arranged(self, source: str) -> str:
        """Another order, a part, several on top of each other, or sums."""
        shape, kind = self.shapes[source], self.whole(0, 5)
        axis = self.whole(1, len(shape) + 1)
        length = shape[axis - 1]
        if kind == 0:
            begin = self.whole(0, length)
            end = self.whole(begin + 1, length + 1)
            expected = {"axis": axis, "beginIndex": begin, "endIndex": end}
            return self.node("Slice", (source,), expected, _with(shape, axis, end - begin))
        if kind == 1:
            other = self.held(_with(shape, axis, self.whole(1, 4)))
            both = (source, other) if self.random.integers(2) else (other, source)
            total = length + self.shapes[other][axis - 1]
            return self.node("RowStack", both, {"alongAxis": axis}, _with(shape, axis, total))
        if kind == 2:
            flat = (int(np.prod(shape)),)
            expected = {"shape": flat, "beginAxis": 1, "endAxis": 0}
            return self.node("Reshape", (source,), expected, flat)
        if kind == 3 and len(shape) > 1:
            other = self.among([one for one in range(1, len(shape) + 1) if one != axis])
            turned = list(shape)
            turned[axis - 1], turned[other - 1] = turned[other - 1], turned[axis - 1]
            expected = {"axis1": axis, "axis2": other}
            return self.node("TransposeDimensions", (source,), expected, tuple(turned))
        whole = self.random.integers(3) == 0
        expected = {"axis": 0 if whole else axis, "reductionOp": self.among(REDUCED)}
        found = (1,) if whole else _with(shape, axis, 1)
        return self.node("ReduceElements", (source,), expected, found)

    def window(self, source: str) -> str:
        """A convolution or a pooling, with the paddings that people get wrong."""
        shape = self.shapes[source]
        if len(shape) != 3 or min(shape[:2]) < 3:
            return self.smooth(source)
        across, down = self.whole(1, 4), self.whole(1, 4)
        stride = self.whole(1, 4), self.whole(1, 4)
        padded = bool(self.random.integers(2))
        pools = self.random.integers(2) == 0
        kernel = (across, down, 1 if pools else shape[2])
        ceiled = pools and not padded and self.version >= 21 and bool(self.random.integers(2))
        counts = []
        for length, side, step in zip(shape, kernel, stride, strict=False):
            room = length - 1 if padded else length - side
            counts.append((-(-room // step) if ceiled else room // step) + 1)
            if ceiled and (counts[-1] - 1) * step >= length:
                return self.smooth(source)
        given: dict[str, Any] = {"kernelShape": kernel, "strideShape": (*stride, 1)}
        given["dimPadding"] = (padded, padded, False)
        if pools:
            given |= {"pool": self.among(("max", "average"))}
            given |= {"ceilOut": True} if ceiled else {}
            if self.version >= 23 and given["pool"] == "average" and self.random.integers(2):
                given["poolIncludePad"] = True
            return self.node("Pooling", (source,), given, (*counts, shape[2]))
        maps = self.whole(1, 4)
        weights = self.held((*kernel, maps))
        given |= {"mapCount": (maps,), "strideShape": (*stride, shape[2])}
        return self.node("Convolution", (weights, source), given, (*counts, maps))

    def normalized(self, source: str) -> str:
        shape = self.shapes[source]
        spatial = bool(self.random.integers(2))
        count = shape[-1] if spatial else int(np.prod(shape))
        numbers = [self.random.normal(size=(1, count)) for _ in range(3)]
        numbers.append(np.abs(self.random.normal(size=(1, count))) + 0.1)
        parts = [self.held((count, 1), one) for one in numbers]
        attributes = {"spatial": spatial, "epsilon": 0.001}
        return self.node("BatchNormalization", (source, *parts), attributes, shape)

    def later(self, source: str) -> str:
        """What only the second format says."""
        shape, kind = self.shapes[source], self.whole(0, 8)
        axis = self.whole(1, len(shape) + 1)
        length = shape[axis - 1]
        if kind == 0:
            pads = [(self.whole(0, 2), self.whole(0, 2)) for _ in shape]
            mode = self.whole(0, 3) if min(shape) > 1 else 0
            attributes = {"head": tuple(a for a, _ in pads), "foot": tuple(b for _, b in pads)}
            found = tuple(a + one + b for (a, b), one in zip(pads, shape, strict=True))
            return self.node("Pad", (source,), {**attributes, "mode": mode, "value": 0.5}, found)
        if kind == 1:
            stride = self.among((2, 3, -1, -2))
            attributes = {"axis": axis, "beginIndex": 0, "endIndex": 0, "stride": stride}
            return self.node(
                "Slice", (source,), attributes, _with(shape, axis, -(-length // abs(stride)))
            )
        if kind == 2 and len(shape) > 1:
            axes = tuple(sorted(int(one) + 1 for one in self.random.permutation(len(shape))[:2]))
            attributes = {"axis": axes, "reductionOp": self.among((*REDUCED, "Prod"))}
            left = tuple(one for at, one in enumerate(shape, 1) if at not in axes)
            return self.node(
                "ReduceElements", (source,), {**attributes, "keepDimensions": False}, left or (1,)
            )
        if kind == 3 and len(shape) == 3:
            order = tuple(int(one) + 1 for one in self.random.permutation(3))
            moved = [at for at, one in enumerate(order, 1) if one != at]
            if len(moved) == 3:
                attributes = {"axis1": 0, "axis2": 0, "order": order}
                found = tuple(shape[one - 1] for one in order)
                return self.node("TransposeDimensions", (source,), attributes, found)
        if kind == 4:
            count = self.whole(1, shape[0] + 1)
            raw = self.raw[0]
            count = self.whole(1, self.shapes[raw][0] + 1)
            return self.node("TopK", (raw,), {"numItems": count}, (count, *self.shapes[raw][1:]))
        if kind == 5:
            return self.same("ConstantOp", source, fillValue=0.75)
        if kind == 6:
            rows = self.whole(1, 5)
            index = self.held((rows,), self.random.integers(0, 4, rows))
            table = self.held((2, 4))
            looked = self.node("Gather", (index, table), {}, (2, rows))
            return self.node(
                "Plus",
                (
                    source,
                    self.node("ReduceElements", (looked,), {"axis": 0, "reductionOp": "Sum"}, (1,)),
                ),
                {},
                shape,
            )
        if len(shape) == 3 and shape[2] % 2 == 0 and min(shape[:2]) >= 3:
            groups, gap = self.among((1, 2)), self.whole(1, 3)
            maps = groups * self.whole(1, 3)
            weights = self.held((2, 2, shape[2] // groups, maps))
            attributes = {"kernelShape": (2, 2, shape[2] // groups), "mapCount": (maps,)}
            attributes |= {"strideShape": (1, 1, shape[2] // groups), "dimPadding": (False,)}
            attributes |= {"groups": groups} if groups > 1 else {}
            attributes |= {"dimDilation": (gap, gap, 1)} if gap > 1 else {}
            sides = (shape[0] - gap, shape[1] - gap)
            return self.node("Convolution", (weights, source), attributes, (*sides, maps))
        return self.smooth(source)

    def delayed(self, source: str) -> str:
        return self._past(source, self.among(("PastValue", "FutureValue")))

    def _past(self, source: str, operation: str) -> str:
        attributes = {"timeStep": self.whole(1, 3), "defaultHiddenActivation": 0.25}
        return self.node(operation, (source,), attributes, self.shapes[source])

    def looped(self, source: str) -> str:
        """A state that depends on itself one step before, or behind."""
        shape = self.shapes[source]
        flat = (int(np.prod(shape)),)
        wide, size = (
            self.node("Reshape", (source,), {"shape": flat, "beginAxis": 1, "endAxis": 0}, flat),
            self.whole(1, 4),
        )
        inside = self.node("Times", (self.held((size, *flat)), wide), _product(1), (size,))
        past = f"n{len(self.nodes)}"
        operation = self.among(("PastValue", "FutureValue"))
        state = f"n{len(self.nodes) + 4}"
        attributes = {"timeStep": 1, "defaultHiddenActivation": 0.25}
        self.node(operation, (state,), attributes, (size,))
        again = self.node("Times", (self.held((size, size)), past), _product(1), (size,))
        total = self.node("Plus", (inside, again), {}, (size,))
        return self.node("Tanh", (total,), {}, (size,))


def _product(rank: int) -> dict[str, Any]:
    return {"outputRank": rank, "inferInputRankToMap": -1}


def _with(shape: Dims, axis: int, length: int) -> Dims:
    return (*shape[: axis - 1], length, *shape[axis:])


def _truths(values: Sequence[bool]) -> bytes:
    return size(len(values)) + struct.pack(f"<{len(values)}?", *values)


def _window_body(one: Made, version: int) -> bytes:
    attributes, maps = one.attributes, one.attributes.get("mapCount", (1,))
    out = (
        dimensions(attributes["kernelShape"])
        + dimensions(maps)
        + dimensions(attributes["strideShape"])
    )
    out += _truths([True]) + _truths(attributes["dimPadding"]) + dimensions((0,)) + dimensions((0,))
    kind = ("none", "max", "average").index(attributes.get("pool", "none"))
    out += struct.pack("<iiQ", kind, 1, 0)
    out += b"\0" if version >= 9 else b""
    out += dimensions((0,)) if version >= 20 else b""
    out += bytes((attributes.get("ceilOut", False),)) if version >= 21 else b""
    out += bytes((attributes.get("poolIncludePad", False),)) if version >= 23 else b""
    if one.operation == "Convolution":
        out += b"\0" + (dimensions((1,)) if version >= 18 else b"")
    return out


def _first_body(one: Made, version: int) -> bytes:
    """The attributes of a node as a version of the first format has them."""
    attributes = one.attributes
    if one.operation in ("Times", "TransposeTimes"):
        return size(attributes["outputRank"]) + (struct.pack("<i", -1) if version >= 12 else b"")
    if one.operation in ("PastValue", "FutureValue"):
        shape = dimensions(one.shape) if version > 3 else size(int(np.prod(one.shape))) + size(0)
        return struct.pack("<i", attributes["timeStep"]) + shape + struct.pack("<f", 0.25)
    if one.operation == "Slice":
        begin, end = attributes["beginIndex"], attributes["endIndex"]
        out = struct.pack("<i", 1) if version >= 22 else b""
        out += struct.pack("<qqi", begin, end - begin, attributes["axis"])
        return out + (struct.pack("<i", 1) if version >= 27 else b"")
    if one.operation == "RowStack":
        return struct.pack("<i", attributes["alongAxis"])
    if one.operation == "Reshape":
        return struct.pack("<ii", attributes["beginAxis"], attributes["endAxis"]) + dimensions(
            attributes["shape"]
        )
    if one.operation == "TransposeDimensions":
        return struct.pack("<ii", attributes["axis1"], attributes["axis2"])
    if one.operation == "ReduceElements":
        out = struct.pack("<i", 1) if version >= 27 else b""
        out += struct.pack("<i", attributes["axis"]) + text(attributes["reductionOp"])
        return out + (b"\1" if version >= 24 else b"")
    if one.operation in ("Convolution", "Pooling"):
        return _window_body(one, version)
    if one.operation == "BatchNormalization" and version < 6:
        head = struct.pack("<ii??d", 0x10003, 0x10001, False, attributes["spatial"], 0.0)
        return head + struct.pack("<iQd?", 1, 0, attributes["epsilon"], True)
    if one.operation == "BatchNormalization":
        out = struct.pack("<?ddi", attributes["spatial"], 0.0, 0.0, 1)
        out += struct.pack("<?", True) if version == 19 else size(0)
        return out + struct.pack("<d?", attributes["epsilon"], True)
    if one.operation == "Dropout":
        return struct.pack("<QQ", 1, 2) if version >= 16 else b""
    return b""


def first(grown: Grown) -> bytes:
    """The file of a network in the first format, of its version."""
    out = First(grown.version)
    for one in grown.nodes:
        if one.operation == "LearnableParameter":
            out.parameter(one.name, one.values)
        elif one.operation == "InputValue":
            out.input(one.name, one.shape)
        else:
            out.add(one.operation, one.name, _first_body(one, grown.version), *one.inputs)
    return out.data([("FeatureNodes", grown.raw), ("OutputNodes", [grown.output])])


def _axis(number: int) -> Axis:
    return Axis((number - 1, f"staticAxisIdx={number - 1}")) if number else _EVERY


def _second_message(one: Made) -> dict[str, Any]:
    """The attributes of a node in words of the second format."""
    attributes, axis = one.attributes, one.attributes.get("axis")
    if one.operation in ("Times", "TransposeTimes"):
        return dict(attributes)
    if one.operation == "Slice":
        found = {"axis": _axis(attributes["axis"]), "sliceStrides": attributes.get("stride", 1)}
        return found | {key: attributes[key] for key in ("beginIndex", "endIndex")}
    if one.operation == "RowStack":
        return {"axis": _axis(attributes["alongAxis"])}
    if one.operation == "Reshape":
        return {"newShape": Shape(attributes["shape"])}
    if one.operation == "TransposeDimensions":
        if "order" in attributes:
            return {"axisVec": [_axis(number) for number in attributes["order"]]}
        return {"axis1": _axis(attributes["axis1"]), "axis2": _axis(attributes["axis2"])}
    if one.operation == "ReduceElements":
        found = {"reductionOpName": attributes["reductionOp"]}
        if isinstance(axis, tuple):
            found |= {"axisVec": [_axis(number) for number in axis]}
            return found | {"reductionKeepDimensions": False}
        return found | {"axis": _axis(attributes["axis"])}
    if one.operation in ("Convolution", "Pooling"):
        found = {"strides": Shape(attributes["strideShape"]), "lowerPad": Shape((0,))}
        found |= {"upperPad": Shape((0,)), "autoPadding": list(attributes["dimPadding"])}
        if one.operation == "Pooling":
            found |= {"poolingWindowShape": Shape(attributes["kernelShape"])}
            found |= {"poolingType": ("max", "average").index(attributes["pool"])}
            found |= {"ceilOutDim": attributes.get("ceilOut", False)}
            return found | {"includePad": attributes.get("poolIncludePad", False)}
        found |= {"sharing": [True], "transpose": False, "groups": attributes.get("groups", 1)}
        return found | {"dilation": Shape(attributes.get("dimDilation", (1,)))}
    if one.operation == "BatchNormalization":
        return {**attributes, "normalizationTimeConstant": 0.0, "blendTimeConstant": 0.0}
    if one.operation == "Pad":
        found = {"paddingHead": list(attributes["head"]), "paddingFoot": list(attributes["foot"])}
        return found | {
            "paddingMode": attributes["mode"],
            "paddingConstantValue": attributes["value"],
        }
    return dict(attributes)


def second(grown: Grown) -> dict[str, Any]:
    """The dictionary of a network in the second format."""
    out = Second()
    axes = [STEPS, BATCH] if grown.steps else [BATCH]
    count = out.parameter("count", np.array(0, np.float32), 3)
    initial = out.parameter("initial", np.array(0.25, np.float32), 3)
    known = {
        one.name for one in grown.nodes if one.operation in ("LearnableParameter", "InputValue")
    }
    order = {one.name: at for at, one in enumerate(grown.nodes)}
    for at, one in enumerate(grown.nodes):
        if one.operation == "LearnableParameter":
            out.parameter(one.name, one.values)
        elif one.operation == "InputValue":
            out.variable(one.name, 0, one.shape, axes=axes)
        else:
            names = [name if name in known else f"{name}_Output_0" for name in one.inputs]
            for name in one.inputs:
                if order[name] > at:
                    out.variable(f"{name}_Output_0", 4, grown.shapes[name], axes=axes)
            names += [count] if one.operation == "BatchNormalization" else []
            if one.operation in ("PastValue", "FutureValue"):
                names, attributes = [*names, initial], {"offset": one.attributes["timeStep"]}
            else:
                attributes = _second_message(one)
            turned = _TURNED.get(one.operation, range(len(names)))
            function = OPERATIONS.index(_SECOND.get(one.operation, one.operation))
            out.function(
                function, one.name, [names[place] for place in turned], attributes=attributes
            )
    return out.values(grown.output)
