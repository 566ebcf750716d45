"""For every operation of CNTK that a device computes, which kernels do: a second table.

Values that are a parameter's lie where that does; what changes along sequences is not here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from netsharp_engine.geometry import product
from netsharp_engine.graph import Node
from netsharp_engine.ops.tensors import HELD
from netsharp_engine.wgpu_backend.kernels import (
    BACKWARD,
    FORWARD,
    GRADIENT,
    Buffer,
    Each,
    LoopNest,
    Turning,
)
from netsharp_engine.wgpu_backend.planning.flow import GraphFlow
from netsharp_engine.wgpu_backend.planning.operations import (
    OPERATIONS,
    OpKernels,
    OpSite,
)
from netsharp_engine.wgpu_backend.templates import convolution, dense, elementwise
from netsharp_engine.wgpu_backend.templates.arithmetic import coordinates, plus, strides, times
from netsharp_engine.wgpu_backend.templates.windows import KernelWay, way_of

FUNCTIONS = {"Tanh": "tanh", "Sigmoid": "sigmoid", "RectifiedLinear": "rlinear", "Abs": "abs"}
FUNCTIONS |= {"Softmax": "softmax", "Sqrt": "sqrt", "Exp": "exp", "Log": "log"}
FUNCTIONS |= {"Negate": "negate", "Reciprocal": "reciprocal"}


def refusals(node: Node) -> Iterator[str]:
    """Yield why an operation that is in the table cannot be computed as this node asks."""
    attributes = node.attributes
    if node.op == "Times":
        if node.inputs[0].op not in HELD or _rest(node) != 1:
            yield "a product whose left side is not a parameter, or whose right side is a matrix"
    elif node.op in ("Convolution", *POOLS):
        if attributes.get("channels_last") or attributes.get("transpose") or "gaps" in attributes:
            yield "a kernel of another layout, a transposed one, or one with gaps"
        if attributes.get("groups", 1) > 1 or attributes.get("include_pads"):
            yield "a kernel with groups, or a mean that counts pads"
        if node.op == "Convolution" and node.inputs[0].op not in HELD:
            yield "a convolution whose weights are not a parameter"
    elif node.op in ("Plus", "Minus") and not (_alike(node) or _added(node)):
        yield "a sum of two that are neither of one size nor a node and a parameter"
    elif node.op == "ElementTimes" and not (_alike(node) or _has_parameter(node)):
        yield "a product of two that are neither of one size nor a node and a parameter"
    elif node.op == "PerDimMeanVarNormalization" and not _normal(node):
        yield "a normalisation by what is computed"


def _rest(node: Node) -> int:
    left = node.inputs[0].shape
    cut = len(left) - int(node.attributes.get("outputRank", 1))
    return node.inputs[1].size // product(left[:cut])


def _alike(node: Node) -> bool:
    return all(source.size == node.size and source.op not in HELD for source in node.inputs)


def _normal(node: Node) -> bool:
    """Return whether a node is normalised by two parameters of its size, or by single numbers."""
    values, *others = node.inputs
    known = all(each.op in HELD and each.size in (1, node.size) for each in others)
    return known and values.op not in HELD and values.size == node.size


def _added(node: Node) -> bool:
    """Return whether a parameter is added, or one that does not train is subtracted."""
    second = node.inputs[1]
    less = second.op in HELD and not second.parameters[0].trained
    return _has_parameter(node) and (node.op == "Plus" or less)


def _has_parameter(node: Node) -> bool:
    """Return whether a node is of the size of one input, and the other is a parameter."""
    first, second = node.inputs
    return (first.op in HELD) != (second.op in HELD) and (
        max(first.size, second.size) == node.size
        and (second if first.op in HELD else first).size == node.size
    )


def _held(at: GraphFlow, site: OpSite) -> None:
    at.values[site.node] = at.parameters[site.node.parameters[0]]


def _nothing(at: GraphFlow, site: OpSite) -> None:
    """Do nothing: what was passed back to a held value is there already."""


def _matrix(at: GraphFlow, node: Node) -> dense.WeightMatrix:
    """CNTK's [rows x columns] lies as columns of rows."""
    return dense.turned(at.value(node.inputs[0]), node.size, node.inputs[1].size)


def _times(at: GraphFlow, site: OpSite) -> None:
    node = site.node
    out = at.value(node)
    dense.forward(at.build, site.what, "full", at.value(node.inputs[1]), _matrix(at, node), out)


