"""Builds a network from the record of its definition: special nodes, roots, names, groups.  Knows
no syntax.
"""

from __future__ import annotations

from collections import deque

from netsharp_lsp.cntk.brainscript.evaluation.attributes import flattened
from netsharp_lsp.cntk.brainscript.evaluation.values import Absent, Built, Failure
from netsharp_lsp.cntk.networks.faults import BuildingFault, Place
from netsharp_lsp.cntk.networks.inference import inferred
from netsharp_lsp.cntk.networks.node import GROUPS, OLD_TAGS, Network, Node
from netsharp_lsp.cntk.networks.node_types import DELAYS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from netsharp_lsp.cntk.brainscript.evaluation.evaluator import Evaluator
    from netsharp_lsp.cntk.brainscript.evaluation.values import Record, Thunk, Value

#: Members of a network that define its groups.
SPECIAL = {f"{group}Nodes": group for group in GROUPS}


def build_network(run: Evaluator, scope: Record, path: str, place: Place) -> Value:
    """Return the network of a record.  Every member is evaluated; one that fails is omitted."""
    building = NetworkBuilding(run, place)
    for name in sorted(scope.members):
        if name in SPECIAL:
            building.add_group(SPECIAL[name], scope.members[name])
    for name in sorted(scope.members):
        value = building.value(scope.members[name])
        if isinstance(value, Node):
            if name not in SPECIAL:
                value.name = name
            if not isinstance(value, Absent) or value.inputs:
                building.roots.append(value)
    building.collect({})
    return building.built()


class NetworkBuilding:
    """A network that is collected from its roots; `place` is where it is built."""

    def __init__(self, run: Evaluator, place: Place) -> None:
        self.run = run
        self.place = place
        self.roots: deque[Node] = deque()
        self.nodes: dict[str, Node] = {}
        self.groups: dict[str, list[Node]] = {group: [] for group in GROUPS}

    def value(self, thunk: Thunk) -> Value:
        """Return the value of a member, or None after recording its fault."""
        try:
            return thunk.force()
        except Failure as failure:
            self.run.note(failure.fault)
            return None

    def add_group(self, group: str, thunk: Thunk) -> None:
        """Tag the nodes of a special member, which are roots."""
        self.roots.extend(self.tag(group, thunk))

    def tag(self, group: str, thunk: Thunk) -> list[Node]:
        """Tag the nodes of a special member."""
        tagged: list[Node] = []
        try:
            for value, place in flattened(self.run, thunk.force(), thunk.place):
                if not isinstance(value, Node):
                    self.run.expected("ComputationNode", value, place)
                value.tags.append(group)
                tagged.append(value)
        except Failure as failure:
            self.run.note(failure.fault)
        return tagged

    def collect(self, replaced: Mapping[Node, Node]) -> None:
        """Add all nodes that the roots depend on, level by level, with the replacements of replaced
        ones.
        """
        while self.roots:
            node = self.roots.popleft()
            if not self._add(node):
                continue
            if node.late is not None:
                late, node.late = node.late, None
                self._attach(node, late)
            for tag in node.tags:
                group = self.groups.get(OLD_TAGS.get(tag, tag))
                if group is not None and node not in group:
                    group.append(node)
            if replaced:
                node.inputs = tuple(replaced.get(one, one) for one in node.inputs)
            self.roots.extend(node.inputs)

    def _attach(self, node: Node, late: object) -> None:
        """Set the inputs of a delay; without them its shape is unknown."""
        try:
            node.inputs = late() if callable(late) else ()
        except Failure as failure:
            fault = failure.fault
            self.run.note(fault._replace(calls=(Place(*node.where), *fault.calls)))
            node.inputs, node.shape = (), None

    def _add(self, node: Node) -> bool:
        """Enter a node under its name, made unique; return False if it is already there."""
        node.name = node.name or f"_{node.operation}"
        while (other := self.nodes.get(node.name)) is not None and other is not node:
            self._check_name(node, other)
            node.name = f"_{node.name}"
        if other is node:
            return False
        self.nodes[node.name] = node
        return True

    def _check_name(self, node: Node, other: Node) -> None:
        """Report a saved node that has the name of another one, unless CNTK makes it unique."""
        own = [one for one in (node, other) if one.saved is None]
        if len(own) == 2 or any(mark in node.name for mark in ".[]"):
            return
        place = Place(*own[0].where) if own else self.place
        message = f"the network has two nodes named '{node.name}'"
        which = ", and one of them is taken from another network" if own else ""
        self.run.note(BuildingFault("double-name", f"{message}{which}.", place))

    def built(self) -> Built:
        """Return the network of the collected nodes, in order of creation."""
        ordered = sorted(self.nodes.values(), key=lambda node: node.number)
        groups = {group: tuple(nodes) for group, nodes in self.groups.items()}
        for node in ordered:
            if node.saved is not None:
                _reopen(node)
        return Built(inferred(Network({node.name: node for node in ordered}, groups)))


def _reopen(node: Node) -> None:
    """Reset what inference determines for a node that is taken from another network."""
    node.axis = node.loop = None
    if node.shape is not None and node.inputs and node.operation not in DELAYS:
        node.shape = ()
