"""Operations on the elements of samples in PyTorch.

Where CNTK clips the argument of a root or a logarithm, so does the export.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from netsharp_engine.exporting.torch.operators.rows import Row, owner, whole
from netsharp_engine.exporting.torch.source import Expression, call, numbers
from netsharp_engine.exporting.torch.writing import TorchWriting
from netsharp_engine.exporting.values import STEPWISE, ExportedValue
from netsharp_engine.geometry import product
from netsharp_engine.nodes import Node

#: Below this CNTK takes the logarithm of it instead (Source/Math/TensorOps.h, ClippedLog).
_LEAST = "1e-37"
#: The difference, about log(1e-4), from which the smaller term of a sum of logarithms is left out
#: (Source/Math/TensorOps.h, LogAdd).
_LEFT_OUT = "-9.2103"
#: Batch normalisation of images by the number of their axes after the channels.
_NORMALIZERS = ("nn.BatchNorm1d", "nn.BatchNorm1d", "nn.BatchNorm2d", "nn.BatchNorm3d")


def _function(name: str) -> Row:
    return lambda out, node, sources: call(name, out.read(sources[0]))


def _operator(sign: str) -> Row:
    def row(out: TorchWriting, node: Node, sources: Sequence[ExportedValue]) -> Expression:
        first, second = out.aligned(sources)
        return f"{first} {sign} {second}"

    return row


def _compared(sign: str) -> Row:
    def row(out: TorchWriting, node: Node, sources: Sequence[ExportedValue]) -> Expression:
        first, second = out.aligned(sources)
        return f"({first} {sign} {second}).to({first}.dtype)"

    return row


def _over_sample(function: str) -> Row:
    """Return the row of a function of all elements of a sample together."""

    def row(out: TorchWriting, node: Node, sources: Sequence[ExportedValue]) -> Expression:
        found = call(function, out.flattened(sources[0]), dim="-1")
        return _fitted(out, found, node)

    return row


def _fitted(out: TorchWriting, found: Expression, node: Node) -> Expression:
    """Return a result with one axis in the shape of a node."""
    if len(node.shape) == 1:
        return found
    return call("torch.unflatten", out.let(found), "-1", numbers(node.shape))


def _hardmax(out: TorchWriting, node: Node, sources: Sequence[ExportedValue]) -> Expression:
    values = out.flattened(sources[0])
    best = out.let(f"{values}.argmax(-1)")
    marks = call("F.one_hot", best, str(node.size))
    return _fitted(out, f"{out.let(marks)}.to({out.read(sources[0])}.dtype)", node)


def _log(out: TorchWriting, node: Node, sources: Sequence[ExportedValue]) -> Expression:
    return call("torch.log", f"{out.read(sources[0])}.clamp(min={_LEAST})")


def _root(out: TorchWriting, node: Node, sources: Sequence[ExportedValue]) -> Expression:
    return call("torch.sqrt", f"{out.read(sources[0])}.clamp(min=0)")


def _reciprocal(out: TorchWriting, node: Node, sources: Sequence[ExportedValue]) -> Expression:
    source = out.read(sources[0])
    return call("torch.where", f"{source} == 0", source, f"1 / {source}")


def _log_plus(out: TorchWriting, node: Node, sources: Sequence[ExportedValue]) -> Expression:
    first, second = out.aligned(sources)
    larger = out.let(call("torch.maximum", first, second))
    less = out.let(f"-(({first} - {second}).abs())")
    term = out.let(f"{larger} + torch.log(torch.exp({less}) + 1)")
    return call("torch.where", f"{less} < {_LEFT_OUT}", larger, term)


def _chosen(out: TorchWriting, node: Node, sources: Sequence[ExportedValue]) -> Expression:
    condition, first, second = out.aligned(sources)
    return call("torch.where", f"{condition} == 0", second, first)


def _clipped(out: TorchWriting, node: Node, sources: Sequence[ExportedValue]) -> Expression:
    least, most, values = out.aligned(sources)
    return call("torch.minimum", call("torch.maximum", values, least), most)


def _normalized(out: TorchWriting, node: Node, sources: Sequence[ExportedValue]) -> Expression:
    values, mean, deviation = out.aligned(sources)
    return f"({values} - {mean}) * {deviation}"


def _restored(out: TorchWriting, node: Node, sources: Sequence[ExportedValue]) -> Expression:
    values, mean, deviation = out.aligned(sources)
    return f"{values} / {deviation} + {mean}"


def _batch_normalized(
    out: TorchWriting, node: Node, sources: Sequence[ExportedValue]
) -> Expression:
    """Return batch normalisation with running statistics, which are constants: sources 3 and 4."""
    values = sources[0]
    spatial = node.attributes["spatial"] and 1 < len(node.shape) <= len(_NORMALIZERS)
    count = node.shape[0] if node.attributes["spatial"] else node.size
    parts = [whole(node, one).reshape(count) for one in sources[1:5]]
    names = ("weight", "bias", "running_mean", "running_var")
    state = dict(zip(names, parts, strict=True))
    state["num_batches_tracked"] = np.asarray(0, np.int64)
    made = call(
        _NORMALIZERS[len(node.shape) - 1] if spatial else _NORMALIZERS[0],
        str(count),
        eps=repr(float(node.attributes["epsilon"])),
    )
    key = ("normalization", node.inputs[1:], made)
    layer = out.layer(key, owner(node, sources[1].name), made, state)
    # What a layer takes is [n, channels, ...].
    inner = node.shape
    if not spatial and len(node.shape) > 1:
        inner = (count, product(node.shape) // count) if node.attributes["spatial"] else (count,)
    given = out.shaped(out.read(values), node.shape, inner)
    if values.lead == STEPWISE:
        found = out.let(call(layer, f"{given}.flatten(0, 1)"))
        found = f"torch.unflatten({found}, 0, {out.read(values)}.shape[:2])"
    elif inner == node.shape:
        return call(layer, given)
    else:
        found = out.let(call(layer, given))
    return out.shaped(found, inner, node.shape)


def _signs(out: TorchWriting, node: Node, sources: Sequence[ExportedValue]) -> Expression:
    source = out.read(sources[0])
    return f"({source} > 0).to({source}.dtype) * 2 - 1"


def _powers(out: TorchWriting, node: Node, sources: Sequence[ExportedValue]) -> Expression:
    return call("torch.pow", *out.aligned(sources))


def _same(out: TorchWriting, node: Node, sources: Sequence[ExportedValue]) -> Expression:
    return out.read(sources[0])


ELEMENTS: dict[str, Row] = {
    "Sigmoid": _function("torch.sigmoid"),
    "Tanh": _function("torch.tanh"),
    "RectifiedLinear": _function("F.relu"),
    "Exp": _function("torch.exp"),
    "Negate": lambda out, node, sources: f"-{out.read(sources[0])}",
    "Abs": _function("torch.abs"),
    "Floor": _function("torch.floor"),
    "Sin": _function("torch.sin"),
    "Cosine": _function("torch.cos"),
    "Acos": _function("torch.acos"),
    "Asin": _function("torch.asin"),
    "Atan": _function("torch.atan"),
    "Tan": _function("torch.tan"),
    "Cosh": _function("torch.cosh"),
    "Sinh": _function("torch.sinh"),
    "Asinh": _function("torch.asinh"),
    "Atanh": _function("torch.atanh"),
    "ExponentialLinearUnit": _function("F.elu"),
    "StraightThrough": _signs,
    "StopGradient": _same,
    "Log": _log,
    "Sqrt": _root,
    "Reciprocal": _reciprocal,
    "Softmax": _over_sample("F.softmax"),
    "LogSoftmax": _over_sample("F.log_softmax"),
    "Hardmax": _hardmax,
    "Plus": _operator("+"),
    "Minus": _operator("-"),
    "ElementTimes": _operator("*"),
    "LogPlus": _log_plus,
    "Pow": _powers,
    "Less": _compared("<"),
    "LessEqual": _compared("<="),
    "Equal": _compared("=="),
    "NotEqual": _compared("!="),
    "GreaterEqual": _compared(">="),
    "Greater": _compared(">"),
    "If": _chosen,
    "Clip": _clipped,
    "PerDimMeanVarNormalization": _normalized,
    "PerDimMeanVarDeNormalization": _restored,
    "BatchNormalization": _batch_normalized,
    "Pass": _same,
    # Nothing is dropped where nothing is trained.
    "Dropout": _same,
}