def _times_back(at: GraphFlow, site: OpSite) -> None:
    node, g, w = site.node, at.error(site.node), _matrix(at, site.node)
    left, right = node.inputs
    down = at.below(left, site.what)
    if down is not None:
        dense.gradient(at.build, site.what, "full", at.value(right), g, w, down)
    below = at.below(right, site.what)
    if below is not None:
        dense.backward(at.build, site.what, "full", g, w, below)


def _way(node: Node) -> KernelWay:
    return way_of(node.attributes)


def _convolve(at: GraphFlow, site: OpSite) -> None:
    node, way = site.node, _way(site.node)
    w, x = (at.value(source) for source in node.inputs)
    if way.whole:
        matrix = dense.plain(w, way.outputs, way.inputs)
        dense.forward(at.build, site.what, "transition", x, matrix, at.value(node))
        return
    convolution.forward(at.build, site.what, x, w, way, at.value(node))


def _convolve_back(at: GraphFlow, site: OpSite) -> None:
    node, g, way = site.node, at.error(site.node), _way(site.node)
    weights, image = node.inputs
    w, x = at.value(weights), at.value(image)
    matrix = dense.plain(w, way.outputs, way.inputs)
    down = at.below(weights, site.what)
    if down is not None and way.whole:
        dense.gradient(at.build, site.what, "transition", x, g, matrix, down)
    elif down is not None:
        convolution.gradient(at.build, site.what, x, g, way, down)
    below = at.below(image, site.what)
    if below is not None and way.whole:
        dense.backward(at.build, site.what, "transition", g, matrix, below)
    elif below is not None:
        convolution.backward(at.build, site.what, g, w, way, below)


def _plus(at: GraphFlow, site: OpSite) -> None:
    node = site.node
    out = at.value(node)
    if _alike(node):
        first, second = (at.value(source) for source in node.inputs)
        sign = "+" if node.op == "Plus" else "-"
        formula = f"b{first.number}[e] {sign} b{second.number}[e]"
        at.build.kernel(f"{site.what}: sum", "sum", FORWARD, out, Each(formula))
        return
    bias, other = _bias_and_other(node)
    x, b = at.value(other), at.value(bias)
    if bias.size == node.size and node.op == "Plus":
        dense.bias(at.build, site.what, x, b, out)
        return
    sign = "+" if node.op == "Plus" else "-"
    formula = f"b{x.number}[e] {sign} b{b.number}[{_spread(node, bias)}]"
    at.build.kernel(f"{site.what}: bias", "bias", FORWARD, out, Each(formula))


def _bias_and_other(node: Node) -> tuple[Node, Node]:
    first, second = node.inputs
    return (first, second) if first.op in HELD else (second, first)


def _wide(node: Node, bias: Node) -> tuple[int, ...]:
    """Return the shape of a bias with as many dimensions as the node has."""
    return (1,) * (len(node.shape) - len(bias.shape)) + bias.shape


def _spread(node: Node, bias: Node) -> str:
    """Return which number of a bias belongs to an element."""
    wide = _wide(node, bias)
    parts = []
    for text, extent, stride in zip(coordinates("i", node.shape), wide, strides(wide), strict=True):
        parts.append("0" if extent == 1 else times(f"({text})", stride))
    return plus(*parts)


def _plus_back(at: GraphFlow, site: OpSite) -> None:
    node, g = site.node, at.error(site.node)
    if _alike(node):
        at.pass_back(node.inputs[0], g)
        if node.op == "Plus":
            at.pass_back(node.inputs[1], g)
        elif (below := at.below(node.inputs[1], site.what)) is not None:
            at.build.kernel(
                f"{site.what}: less", "sum", "backward", below, Each(f"-b{g.number}[e]")
            )
        return
    bias, other = _bias_and_other(node)
    down = at.below(bias, site.what)
    if down is not None and bias.size == node.size:
        dense.bias_gradient(at.build, site.what, g, down)
    elif down is not None:
        _gathered(at, site, g, bias, down)
    at.pass_back(other, g)


def _multiplied(at: GraphFlow, site: OpSite) -> None:
    node, out = site.node, at.value(site.node)
    if _alike(node):
        first, second = (at.value(source).number for source in node.inputs)
        formula = f"b{first}[e] * b{second}[e]"
    else:
        factor, other = _bias_and_other(node)
        x, w = at.value(other).number, at.value(factor).number
        formula = f"b{x}[e] * b{w}[{_spread(node, factor)}]"
    at.build.kernel(f"{site.what}: product", "product", FORWARD, out, Each(formula))


