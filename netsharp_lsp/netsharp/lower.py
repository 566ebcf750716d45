"""From a Net# network to the engine's graph: the only module of the language that builds one.

It expects a network without errors whose sizes are all known, and checks nothing.
"""

from __future__ import annotations

from array import array
from functools import partial
from itertools import repeat

from netsharp_engine.graph import Graph, GraphError
from netsharp_lsp.context import FIELDS, Context
from netsharp_lsp.interface import Origin
from netsharp_lsp.limits import BUNDLES, CONDITION_EVALUATIONS, FILTERED_EDGES, LAYERS
from netsharp_lsp.netsharp.check import check
from netsharp_lsp.netsharp.meaning.counts.predicates import count_edges
from netsharp_lsp.netsharp.meaning.counts.sharing import shared_groups
from netsharp_lsp.netsharp.meaning.inforce import numbers_of
from netsharp_lsp.netsharp.meaning.order import computing_order
from netsharp_lsp.netsharp.reading.parser import parse
from netsharp_lsp.netsharp.reading.syntax import LayerItem
from netsharp_lsp.text.decode import encode_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import Any

    from netsharp_engine.graph import Node, Parameter
    from netsharp_lsp.netsharp.findings import RelativeSpan
    from netsharp_lsp.netsharp.meaning.model import Bundle, Geometry, Layer
    from netsharp_lsp.netsharp.meaning.network import Network

    Apply = Callable[..., Node]

#: No layer is declared in fewer bytes: `A[1],`.
_SHORTEST = 5
#: What the engine calls the bundles that a kernel walks over without weights.
POOL_OPERATIONS = ("max pool", "mean pool")


def build_graph(specification: str, known: Mapping[str, Any]) -> Graph:
    """Return the graph of a specification's text in its context.

    ``known``: the fields of a `Context` by name; others are ignored. Raises GraphError, a sentence,
    where the text has errors or a size stays unknown.
    """
    context = Context(**{field: known[field] for field in FIELDS if field in known})
    network, diagnostics = check(encode_text(specification), context)
    errors = [found for found in diagnostics if found.severity == "error"]
    if errors:
        more = f" ({len(errors) - 1} more)" if len(errors) > 1 else ""
        raise GraphError(f"The specification has errors: {errors[0].message}{more}")
    too_large = _refusal(len(network.layers), sum(1 for _ in network.bundles()))
    if too_large is not None:
        raise GraphError(too_large)
    unknown = [layer.name for layer in network.layers.values() if layer.nodes is None]
    if unknown:
        names = ", ".join(f"'{name}'" for name in unknown)
        raise GraphError(f"The size of {names} is auto and not known from the data or settings.")
    return lower(network)


def refusal(specification: bytes) -> str | None:
    """Return why no graph is built of a text, if that is known without resolving it; else None."""
    if len(specification) < LAYERS.most * _SHORTEST:
        return None
    items = [item for one in parse(specification).declarations for item in one.items]
    layers = [item for item in items if isinstance(item, LayerItem)]
    return _refusal(len(layers), sum(len(layer.bundles) for layer in layers))


def _refusal(layers: int, bundles: int) -> str | None:
    for number, limit in ((layers, LAYERS), (bundles, BUNDLES)):
        if number > limit.most:
            return (
                f"The network has {number:,} {limit.unit}, and more than {limit} are not trained "
                "or applied. Leave some out."
            )
    return None


def lower(network: Network) -> Graph:
    """Build the engine's graph of a network without errors and without unknown sizes.

    Node values are [samples, nodes]; a layer's last node carries the layer's name.  Parameters
    are named `LAYER/SOURCE/weights` and `LAYER/biases`, a second bundle from the same source
    `LAYER/SOURCE#2/weights`; those that share are one parameter, named by the first in the text.
    """
    return Lowering(network).lowered()


def weights_name(bundle: Bundle) -> str:
    """Return the name of a bundle's weights in graphs and model files."""
    number = "" if bundle.number == 1 else f"#{bundle.number}"
    return f"{bundle.layer.name}/{bundle.source_name}{number}/weights"


def biases_name(layer: Layer) -> str:
    """Return the name of a layer's biases in graphs and model files."""
    return f"{layer.name}/biases"


