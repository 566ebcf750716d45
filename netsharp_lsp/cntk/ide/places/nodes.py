"""The nodes of a text's networks and the names in the text that declare them.

A name inside a function or a macro means many nodes, one for each call, and is not included.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from netsharp_lsp.cntk.brainscript.analysis.scopes import MEMBER, PARAMETERS
from netsharp_lsp.cntk.networks.faults import Place
from netsharp_lsp.cntk.networks.node import elements
from netsharp_lsp.once import once

if TYPE_CHECKING:
    from collections.abc import Iterator

    from netsharp_lsp.cntk.brainscript.analysis.scopes import Declaration
    from netsharp_lsp.cntk.ide.places.edited import Edited
    from netsharp_lsp.cntk.networks.node import Network, Node, Shape
    from netsharp_lsp.cntk.run.building import BuiltNetwork
    from netsharp_lsp.cntk.run.experiment import Experiment


class NamedNode(NamedTuple):
    """A node, the place of its name's declaration, and its network."""

    node: Node
    name: Place
    built: BuiltNetwork


@once
def named_nodes(edited: Edited) -> dict[int, NamedNode]:
    """Return the nodes that names of this text declare, by the start of the name; of the first
    run.
    """
    found: dict[int, NamedNode] = {}
    here: dict[tuple[Experiment, str], bool] = {}
    for experiment, built, name, place in _declared(edited):
        network = built.network
        node = network.nodes.get(name) if network is not None else None
        if node is None:
            continue
        key = (experiment, place.source)
        if key not in here:
            here[key] = edited.is_here(*key)
        if here[key]:
            found.setdefault(place.start, NamedNode(node, place, built))
    return found


def _declared(edited: Edited) -> Iterator[tuple[Experiment, BuiltNetwork, str, Place]]:
    """Yield names that mean one node each, with the network and the place of the declaration."""
    for experiment, program in edited.programs():
        for declaration in program.program.declarations:
            if declaration.kind == MEMBER and not _is_in_function(declaration):
                place = program.outside(declaration.place)
                yield experiment, program.built, declaration.qualified, place
    for experiment, built in edited.networks():
        if built.language != "ndl" or built.network is None:
            continue
        spelt = {name.lower(): name for name in built.network.nodes}
        for one in edited.occurrences:
            own = one.key[0] == "ndl" and one.kind == "node"
            if one.declares and own and one.name.lower() in spelt:
                place = Place(one.file, one.start, one.end)
                yield experiment, built, spelt[one.name.lower()], place


def _is_in_function(declaration: Declaration) -> bool:
    return any(scope.kind == PARAMETERS for scope in declaration.scope.chain())


def written_shape(shape: Shape) -> str:
    """Return a shape for users: `28 x 28 x 1`, `?` where it is unknown."""
    return "?" if shape is None or not shape else " x ".join(map(str, shape))


def parameters_of(node: Node) -> int | None:
    """Return the number of elements of a trained parameter; None for other nodes and unknown
    shapes.
    """
    if not node.trainable or node.shape is None:
        return None
    return elements(node.shape)


def readers(network: Network, node: Node) -> list[Node]:
    """Return the nodes that read a node, in order of creation."""
    return [one for one in network.nodes.values() if node in one.inputs]
