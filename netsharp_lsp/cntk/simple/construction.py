"""Creates nodes as CNTK's own builder functions do: names, initializations, groups.  Knows no kind
of network.

Unnamed nodes are numbered in the order of their creation.
"""

from __future__ import annotations

import math

from netsharp_lsp.cntk.networks.inference import inferred
from netsharp_lsp.cntk.networks.node import GROUPS, PARAMETER, Network, Node

TYPE_CHECKING = False
if TYPE_CHECKING:
    from netsharp_lsp.cntk.networks.node import Attribute, Where
    from netsharp_lsp.cntk.simple.settings import SimpleSettings

#: Attributes that no option changes.
_FIXED: dict[str, dict[str, Attribute]] = {"Times": {"outputRank": 1, "inferInputRankToMap": -1}}


class Unbuildable(Exception):  # noqa: N818
    """CNTK stops while it builds such a network; the outcome has the reason."""


class Construction:
    """A network under construction.  All its nodes are at one place, that of the builder."""

    def __init__(self, settings: SimpleSettings, where: Where) -> None:
        self.settings = settings
        self._where = where
        self._nodes: list[Node] = []
        self._nameless = 0
        self._groups: dict[str, list[Node]] = {group: [] for group in GROUPS}

    def network(self) -> Network:
        """Return the network with shapes; raise Unbuildable if two nodes have one name."""
        nodes = {node.name: node for node in self._nodes}
        if len(nodes) < len(self._nodes):
            raise Unbuildable("two of its nodes would have the same name")
        groups = {group: tuple(found) for group, found in self._groups.items()}
        return inferred(Network(nodes, groups))

    def node(self, operation: str, *inputs: Node | None, name: str = "") -> Node:
        """Create a node; raise Unbuildable if an input is missing."""
        given = tuple(one for one in inputs if one is not None)
        if len(given) < len(inputs):
            raise Unbuildable(f"an input of its {operation} is never created")
        node = self._enter(operation, name)
        node.inputs = given
        node.attributes.update(_FIXED.get(operation, {}))
        return node

    def input(self, name: str, size: int | None, sparse: bool = False) -> Node:
        """Create an input of a size."""
        node = self._enter("SparseInputValue" if sparse else "InputValue", name)
        node.attributes["dynamicAxis"] = ""
        self._declare(node, size)
        return node

    def weights(self, name: str, rows: int | None, columns: int | None) -> Node:
        """Create a parameter with random initial values."""
        node = self._parameter(name, rows, columns)
        node.attributes.update(
            init="uniform" if self.settings.uniform else "gaussian",
            randomSeed=-1,
            initValueScale=self.settings.scale,
            initFilterRank=0,
            initOutputRank=1,
            initOnCPUOnly=False,
        )
        return node

    def constant(self, name: str, rows: int | None, columns: int | None, value: float) -> Node:
        """Create a parameter with one initial value."""
        node = self._parameter(name, rows, columns)
        node.attributes.update(init="fromValue", initValue=value)
        return node

    def delay(self, size: int | None, steps: int = 1, name: str = "") -> Node:
        """Create a delay by some steps; its input is attached later."""
        node = self._enter("PastValue", name)
        node.shape = None if size is None else (size,)
        node.attributes.update(
            defaultHiddenActivation=self.settings.activity,
            timeStep=steps,
        )
        return node

    def dropped(self, node: Node, name: str = "") -> Node:
        """Return a node with dropout after it, if that is configured."""
        return self.node("Dropout", node, name=name) if self.settings.dropout else node

    def activated(self, node: Node, layer: int, name: str = "") -> Node:
        """Apply the activation of a layer to a node; a linear layer only names the node."""
        function = self.settings.function(layer)
        if function:
            return self.node(function, node, name=name)
        if name:
            node.name = name
        return node

    def tag(self, group: str, node: Node) -> None:
        """Add a node to a group."""
        if node not in self._groups[group]:
            self._groups[group].append(node)
            node.tags.append(group)

    def _parameter(self, name: str, rows: int | None, columns: int | None) -> Node:
        node = self._enter(PARAMETER, name)
        node.attributes["learningRateMultiplier"] = 1.0
        self._declare(node, rows, columns)
        return node

    def _declare(self, node: Node, *sizes: int | None) -> None:
        known = tuple(size for size in sizes if size is not None)
        node.shape = known if len(known) == len(sizes) else None
        if node.shape is not None:
            node.attributes["shape"] = node.shape

    def _enter(self, operation: str, name: str) -> Node:
        if not name:
            name = f"AutoName{self._nameless}"
            self._nameless += 1
        node = Node(operation, len(self._nodes), name)
        node.where = self._where
        self._nodes.append(node)
        return node


def times(size: int | None, factor: int) -> int | None:
    """Return a multiple of a size."""
    return None if size is None else size * factor


def minus_log(size: int | None) -> float:
    """Return the initial bias of noise-contrastive estimation."""
    return -math.log(size) if size else 0.0
