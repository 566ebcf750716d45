"""Shapes and dynamic axes of a whole network: passes until nothing changes, then the checks.  Knows
no language.
"""

from __future__ import annotations

from netsharp_lsp.cancellation import raise_if_cancelled
from netsharp_lsp.cntk.networks.loops import find_loops
from netsharp_lsp.cntk.networks.node import (
    DEFAULT_AXIS,
    OPAQUE,
    PARAMETER,
    Axis,
    Network,
    Trouble,
    elements,
)
from netsharp_lsp.cntk.networks.node_types import INPUTS, family, rule_of
from netsharp_lsp.cntk.networks.rules.common import Misfit
from netsharp_lsp.cntk.networks.rules.unknown import leave_open, place_axis
from netsharp_lsp.cntk.networks.starting import is_open

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from netsharp_lsp.cntk.networks.node import Node

#: Products whose first factor may be an embedding matrix.
_PRODUCTS = frozenset(("Times", "TransposeTimes"))
#: The most passes; shapes that still change then are used as they are.
MOST_PASSES = 100


def inferred(network: Network) -> Network:
    """Return the network with loops, axes and shapes, and with the mismatches found."""
    nodes = list(network.nodes.values())
    loops = find_loops(nodes)
    for number, loop in enumerate(loops):
        for node in loop:
            node.loop = number
    inference = _Inference(in_order(nodes))
    axis_troubles = _place_axes(network.nodes)
    troubles = (*axis_troubles, *inference.run())
    _number_axes(inference.nodes)
    return network._replace(loops=loops, troubles=troubles)


def _inputs(node: Node) -> tuple[Node, ...]:
    return node.inputs


def in_order(nodes: list[Node], read: Callable[[Node], tuple[Node, ...]] = _inputs) -> list[Node]:
    """Return nodes after their inputs, or after those that `read` returns, apart from loops."""
    used = {id(one) for node in nodes for one in node.inputs}
    by_name = sorted(nodes, key=lambda node: node.name)
    roots = [node for node in by_name if id(node) not in used]
    found: list[Node] = []
    seen: set[int] = set()
    for root in roots + by_name:
        path = [(root, iter(read(root)))] if id(root) not in seen else []
        seen.add(id(root))
        while path:
            inputs = path[-1][1]
            deeper = next((one for one in inputs if id(one) not in seen), None)
            if deeper is None:
                found.append(path.pop()[0])
            else:
                seen.add(id(deeper))
                path.append((deeper, iter(read(deeper))))
    return found


def _place_axes(nodes: Mapping[str, Node]) -> list[Trouble]:
    """Set the dynamic axes of inputs: the network's, or the one that they name; return unknown
    axes.
    """
    default = Axis(DEFAULT_AXIS)
    troubles = []
    for node in nodes.values():
        if node.operation == "DynamicAxis":
            node.axis = Axis(node.name)
    for node in nodes.values():
        name = node.text("dynamicAxis")
        holder = nodes.get(name)
        if node.operation == "Where" and holder is not None:
            node.axis = holder.axis
        if node.operation not in INPUTS:
            continue
        node.axis = default
        if name and (holder is None or holder.operation != "DynamicAxis"):
            troubles.append(Trouble(node, f"there is no dynamic axis '{name}'.", "dynamic-axis"))
        elif holder is not None:
            node.axis = holder.axis
    return troubles


