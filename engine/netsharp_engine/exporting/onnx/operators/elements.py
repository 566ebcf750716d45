"""Operations on the elements of samples as ONNX operators.

Where CNTK clips the argument of a root or a logarithm, so does the export. Source: the ONNX
operator specification, as for all modules here.
"""

from __future__ import annotations

from collections.abc import Sequence

from netsharp_engine.exporting.onnx.operators.rows import Row, whole
from netsharp_engine.exporting.onnx.writing import OnnxValue, OnnxWriting
from netsharp_engine.nodes import Node

#: Below this CNTK takes the logarithm of it instead (Source/Math/TensorOps.h, ClippedLog).
_LEAST = 1e-37
#: The difference, about log(1e-4), from which the smaller term of a sum of logarithms is left out
#: (Source/Math/TensorOps.h, LogAdd).
_LEFT_OUT = -9.2103


def _plain(operator: str) -> Row:
    return lambda out, node, sources: out.add(operator, sources[0].name)


def _pair(operator: str) -> Row:
    return lambda out, node, sources: out.add(operator, *out.aligned(sources))


def _over_sample(operator: str) -> Row:
    """Return the row of a function of all elements of a sample together."""

    def row(out: OnnxWriting, node: Node, sources: Sequence[OnnxValue]) -> str:
        (source,) = sources
        if len(source.shape) == 1:
            return out.add(operator, source.name, axis=-1)
        flat = out.shaped(source.name, source.lead, (node.size,))
        return out.shaped(out.add(operator, flat, axis=-1), source.lead, node.shape)

    return row


def _compared(operator: str, opposite: bool = False) -> Row:
    def row(out: OnnxWriting, node: Node, sources: Sequence[OnnxValue]) -> str:
        found = out.add(operator, *out.aligned(sources))
        return _as_numbers(out, out.add("Not", found) if opposite else found)

    return row


def _steps(out: OnnxWriting, node: Node, sources: Sequence[OnnxValue]) -> str:
    above = out.add("Greater", sources[0].name, out.numbers(0))
    return out.add("Where", above, out.numbers(1), out.numbers(-1))


def _as_numbers(out: OnnxWriting, truths: str) -> str:
    return out.add("Where", truths, out.numbers(1), out.numbers(0))


def _log(out: OnnxWriting, node: Node, sources: Sequence[OnnxValue]) -> str:
    return out.add("Log", out.add("Max", sources[0].name, out.numbers(_LEAST)))


def _root(out: OnnxWriting, node: Node, sources: Sequence[OnnxValue]) -> str:
    return out.add("Sqrt", out.add("Max", sources[0].name, out.numbers(0)))


def _reciprocal(out: OnnxWriting, node: Node, sources: Sequence[OnnxValue]) -> str:
    source = sources[0].name
    is_zero = out.add("Equal", source, out.numbers(0))
    return out.add("Where", is_zero, source, out.add("Reciprocal", source))


def _log_plus(out: OnnxWriting, node: Node, sources: Sequence[OnnxValue]) -> str:
    first, second = out.aligned(sources)
    larger = out.add("Max", first, second)
    less = out.add("Neg", out.add("Abs", out.add("Sub", first, second)))
    term = out.add("Log", out.add("Add", out.add("Exp", less), out.numbers(1)))
    left_out = out.add("Less", less, out.numbers(_LEFT_OUT))
    return out.add("Where", left_out, larger, out.add("Add", larger, term))


def _chosen(out: OnnxWriting, node: Node, sources: Sequence[OnnxValue]) -> str:
    condition, first, second = out.aligned(sources)
    is_not = out.add("Equal", condition, out.numbers(0))
    return out.add("Where", is_not, second, first)


def _clipped(out: OnnxWriting, node: Node, sources: Sequence[OnnxValue]) -> str:
    least, most, values = out.aligned(sources)
    return out.add("Min", out.add("Max", values, least), most)


def _normalized(out: OnnxWriting, node: Node, sources: Sequence[OnnxValue]) -> str:
    values, mean, deviation = out.aligned(sources)
    return out.add("Mul", out.add("Sub", values, mean), deviation)


def _restored(out: OnnxWriting, node: Node, sources: Sequence[OnnxValue]) -> str:
    values, mean, deviation = out.aligned(sources)
    return out.add("Add", out.add("Div", values, deviation), mean)


def _batch_normalized(out: OnnxWriting, node: Node, sources: Sequence[OnnxValue]) -> str:
    """Return batch normalisation with running statistics, which are constants: sources 3 and 4."""
    values, scale, bias, mean, variance = sources
    count = node.shape[0] if node.attributes["spatial"] else node.size
    parts = [whole(node, one).reshape(count) for one in (scale, bias, mean, variance)]
    if node.attributes["spatial"] and values.lead == 1 and len(node.shape) > 1:
        names = [out.numbers(one) for one in parts]
        epsilon = float(node.attributes["epsilon"])
        return out.add("BatchNormalization", values.name, *names, epsilon=epsilon)
    factor = parts[0] / (parts[3] + parts[3].dtype.type(node.attributes["epsilon"])) ** 0.5
    offset = parts[1] - parts[2] * factor
    shape = (count, *(1,) * (len(node.shape) - 1)) if node.attributes["spatial"] else node.shape
    factor_name, offset_name = (out.numbers(one.reshape(shape)) for one in (factor, offset))
    return out.add("Add", out.add("Mul", values.name, factor_name), offset_name)


def _same(out: OnnxWriting, node: Node, sources: Sequence[OnnxValue]) -> str:
    return sources[0].name


ELEMENTS: dict[str, Row] = {
    "Sigmoid": _plain("Sigmoid"),
    "Tanh": _plain("Tanh"),
    "RectifiedLinear": _plain("Relu"),
    "Exp": _plain("Exp"),
    "Negate": _plain("Neg"),
    "Abs": _plain("Abs"),
    "Floor": _plain("Floor"),
    "Sin": _plain("Sin"),
    "Cosine": _plain("Cos"),
    "Acos": _plain("Acos"),
    "Asin": _plain("Asin"),
    "Atan": _plain("Atan"),
    "Tan": _plain("Tan"),
    "Cosh": _plain("Cosh"),
    "Sinh": _plain("Sinh"),
    "Asinh": _plain("Asinh"),
    "Atanh": _plain("Atanh"),
    "ExponentialLinearUnit": _plain("Elu"),
    "StraightThrough": _steps,
    "Pow": _pair("Pow"),
    "Log": _log,
    "Sqrt": _root,
    "Reciprocal": _reciprocal,
    "Softmax": _over_sample("Softmax"),
    "LogSoftmax": _over_sample("LogSoftmax"),
    "Hardmax": _over_sample("Hardmax"),
    "Plus": _pair("Add"),
    "Minus": _pair("Sub"),
    "ElementTimes": _pair("Mul"),
    "LogPlus": _log_plus,
    "Less": _compared("Less"),
    "LessEqual": _compared("LessOrEqual"),
    "Equal": _compared("Equal"),
    "NotEqual": _compared("Equal", opposite=True),
    "GreaterEqual": _compared("GreaterOrEqual"),
    "Greater": _compared("Greater"),
    "If": _chosen,
    "Clip": _clipped,
    "PerDimMeanVarNormalization": _normalized,
    "PerDimMeanVarDeNormalization": _restored,
    "BatchNormalization": _batch_normalized,
    "Pass": _same,
    "StopGradient": _same,
    # Nothing is dropped where nothing is trained.
    "Dropout": _same,
}
