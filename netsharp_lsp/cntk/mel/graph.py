"""The nodes of a model under edits: their connections, names and groups, and the resulting network.
Knows no text of MEL; edits have the effects of CNTK's own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from netsharp_lsp.cntk.ndl.forms import settle
from netsharp_lsp.cntk.networks.copying import copied
from netsharp_lsp.cntk.networks.inference import inferred
from netsharp_lsp.cntk.networks.node import GROUPS, Network, Node
from netsharp_lsp.cntk.networks.node_types import DELAYS, NODE_TYPES

if TYPE_CHECKING:
    from collections.abc import Iterable

    from netsharp_lsp.cntk.configuration.traced import Traced


class Missing(NamedTuple):
    """An input that is not connected: its node, its number from 0, and the edit that removed it."""

    node: Node
    number: int
    change: Traced | None


class EditedGraph:
    """The nodes of one model in order of creation.  `changes` are the last edits of nodes.

    Names differ by more than case: `of` returns None for other networks.
    """

    __slots__ = ("_inputs", "_next", "_users", "changes", "groups", "nodes")

    def __init__(self) -> None:
        #: By names in lower case.
        self.nodes: dict[str, Node] = {}
        self.groups: dict[str, list[Node]] = {group: [] for group in GROUPS}
        self.changes: dict[Node, Traced] = {}
        self._inputs: dict[Node, list[Node | None]] = {}
        self._users: dict[Node, dict[Node, None]] = {}
        self._next = 0

    @classmethod
    def of(cls, network: Network) -> EditedGraph | None:
        """Return the graph of a network, which shares nothing with it."""
        graph = cls()
        own = copied(network, lambda place: place)
        for node in own.nodes.values():
            graph.add(node, node.inputs)
        for group, nodes in own.groups.items():
            graph.groups[group] = list(nodes)
        return graph if len(graph.nodes) == len(network.nodes) else None

    def find(self, name: str) -> Node | None:
        """Find a node, whatever the case of its name."""
        return self.nodes.get(name.lower())

    def inputs(self, node: Node) -> list[Node | None]:
        """Return the inputs of a node; None for one that is not connected."""
        return self._inputs[node]

    def add(self, node: Node, inputs: Iterable[Node | None]) -> None:
        """Add a node under its own name, which no other has."""
        node.number = self._next
        self._next += 1
        self.nodes[node.name.lower()] = node
        self._users.setdefault(node, {})
        self._inputs[node] = []
        self.attach(node, inputs)

    def attach(self, node: Node, inputs: Iterable[Node | None]) -> None:
        """Connect a node with exactly these inputs."""
        for one in self._inputs[node]:
            self._disconnect(node, one)
        self._inputs[node] = list(inputs)
        for one in self._inputs[node]:
            if one is not None:
                self._users.setdefault(one, {})[node] = None

    def connect(self, node: Node, index: int, source: Node | None) -> None:
        """Connect one input of a node; missing ones before it stay unconnected."""
        inputs = self._inputs[node]
        inputs += [None] * (index + 1 - len(inputs))
        before, inputs[index] = inputs[index], source
        if before is not None and all(one is not before for one in inputs):
            self._disconnect(node, before)
        if source is not None:
            self._users.setdefault(source, {})[node] = None

    def _disconnect(self, node: Node, source: Node | None) -> None:
        if source is not None:
            self._users.get(source, {}).pop(node, None)

    def changed(self, nodes: Iterable[Node], change: Traced) -> None:
        """Record the edit that changed nodes last."""
        self.changes.update(dict.fromkeys(nodes, change))

    def remove(self, node: Node, change: Traced) -> bool:
        """Remove a node from its groups and from the first input of each user; return whether no
        other input of a node uses it, which would stay connected.
        """
        users = list(self._users.pop(node, {}))
        for user in users:
            if user is not node:
                inputs = self._inputs[user]
                inputs[inputs.index(node)] = None
                self.changes[user] = change
        alone = all(node not in self._inputs[user] for user in users if user is not node)
        for one in self._inputs.pop(node):
            self._disconnect(node, one)
        for group in self.groups.values():
            if node in group:
                group.remove(node)
        del self.nodes[node.name.lower()]
        self.changes.pop(node, None)
        return alone

    def rename(self, node: Node, name: str) -> None:
        """Rename a node to a name that no other one has."""
        del self.nodes[node.name.lower()]
        node.name = name
        self.nodes[name.lower()] = node

    def copy(self, node: Node, name: str) -> Node | None:
        """Copy the contents of a node of this or another graph to a name, in no group and with
        unchanged connections; None if another node has the name and another operation.
        """
        target = self.find(name)
        if target is None:
            target = Node(node.operation, 0, name)
            self.add(target, ())
        elif target.operation != node.operation:
            return None
        target.attributes = dict(node.attributes)
        target.shape, target.flaw, target.saved = node.shape, node.flaw, node.saved
        target.draw = node.draw
        return target

    def tag(self, node: Node, group: str, *, belongs: bool) -> None:
        """Add a node to a group or remove it."""
        nodes = self.groups[group]
        if belongs and node not in nodes:
            nodes.append(node)
            node.tags.append(group)
        elif not belongs and node in nodes:
            nodes.remove(node)
            node.tags = [tag for tag in node.tags if tag != group]

    def below(self, nodes: Iterable[Node]) -> list[Node]:
        """Return nodes with all nodes that they depend on."""
        seen = dict.fromkeys(nodes)
        waiting = list(seen)
        while waiting:
            for one in self._inputs[waiting.pop()]:
                if one is not None and one not in seen:
                    seen[one] = None
                    waiting.append(one)
        return list(seen)

    def in_order(self, node: Node) -> list[Node]:
        """Return a node after all nodes that it depends on, inputs first except in loops."""
        found: list[Node] = []
        seen = {node}
        path = [(node, iter(self._inputs[node]))]
        while path:
            deeper = next((one for one in path[-1][1] if one is not None and one not in seen), None)
            if deeper is None:
                found.append(path.pop()[0])
            else:
                seen.add(deeper)
                path.append((deeper, iter(self._inputs[deeper])))
        return found

    def missing(self) -> Missing | None:
        """Return the first input that is not connected."""
        for node, inputs in self._inputs.items():
            for index, one in enumerate(inputs):
                if one is None:
                    return Missing(node, index, self.changes.get(node))
        return None

    @property
    def is_whole(self) -> bool:
        """Return whether every node has as many inputs as it takes."""
        return all(
            NODE_TYPES[node.operation].fewest <= len(inputs) <= NODE_TYPES[node.operation].most
            for node, inputs in self._inputs.items()
        )

    def network(self) -> Network:
        """Infer everything again except the shapes of parameters, inputs and delays; the result
        shares nothing with the graph.
        """
        for node, inputs in self._inputs.items():
            node.inputs = tuple(one for one in inputs if one is not None)
            node.axis = node.loop = None
            if inputs and node.operation not in DELAYS:
                node.shape = ()
        nodes = {node.name: node for node in self._inputs}
        groups = {group: tuple(several) for group, several in self.groups.items()}
        network = inferred(Network(nodes, groups))
        for node in network.nodes.values():
            settle(node)
        return copied(network, lambda place: place)

    def cause(self, node: Node) -> Traced | None:
        """Return the last edit of a node, or of the nearest that it depends on."""
        waiting, seen = [node], {node}
        for one in waiting:
            if one in self.changes:
                return self.changes[one]
            for source in self._inputs.get(one, ()):
                if source is not None and source not in seen:
                    seen.add(source)
                    waiting.append(source)
        return None