def _number_axes(nodes: list[Node]) -> None:
    """Rename axes with the same name, from the second on: append a number in the order of their
    nodes.
    """
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
        self.troubles = [Trouble(node, node.flaw, "file") for node in nodes if node.flaw]
        #: Nodes that may depend on unknown ones.
        self.doubtful: set[int] = set()

    def run(self) -> list[Trouble]:
        """Infer shapes, check them, and return the mismatches."""
        for _ in range(MOST_PASSES):
            if not sum(self._validate(node, final=False) for node in self.nodes):
                break
        self.doubtful = _doubtful(self.nodes)
        for node in self.nodes:
            self._validate(node, final=True)
        self.doubtful = _doubtful(self.nodes)
        for node in self.nodes:
            self._check_size(node)
        return self.troubles

    def _validate(self, node: Node, final: bool) -> bool:
        """Apply the rule of a node; return whether anything changed, or another pass is needed."""
        if id(node) in self.failed:
            self.visited.add(id(node))
            if node.inputs:
                place_axis(node)
            return False
        ready = [id(one) in self.visited for one in node.inputs]
        if node.inputs and not any(ready):
            return True
        raise_if_cancelled()
        before = _state(node)
        self._apply(node, final)
        self.visited.add(id(node))
        return not all(ready) or before != _state(node)

    def _apply(self, node: Node, final: bool) -> None:
        # The builder of the node has already reported missing inputs.
        few = len(node.inputs) < rule_of(node.operation).fewest
        if few or any(one.shape is None for one in node.inputs):
            leave_open(node)
            return
        unsure = any(map(is_open, node.inputs)) and not _is_sure_product(node)
        if unsure or (final and any(map(self._waits, node.inputs))):
            leave_open(node)
            return
        try:
            self._check_inputs(node, final)
            rule_of(node.operation).rule(node, final)
        except Misfit as misfit:
            self.failed.add(id(node))
            kind = misfit.kind or family(node.operation)
            self.troubles.append(Trouble(node, str(misfit), kind, misfit.differ))
            node.shape = None

    def _waits(self, node: Node) -> bool:
        """Return whether it has no size because of unknown nodes."""
        return id(node) in self.doubtful and not elements(node.shape or ())

    def _check_inputs(self, node: Node, final: bool) -> None:
        for one in node.inputs:
            if one.operation == "DynamicAxis":
                raise Misfit(
                    f"'{one.name}' is a dynamic axis and cannot be an input of a node.",
                    ("dynamic-axis"),
                )
            if final and not elements(one.shape or ()):
                raise Misfit(f"the size of its input '{one.name}' cannot be inferred.", "size")

    def _check_size(self, node: Node) -> None:
        """Report a node without elements, unless it depends on unknown nodes."""
        if node.shape is None or elements(node.shape) or node.operation == "DynamicAxis":
            return
        if id(node) not in self.doubtful:
            reason = "none of its uses determines it"
            what = "parameter" if node.operation == PARAMETER else "node"
            self.troubles.append(Trouble(node, f"this {what} has no size: {reason}.", "size"))
        node.shape = None


def _is_sure_product(node: Node) -> bool:
    """Return whether a product has one shape whatever the open dimension of its first factor is."""
    if node.operation not in _PRODUCTS or any(map(is_open, node.inputs[1:])):
        return False
    left, right = node.inputs[0].shape or (), node.inputs[1].shape or ()
    if node.operation == "TransposeTimes":
        return len(left) == 2 and left[1] > 0 and len(right) == 1
    rank = node.integer("outputRank", 1)
    return 0 not in left[:rank] and len(left) == rank + len(right)


def _doubtful(nodes: list[Node]) -> set[int]:
    """Return the nodes that depend on unknown ones, and those without a size that might come from
    there.  The inputs of an unknown node are unknown, too.
    """
    if any(node.operation == OPAQUE for node in nodes):
        return set(map(id, nodes))
    users: dict[int, list[Node]] = {}
    for node in nodes:
        for one in node.inputs:
            users.setdefault(id(one), []).append(node)
    waiting = [node for node in nodes if node.shape is None or is_open(node)]
    found = set(map(id, waiting))
    while waiting:
        node = waiting.pop()
        unsized = [one for one in node.inputs if not elements(one.shape or ())]
        for one in (*users.get(id(node), ()), *unsized):
            if id(one) not in found:
                found.add(id(one))
                waiting.append(one)
    return found


def _state(node: Node) -> tuple[object, ...]:
    """Return the state that a rule may change: the node's, and that of the parameters it infers."""
    return (node.shape, node.axis, *(one.shape for one in node.inputs))