class Lowering:
    """One traversal of the layers in computing order."""

    def __init__(self, network: Network) -> None:
        self.network = network
        self.graph = Graph()
        self.shared = shared_groups(network, CONDITION_EVALUATIONS.most)
        self.parameters: dict[object, Parameter] = {}
        self.values: dict[Layer, Node] = {}

    def lowered(self) -> Graph:
        """Return the graph with all layers in it."""
        network = self.network
        for layer in network.inputs:
            origin = self._origin(layer, layer.place)
            self.values[layer] = self.graph.input(layer.name, layer.shape or (), origin=origin)
        for layer in computing_order(network):
            if layer.trainable:
                self.values[layer] = self._layer(layer)
        for layer in network.outputs[:1]:
            self.graph.set_output(self.values[layer])
        return self.graph

    def _origin(self, layer: Layer, place: RelativeSpan) -> Origin:
        start, end = place.offsets(self.network.specification)
        return Origin(layer.name, self.network.specification.lines.line_at(start) + 1, start, end)

    def _layer(self, layer: Layer) -> Node:
        parts = [self._bundle(bundle) for bundle in layer.bundles]
        apply = partial(self.graph.apply, origin=self._origin(layer, layer.place))
        value = parts[0] if len(parts) == 1 else apply("add", *parts)
        if layer.has_biases:
            value = apply("bias", value, parameters=[self._biases(layer)])
        return apply("activation", value, name=layer.name, function=layer.activation or "linear")

    def _bundle(self, bundle: Bundle) -> Node:
        assert bundle.source is not None
        source, kind = self.values[bundle.source], bundle.kind
        apply = partial(self.graph.apply, origin=self._origin(bundle.layer, bundle.place))
        if kind == "all":
            shape = (bundle.layer.nodes or 0, bundle.source.nodes or 0)
            weights = self._weights(bundle, shape, "weights")
            return apply("full", source, parameters=[weights], shape=bundle.layer.shape)
        if kind == "where":
            return self._filtered(bundle, source, apply)
        geometry = bundle.geometry
        assert geometry is not None
        if kind == "convolve":
            return self._convolution(bundle, source, geometry, apply)
        if kind in POOL_OPERATIONS:
            return apply(str(kind), source, axes=geometry.axes)
        over_full_kernel = bundle.given.get("AvgOverFullKernel")
        return apply(
            "response norm",
            source,
            axes=geometry.axes,
            alpha=bundle.scalar("Alpha", 0.0),
            beta=bundle.scalar("Beta", 0.0),
            offset=bundle.scalar("Offset", 1.0),
            over_full_kernel=over_full_kernel is not None and over_full_kernel.value is True,
        )

    def _convolution(self, bundle: Bundle, source: Node, geometry: Geometry, apply: Apply) -> Node:
        shape = (geometry.kernels, geometry.weights_per_kernel)
        return apply(
            "convolve",
            source,
            parameters=[self._weights(bundle, shape, "kernels")],
            axes=geometry.axes,
            sharing=geometry.sharing,
            maps=geometry.maps,
        )

    def _filtered(self, bundle: Bundle, source: Node, apply: Apply) -> Node:
        edges = count_edges(bundle, self.network, CONDITION_EVALUATIONS.most)
        assert edges is not None
        condition = f"The condition from '{bundle.source_name}' to '{bundle.layer.name}'"
        advice = "Make the layers smaller, or split the condition into terms that share no index."
        if edges.count is None:
            raise GraphError(
                f"{condition} takes more than {CONDITION_EVALUATIONS}, for which there is neither "
                f"time nor memory. {advice}",
                self._origin(bundle.layer, bundle.place),
            )
        if edges.count > FILTERED_EDGES.most:
            raise GraphError(
                f"{condition} makes more than {FILTERED_EDGES}, for which there is neither "
                f"time nor memory. {advice}",
                self._origin(bundle.layer, bundle.place),
            )
        destinations, sources = array("q"), array("q")
        for destination, row in edges.pairs():
            destinations.extend(repeat(destination, len(row)))
            sources.extend(row)
        weights = self._weights(bundle, (len(sources),), "weights")
        return apply(
            "filtered",
            source,
            parameters=[weights],
            edges=(destinations, sources),
            shape=bundle.layer.shape,
        )

    def _weights(self, bundle: Bundle, shape: tuple[int, ...], kind: str) -> Parameter:
        leader = self.shared.bundle_leader.get(bundle, bundle)
        if leader not in self.parameters:
            group = self.shared.bundle_groups.get(leader, (leader,))
            given = (numbers_of(member.given.get("Weights")) for member in group)
            self.parameters[leader] = self.graph.parameter(
                weights_name(leader),
                shape,
                first_known(given),
                kind,
                origin=self._origin(leader.layer, leader.place),
            )
        return self.parameters[leader]

    def _biases(self, layer: Layer) -> Parameter:
        leader = self.shared.bias_leader.get(layer, layer)
        if leader not in self.parameters:
            group = self.shared.bias_groups.get(leader, (leader,))
            given = (member.biases_given for member in group)
            self.parameters[leader] = self.graph.parameter(
                biases_name(leader),
                (layer.nodes or 0,),
                first_known(given),
                "biases",
                origin=self._origin(leader, leader.place),
            )
        return self.parameters[leader]


def first_known(given: Iterable[tuple[float, ...] | None]) -> tuple[float, ...] | None:
    """Return the initial values of a group that shares: they agree, so the first ones apply."""
    return next((values for values in given if values is not None), None)
