"""Copies of networks, which callers may modify; knows none of its callers."""

from __future__ import annotations

from netsharp_lsp.cntk.networks.faults import Place
from netsharp_lsp.cntk.networks.node import Axis, Calling, Network, Node

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable


def copied(network: Network, outside: Callable[[Place], Place]) -> Network:
    """Return an equal network that shares no node, axis or attribute with this one, with the places
    that `outside` maps its places to.
    """
    copying = _Copying(outside)
    nodes = {name: copying.node(one) for name, one in network.nodes.items()}
    groups = {group: copying.nodes(several) for group, several in network.groups.items()}
    loops = tuple(copying.nodes(loop) for loop in network.loops)
    troubles = tuple(one._replace(node=copying.node(one.node)) for one in network.troubles)
    copying.join()
    return Network(nodes, groups, loops, troubles)


def loaded_from(network: Network, path: str) -> Network:
    """Return an equal network whose parameters have the values stored in a file."""
    own = copied(network, lambda place: place)
    for name, node in own.nodes.items():
        node.saved = (path, name)
    return own


class _Copying:
    """The nodes, axes and calls copied so far."""

    __slots__ = ("_axes", "_calls", "_outside", "_twins", "_waiting")

    def __init__(self, outside: Callable[[Place], Place]) -> None:
        self._outside = outside
        self._twins: dict[Node, Node] = {}
        self._axes: dict[Axis, Axis] = {}
        self._calls: dict[Calling, Calling] = {}
        self._waiting: list[Node] = []

    def nodes(self, several: Iterable[Node]) -> tuple[Node, ...]:
        """Return the copies of nodes."""
        return tuple(map(self.node, several))

    def node(self, one: Node) -> Node:
        """Return the copy of a node; its inputs are set by `join`."""
        twin = self._twins.get(one)
        if twin is None:
            twin = self._twins[one] = Node(one.operation, one.number, one.name)
            self._waiting.append(one)
            twin.attributes = dict(one.attributes)
            twin.tags = list(one.tags)
            twin.shape, twin.loop = one.shape, one.loop
            twin.where = self._outside(Place(*one.where))
            twin.late, twin.flaw, twin.saved = one.late, one.flaw, one.saved
            twin.draw = one.draw
            twin.call = self._call(one.call)
            twin.axis = self._axis(one.axis)
        return twin

    def join(self) -> None:
        """Set the inputs of all copies, copying those not met before."""
        while self._waiting:
            one = self._waiting.pop()
            self._twins[one].inputs = self.nodes(one.inputs)

    def _call(self, call: Calling | None) -> Calling | None:
        if call is None:
            return None
        if call not in self._calls:
            where = self._outside(Place(*call.where))
            twin = Calling(call.function, call.variable, where, self._call(call.parent))
            self._calls[call] = twin
        return self._calls[call]

    def _axis(self, axis: Axis | None) -> Axis | None:
        if axis is None:
            return None
        if axis not in self._axes:
            self._axes[axis] = Axis(axis.name)
        return self._axes[axis]
