"""The network as a picture: the result of `describe`, the coordinates of each box and arrow, and
the places of each layer and connection in the text.
"""

from __future__ import annotations

from netsharp_lsp.description.picture import drawn, lay_out
from netsharp_lsp.ide.answers import Graph, Target
from netsharp_lsp.netsharp.describe import describe_network
from netsharp_lsp.netsharp.meaning.counts.predicates import EVALUATION_LIMIT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from netsharp_lsp.ide.answers import Range
    from netsharp_lsp.netsharp.findings import RelativeSpan
    from netsharp_lsp.netsharp.meaning.network import Network


def graph_of(network: Network) -> Graph:
    """Return the network and its picture; one with faults as far as it is known."""
    description = describe_network(network, EVALUATION_LIMIT)
    picture = lay_out(description)
    description["picture"] = drawn(picture)
    specification = network.specification
    graph = Graph(description)

    def offsets(place: RelativeSpan) -> Range:
        return place.offsets(specification)

    for layer in network.all_layers:
        if not layer.first:
            continue
        base = specification.starts[layer.declaration]
        alone = len(layer.declaration.items) == 1 and layer.declaration.group is None
        whole = layer.declaration if alone else layer.item
        graph.places[layer.name] = Target(
            base + whole.start, base + whole.end, *offsets(layer.place)
        )
        for number, bundle in enumerate(layer.bundles):
            item = bundle.item
            graph.bundle_places[(layer.name, number)] = (base + item.start, base + item.end)
    return graph
