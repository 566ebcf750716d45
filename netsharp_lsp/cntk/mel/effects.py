"""The effects of edits on the networks of models, whose nodes are known by name; checks nothing.

An effect that cannot be determined makes the network unknown.
"""

from __future__ import annotations

from netsharp_lsp.cntk.networks.freezing import freeze, learn
from netsharp_lsp.cntk.networks.node import PARAMETER, Node
from netsharp_lsp.cntk.networks.starting import FROM_FILE, measure_start

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from netsharp_lsp.cntk.configuration.traced import Traced
    from netsharp_lsp.cntk.mel.graph import EditedGraph
    from netsharp_lsp.cntk.mel.models import Model
    from netsharp_lsp.cntk.networks.starting import Measure

    Names = Sequence[str] | None
    Pairs = Sequence[tuple[str, str]] | None


def _chosen(model: Model, names: Names) -> tuple[EditedGraph, list[Node]] | None:
    """Return the graph of a model with the named nodes, after connecting statements of NDL."""
    nodes = model.network.nodes(names)
    graph = model.network.joined()
    return None if nodes is None or graph is None else (graph, nodes)


def remove(model: Model, names: Names, change: Traced) -> None:
    """Delete nodes."""
    found = _chosen(model, names)
    if found is None:
        return
    graph, nodes = found
    for node in dict.fromkeys(nodes):
        if not graph.remove(node, change):
            model.network.forget()
            return


def rename(model: Model, pairs: Pairs) -> None:
    """Rename nodes."""
    found = _chosen(model, None if pairs is None else [old for old, _ in pairs])
    for node, (_, new) in zip(found[1], pairs or (), strict=True) if found is not None else ():
        assert found is not None
        if found[0].find(new) is not None:
            model.network.forget()
            return
        found[0].rename(node, new)


def copy(source: Model, target: Model, pairs: Pairs, change: Traced, *, links: bool) -> None:
    """Copy nodes with their attributes, and with the connections among them."""
    found = _chosen(source, None if pairs is None else [old for old, _ in pairs])
    graph = target.network.joined()
    if found is None or graph is None:
        target.network.forget()
        return
    twins: dict[Node, Node] = {}
    for node, (_, new) in zip(found[1], pairs or (), strict=True):
        twin = graph.copy(node, new)
        if twin is None:
            target.network.forget()
            return
        twin.where = _place(change)
        twins[node] = twin
    for node, twin in twins.items() if links else ():
        inputs = [None if one is None else twins.get(one) for one in found[0].inputs(node)]
        graph.attach(twin, inputs)
    graph.changed(twins.values(), change)


def copy_inputs(model: Model, pairs: Pairs, change: Traced) -> None:
    """Give nodes the same inputs as others have."""
    sources = _chosen(model, None if pairs is None else [old for old, _ in pairs])
    targets = _chosen(model, None if pairs is None else [new for _, new in pairs])
    if sources is None or targets is None:
        return
    graph = targets[0]
    for source, target in zip(sources[1], targets[1], strict=True):
        if source.operation != target.operation:
            model.network.forget()
            return
        graph.attach(target, graph.inputs(source))
    graph.changed(targets[1], change)


def copy_tree(source: Model, names: Names, target: Model, prefix: str, change: Traced) -> bool:
    """Copy nodes with all that they depend on; return whether the result is known."""
    found = _chosen(source, names)
    graph = target.network.joined()
    if found is None or graph is None:
        target.network.forget()
        return False
    for root in found[1]:
        for node in found[0].in_order(root):
            twin = graph.copy(node, f"{prefix}{node.name}")
            inputs = [
                None if one is None else graph.find(f"{prefix}{one.name}")
                for one in found[0].inputs(node)
            ]
            # In a loop, CNTK does not find nodes that it copies later.
            if twin is None or twin is node or None in inputs:
                target.network.forget()
                return False
            twin.where = _place(change)
            graph.attach(twin, inputs)
            graph.changed((twin,), change)
            target.add(twin.name, twin.operation)
    return True


def connect(model: Model, names: Names, index: int | None, source: Names, change: Traced) -> None:
    """Connect one input of nodes to a node."""
    origin = model.network.nodes(source)
    found = _chosen(model, names)
    if found is None or origin is None or index is None or len(origin) != 1:
        model.network.forget()
        return
    graph, nodes = found
    for node in nodes:
        if index > len(graph.inputs(node)):
            model.network.forget()
            return
        graph.connect(node, index, origin[0])
    graph.changed(nodes, change)


def attach(model: Model, names: Names, sources: Iterable[Names], change: Traced) -> None:
    """Connect all inputs of a node."""
    origins = [model.network.nodes(one) for one in sources]
    found = _chosen(model, names)
    inputs = [one for origin in origins if origin is not None for one in origin]
    if found is None or len(found[1]) != 1 or len(inputs) != len(origins):
        model.network.forget()
        return
    found[0].attach(found[1][0], inputs)
    found[0].changed(found[1], change)


def tag(model: Model, names: Names, group: str, *, belongs: bool) -> None:
    """Add nodes to a group or remove them."""
    nodes = model.network.nodes(names)
    graph = model.network.graph
    for node in nodes if nodes is not None and graph is not None else ():
        assert graph is not None
        graph.tag(node, group, belongs=belongs)


def learn_at(model: Model, names: Names, rate: float) -> None:
    """Set the learning rate multiplier of parameters."""
    for node in model.network.nodes(names) or ():
        learn(node, rate)


def freeze_all(model: Model, names: Names) -> None:
    """Freeze parameters and normalizations."""
    for node in model.network.nodes(names) or ():
        freeze(node)


def learn_below(model: Model, names: Names, rate: float) -> None:
    """Set the learning rate multiplier of all parameters that nodes depend on."""
    found = _chosen(model, names)
    if found is not None:
        for node in found[0].below(found[1]):
            learn(node, rate)


def revise(model: Model, names: Names, path: str, measure: Measure, change: Traced) -> list[Node]:
    """Initialize parameters from a file; return them as they are then, unaffected by later edits.

    Nodes that are not parameters are skipped.
    """
    found = []
    for node in model.network.nodes(names) or ():
        if node.operation != PARAMETER:
            continue
        node.saved, node.draw, node.where = None, object(), _place(change)
        node.attributes.update(init=FROM_FILE, initFromFilePath=path)
        measure_start(node, measure)
        twin = Node(PARAMETER, node.number, node.name)
        twin.attributes = dict(node.attributes)
        twin.shape, twin.draw, twin.where = node.shape, node.draw, node.where
        found.append(twin)
    return found


def _place(change: Traced) -> tuple[str, int, int]:
    place = change.place(0, len(change))
    return place.source.name, place.start, place.end
