"""The network as a picture: what `describe` says, where each box and arrow is drawn, and where
each node has its name in the text.
"""

from __future__ import annotations

from netsharp_lsp.cntk.ide.nodes import named_nodes
from netsharp_lsp.cntk.networks.description import described
from netsharp_lsp.cntk.networks.node import Network
from netsharp_lsp.description.nodes import as_layers
from netsharp_lsp.description.picture import drawn, lay_out
from netsharp_lsp.ide.answers import Graph, Target

TYPE_CHECKING = False
if TYPE_CHECKING:
    from netsharp_lsp.cntk.ide.edited import Edited
    from netsharp_lsp.cntk.run.building import BuiltNetwork


def graph_of(edited: Edited) -> Graph:
    """The first network that is built in the text, else the first of its runs."""
    built = _meant(edited)
    network = built.network if built is not None else None
    description = described(network if network is not None else Network({}, {}))
    description["layers"] = as_layers(description)
    description["command"] = built.command if built is not None else ""
    description["builder"] = built.builder if built is not None else ""
    description["picture"] = drawn(lay_out(description))
    graph = Graph(description)
    for named in named_nodes(edited).values():
        if named.built is built:
            place = named.name
            graph.places[named.node.name] = Target(place.start, place.end, place.start, place.end)
    return graph


def _meant(edited: Edited) -> BuiltNetwork | None:
    first = None
    for experiment, built in edited.networks():
        if built.network is None:
            continue
        first = first or built
        if edited.is_here(experiment, built.place.source):
            return built
    return first
