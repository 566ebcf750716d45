"""For every operation of Net#, which kernels compute it and pass errors back: one table.

It knows templates; ``describing`` asks it for each node.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from netsharp_engine.graph import Node
from netsharp_engine.wgpu_backend.kernels import BACKWARD, FORWARD
from netsharp_engine.wgpu_backend.planning.flow import GraphFlow
from netsharp_engine.wgpu_backend.templates import (
    convolution,
    dense,
    elementwise,
    filtered,
    normalization,
    pooling,
)
from netsharp_engine.wgpu_backend.templates.windows import way_of


class OpSite(NamedTuple):
    """A node, and what it is called."""

    node: Node
    what: str

    @property
    def named(self) -> str:
        """Return the layer and its source."""
        return f"{self.what}/{self.node.inputs[0].name}" if self.node.inputs[0].name else self.what


class OpKernels(NamedTuple):
    """How an operation is described."""

    forward: Callable[[GraphFlow, OpSite], None]
    backward: Callable[[GraphFlow, OpSite], None]


def _full(at: GraphFlow, site: OpSite) -> None:
    node = site.node
    w = dense.plain(at.parameters[node.parameters[0]], node.size, node.inputs[0].size)
    out = at.value(node)
    dense.forward(at.build, site.named, "full", at.value(node.inputs[0]), w, out)


def _full_back(at: GraphFlow, site: OpSite) -> None:
    node, (source,) = site.node, site.node.inputs
    w = dense.plain(at.parameters[node.parameters[0]], node.size, source.size)
    _dense_back(at, site, "full", w)


def _dense_back(at: GraphFlow, site: OpSite, family: str, w: dense.WeightMatrix) -> None:
    (source,), g = site.node.inputs, at.error(site.node)
    down = at.gradient(site.node.parameters[0])
    if down is not None:
        dense.gradient(at.build, site.named, family, at.value(source), g, w, down)
    below = at.below(source, site.named)
    if below is not None:
        dense.backward(at.build, site.named, family, g, w, below)


def _bias(at: GraphFlow, site: OpSite) -> None:
    x = at.value(site.node.inputs[0])
    b = at.parameters[site.node.parameters[0]]
    dense.bias(at.build, site.what, x, b, at.value(site.node))


def _bias_back(at: GraphFlow, site: OpSite) -> None:
    g = at.error(site.node)
    down = at.gradient(site.node.parameters[0])
    if down is not None:
        dense.bias_gradient(at.build, site.what, g, down)
    at.pass_back(site.node.inputs[0], g)


def _convolve(at: GraphFlow, site: OpSite) -> None:
    node, way = site.node, way_of(site.node.attributes, extra=1)
    x, w = at.value(node.inputs[0]), at.parameters[node.parameters[0]]
    made = at.build.values(f"{site.what} sum", node.size)
    if way.whole:
        matrix = dense.of_kernels(w, way.outputs, way.inputs)
        dense.forward(at.build, site.named, "transition", x, matrix, made)
        dense.kernel_bias(at.build, site.named, made, matrix, at.value(node))
        return
    convolution.forward(at.build, site.named, x, w, way, made)
    convolution.bias(at.build, site.named, made, w, way, at.value(node))


def _convolve_back(at: GraphFlow, site: OpSite) -> None:
    node, way = site.node, way_of(site.node.attributes, extra=1)
    (source,), w = node.inputs, at.parameters[node.parameters[0]]
    if way.whole:
        _dense_back(at, site, "transition", dense.of_kernels(w, way.outputs, way.inputs))
        return
    g, down = at.error(node), at.gradient(node.parameters[0])
    if down is not None:
        convolution.gradient(at.build, site.named, at.value(source), g, way, down)
    below = at.below(source, site.named)
    if below is not None:
        convolution.backward(at.build, site.named, g, w, way, below)


def _largest(at: GraphFlow, site: OpSite) -> None:
    node, way = site.node, way_of(site.node.attributes)
    out, where = at.value(node), None
    if node in at.facts.learning and node.inputs[0] in at.facts.learning:
        where = at.build.values(f"{site.what}: where", node.size)
        at.kept[node] = (where,)
    pooling.largest(at.build, site.named, at.value(node.inputs[0]), way, out, where)


def _largest_back(at: GraphFlow, site: OpSite) -> None:
    below = at.below(site.node.inputs[0], site.named)
    if below is not None:
        way = way_of(site.node.attributes)
        (where,) = at.kept[site.node]
        pooling.largest_back(at.build, site.named, where, at.error(site.node), way, below)


def _mean(at: GraphFlow, site: OpSite) -> None:
    way = way_of(site.node.attributes)
    x = at.value(site.node.inputs[0])
    pooling.mean(at.build, site.named, x, way, at.value(site.node))


def _mean_back(at: GraphFlow, site: OpSite) -> None:
    below = at.below(site.node.inputs[0], site.named)
    if below is not None:
        way = way_of(site.node.attributes)
        pooling.mean_back(at.build, site.named, at.error(site.node), way, below)


def _norm(node: Node) -> normalization.Norm:
    attributes = node.attributes
    return normalization.Norm(
        float(attributes["alpha"]),
        float(attributes["beta"]),
        float(attributes["offset"]),
        bool(attributes["over_full_kernel"]),
    )


def _normalize(at: GraphFlow, site: OpSite) -> None:
    node, way = site.node, way_of(site.node.attributes)
    base = at.build.values(f"{site.what}: base", node.size)
    power = at.build.values(f"{site.what}: power", node.size)
    made = at.value(node), base, power
    at.kept[node] = made
    x = at.value(node.inputs[0])
    normalization.forward(at.build, site.named, x, way, _norm(node), made)


def _normalize_back(at: GraphFlow, site: OpSite) -> None:
    node = site.node
    below = at.below(node.inputs[0], site.named)
    if below is None:
        return
    value, base, power = at.kept[node]
    x, g, way = at.value(node.inputs[0]), at.error(node), way_of(node.attributes)
    made = value, base, power
    normalization.backward(at.build, site.named, x, g, way, _norm(node), made, below)


def _filtered(at: GraphFlow, site: OpSite) -> None:
    node, (destinations, sources) = site.node, site.node.attributes["edges"]
    edges = filtered.by_destination(at.build, site.named, destinations, sources, node.size)
    x, w = at.value(node.inputs[0]), at.parameters[node.parameters[0]]
    filtered.forward(at.build, site.named, x, w, edges, at.value(node))


def _filtered_back(at: GraphFlow, site: OpSite) -> None:
    node, (destinations, sources) = site.node, site.node.attributes["edges"]
    (source,), g = node.inputs, at.error(site.node)
    x, down = at.value(source), at.gradient(node.parameters[0])
    if down is not None:
        filtered.gradient(at.build, site.named, x, g, destinations, sources, down)
    below = at.below(source, site.named)
    if below is not None:
        edges = filtered.by_source(at.build, site.named, destinations, sources, source.size)
        w = at.parameters[node.parameters[0]]
        filtered.backward(at.build, site.named, g, w, edges, below)


def _activation(at: GraphFlow, site: OpSite) -> None:
    node, function = site.node, site.node.attributes["function"]
    x = at.value(node.inputs[0])
    if function == "linear":
        at.value(node, alias=x)
        return
    elementwise.activation(at.build, site.what, function, x, at.value(node))


def _activation_back(at: GraphFlow, site: OpSite) -> None:
    node, function = site.node, site.node.attributes["function"]
    (source,), g = node.inputs, at.error(node)
    if function == "linear":
        at.pass_back(source, g)
        return
    below = at.below(source, site.what)
    if below is not None:
        x, y = at.value(source), at.value(node)
        elementwise.slope(at.build, site.what, function, x, y, g, below)


def _add(at: GraphFlow, site: OpSite) -> None:
    parts = [at.value(source) for source in site.node.inputs]
    if len(parts) == 1:
        at.value(site.node, alias=parts[0])
        return
    elementwise.total(at.build, site.what, FORWARD, parts, at.value(site.node))


def _add_back(at: GraphFlow, site: OpSite) -> None:
    g = at.error(site.node)
    for source in site.node.inputs:
        at.pass_back(source, g)


def _drop(at: GraphFlow, site: OpSite) -> None:
    node = site.node
    x, mask = at.value(node.inputs[0]), at.mask(node)
    elementwise.masked(at.build, site.what, FORWARD, x, mask, at.value(node))


def _drop_back(at: GraphFlow, site: OpSite) -> None:
    node = site.node
    below = at.below(node.inputs[0], site.what)
    if below is not None:
        g, mask = at.error(node), at.mask(node)
        elementwise.masked(at.build, site.what, BACKWARD, g, mask, below)


OPERATIONS: dict[str, OpKernels] = {
    "full": OpKernels(_full, _full_back),
    "filtered": OpKernels(_filtered, _filtered_back),
    "convolve": OpKernels(_convolve, _convolve_back),
    "bias": OpKernels(_bias, _bias_back),
    "max pool": OpKernels(_largest, _largest_back),
    "mean pool": OpKernels(_mean, _mean_back),
    "response norm": OpKernels(_normalize, _normalize_back),
    "activation": OpKernels(_activation, _activation_back),
    "add": OpKernels(_add, _add_back),
    "Dropout": OpKernels(_drop, _drop_back),
}