def _multiplied_back(at: GraphFlow, site: OpSite) -> None:
    """Pass the error times the other factor to each."""
    node, g = site.node, at.error(site.node)
    if not _alike(node):
        factor, other = _bias_and_other(node)
        _scaled_back(at, site, other, factor)
        down = at.below(factor, site.what)
        if down is not None:
            _gathered(at, site, g, factor, down, at.value(other))
        return
    for source, other in (node.inputs, node.inputs[::-1]):
        below = at.below(source, site.what)
        if below is not None:
            formula = f"b{g.number}[e] * b{at.value(other).number}[e]"
            at.build.kernel(f"{site.what}: error", "product", BACKWARD, below, Each(formula))


def _scaled_back(at: GraphFlow, site: OpSite, source: Node, factor: Node) -> None:
    """Pass the error times a parameter to a source."""
    below = at.below(source, site.what)
    if below is not None:
        g, w = at.error(site.node).number, at.value(factor).number
        formula = f"b{g}[e] * b{w}[{_spread(site.node, factor)}]"
        at.build.kernel(f"{site.what}: error", "product", BACKWARD, below, Each(formula))


def _normalized(at: GraphFlow, site: OpSite) -> None:
    node = site.node
    _, mean, deviation = node.inputs
    x, m, d = (at.value(source).number for source in node.inputs)
    formula = f"(b{x}[e] - b{m}[{_spread(node, mean)}]) * b{d}[{_spread(node, deviation)}]"
    at.build.kernel(f"{site.what}: normalised", "product", FORWARD, at.value(node), Each(formula))


def _normalized_back(at: GraphFlow, site: OpSite) -> None:
    values, _, deviation = site.node.inputs
    _scaled_back(at, site, values, deviation)


def _gathered(
    at: GraphFlow,
    site: OpSite,
    g: Buffer,
    bias: Node,
    down: Buffer,
    factor: Buffer | None = None,
) -> None:
    """Add the sum over all elements that a number of a bias was added to."""
    node, wide = site.node, _wide(site.node, bias)
    loops = [Turning("r", "0", str(at.build.rows), at.build.rows)]
    parts, steps = [], strides(node.shape)
    for d, (text, extent) in enumerate(zip(coordinates("e", wide), node.shape, strict=True)):
        if wide[d] == extent:
            parts.append(times(f"({text})" if text != "0" else text, steps[d]))
        else:
            loops.append(Turning(f"x{d}", "0", str(extent), extent))
            parts.append(times(f"x{d}", steps[d]))
    place = f"r * {node.size} + {plus(*parts)}"
    term = f"b{g.number}[{place}]" + (f" * b{factor.number}[{place}]" if factor else "")
    nest = LoopNest(term, tuple(loops))
    at.build.kernel(f"{site.what}: gradient of the bias", "bias", GRADIENT, down, nest)


def _activation(at: GraphFlow, site: OpSite) -> None:
    node = site.node
    x, function = at.value(node.inputs[0]), FUNCTIONS[node.op]
    elementwise.activation(at.build, site.what, function, x, at.value(node))


def _activation_back(at: GraphFlow, site: OpSite) -> None:
    node, g = site.node, at.error(site.node)
    below = at.below(node.inputs[0], site.what)
    if below is not None:
        x, y = at.value(node.inputs[0]), at.value(node)
        elementwise.slope(at.build, site.what, FUNCTIONS[node.op], x, y, g, below)


def _same(at: GraphFlow, site: OpSite) -> None:
    at.value(site.node, alias=at.value(site.node.inputs[0]))


def _same_back(at: GraphFlow, site: OpSite) -> None:
    at.pass_back(site.node.inputs[0], at.error(site.node))


def _pool(forward: bool) -> Callable[[GraphFlow, OpSite], None]:
    def kernels(at: GraphFlow, site: OpSite) -> None:
        row = OPERATIONS["max pool" if site.node.attributes["pool"] == "max" else "mean pool"]
        (row.forward if forward else row.backward)(at, site)

    return kernels


POOLS = ("Pooling", "MaxPooling", "AveragePooling")
TENSORS: dict[str, OpKernels] = {
    **{name: OpKernels(_held, _nothing) for name in HELD},
    **{name: OpKernels(_activation, _activation_back) for name in FUNCTIONS},
    **{name: OpKernels(_pool(True), _pool(False)) for name in POOLS},
    **{name: OpKernels(_same, _same_back) for name in ("Reshape", "LegacyReshape", "Pass")},
    "Times": OpKernels(_times, _times_back),
    "Convolution": OpKernels(_convolve, _convolve_back),
    "ElementTimes": OpKernels(_multiplied, _multiplied_back),
    "PerDimMeanVarNormalization": OpKernels(_normalized, _normalized_back),
    "Plus": OpKernels(_plus, _plus_back),
    "Minus": OpKernels(_plus, _plus_back),
}
