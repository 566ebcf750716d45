"""Shapes and dynamic axes of a whole network: passes until nothing changes, then the checks."""

from __future__ import annotations

from netsharp_lsp.cntk.networks.loops import find_loops
from netsharp_lsp.cntk.networks.node import (
    DEFAULT_AXIS,
    PARAMETER,
    Axis,
    Network,
    Trouble,
    elements,
)
from netsharp_lsp.cntk.networks.node_types import INPUTS, NODE_TYPES, family
from netsharp_lsp.cntk.networks.rules.common import Misfit, inherit_axis

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from netsharp_lsp.cntk.networks.node import Node

#: Passes after which shapes that still change are taken as they are.
MOST_PASSES = 100


def inferred(network: Network) -> Network:
    """The network with loops, axes and shapes filled in, and what does not fit."""
    nodes = list(network.nodes.values())
    loops = find_loops(nodes)
    for number, loop in enumerate(loops):
        for node in loop:
            node.loop = number
    inference = _Inference(in_order(nodes))
    axis_troubles = _place_axes(network.nodes)
    troubles = (*axis_troubles, *inference.run())
    _tell_axes_apart(inference.nodes)
    return network._replace(loops=loops, troubles=troubles)


def in_order(nodes: list[Node]) -> list[Node]:
    """Nodes after their inputs, as far as there is no loop."""
    used = {id(one) for node in nodes for one in node.inputs}
    by_name = sorted(nodes, key=lambda node: node.name)
    roots = [node for node in by_name if id(node) not in used]
    found: list[Node] = []
    seen: set[int] = set()
    for root in roots + by_name:
        path = [(root, iter(root.inputs))] if id(root) not in seen else []
        seen.add(id(root))
        while path:
            inputs = path[-1][1]
            deeper = next((one for one in inputs if id(one) not in seen), None)
            if deeper is None:
                found.append(path.pop()[0])
            else:
                seen.add(id(deeper))
                path.append((deeper, iter(deeper.inputs)))
    return found


def _place_axes(nodes: Mapping[str, Node]) -> list[Trouble]:
    """Give inputs their dynamic axes: the one of the network, or the one that they name."""
    default = Axis(DEFAULT_AXIS)
    troubles = []
    for node in nodes.values():
        if node.operation == "DynamicAxis":
            node.axis = Axis(node.name)
    for node in nodes.values():
        if node.operation not in INPUTS:
            continue
        name = node.text("dynamicAxis")
        holder = nodes.get(name)
        node.axis = default
        if name and (holder is None or holder.operation != "DynamicAxis"):
            troubles.append(Trouble(node, f"there is no dynamic axis '{name}'.", "dynamic-axis"))
        elif holder is not None:
            node.axis = holder.axis
    return troubles


def _tell_axes_apart(nodes: list[Node]) -> None:
    """Number axes of the same name, from the second on, in the order of their nodes."""
    axes = {id(node.axis): node.axis for node in nodes if node.axis is not None}
    seen: dict[str, int] = {}
    for axis in axes.values():
        count = seen.get(axis.name, 0)
        seen[axis.name] = count + 1
        if count:
            axis.name = f"{axis.name}{count}"


class _Inference:
    """The passes over the nodes of a network."""

    def __init__(self, nodes: list[Node]) -> None:
        self.nodes = nodes
        self.visited: set[int] = set()
        #: Nodes whose shape stays unknown.
        self.failed = {id(node) for node in nodes if node.shape is None}
        self.troubles: list[Trouble] = []
        self.sure = not self.failed

    def run(self) -> list[Trouble]:
        """Infer, check, and say what does not fit."""
        for _ in range(MOST_PASSES):
            if not sum(self._validate(node, final=False) for node in self.nodes):
                break
        for node in self.nodes:
            self._validate(node, final=True)
        for node in self.nodes:
            self._check_size(node)
        return self.troubles

    def _validate(self, node: Node, final: bool) -> bool:
        """Apply the rule of a node; whether anything changed, or is still to do."""
        if id(node) in self.failed:
            self.visited.add(id(node))
            if node.inputs:
                inherit_axis(node)
            return False
        ready = [id(one) in self.visited for one in node.inputs]
        if node.inputs and not any(ready):
            return True
        before = _state(node)
        self._apply(node, final)
        self.visited.add(id(node))
        return not all(ready) or before != _state(node)

    def _apply(self, node: Node, final: bool) -> None:
        # Who built the node has said already that inputs are missing.
        few = len(node.inputs) < NODE_TYPES[node.operation].fewest
        if few or any(one.shape is None for one in node.inputs):
            inherit_axis(node)
            node.shape = None
            return
        try:
            self._check_inputs(node, final)
            NODE_TYPES[node.operation].rule(node, final)
        except Misfit as misfit:
            self.failed.add(id(node))
            self.sure = False
            kind = misfit.kind or family(node.operation)
            self.troubles.append(Trouble(node, str(misfit), kind, misfit.differ))
            node.shape = None

    def _check_inputs(self, node: Node, final: bool) -> None:
        for one in node.inputs:
            if one.operation == "DynamicAxis":
                raise Misfit(
                    f"'{one.name}' is a dynamic axis and no input of a node.", "dynamic-axis"
                )
            if final and not elements(one.shape or ()):
                raise Misfit(f"the size of its input '{one.name}' cannot be inferred.", "size")

    def _check_size(self, node: Node) -> None:
        """Everything has elements; what could not be known because of another is unknown."""
        if node.shape is None or elements(node.shape) or node.operation == "DynamicAxis":
            return
        if self.sure:
            reason = "nothing that uses it says how large it is"
            what = "parameter" if node.operation == PARAMETER else "node"
            self.troubles.append(Trouble(node, f"this {what} has no size: {reason}.", "size"))
        node.shape = None


def _state(node: Node) -> tuple[object, ...]:
    """What a rule may change: the node, and the parameters that it infers."""
    return (node.shape, node.axis, *(one.shape for one in node.inputs))
