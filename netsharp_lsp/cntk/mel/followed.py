"""The network of one model under the edits of a text of MEL: as it was loaded until it is changed,
then a graph that edits and statements of NDL modify.  Checks nothing.
"""

from __future__ import annotations

from netsharp_lsp.cntk.mel.graph import EditedGraph
from netsharp_lsp.cntk.ndl.evaluation import Additions
from netsharp_lsp.limits import EDITED_NODES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from netsharp_lsp.cntk.configuration.traced import Traced
    from netsharp_lsp.cntk.mel.graph import Missing
    from netsharp_lsp.cntk.ndl.evaluation import Part
    from netsharp_lsp.cntk.ndl.syntax import NdlScript
    from netsharp_lsp.cntk.networks.node import Network, Node, Shape
    from netsharp_lsp.cntk.networks.starting import Measure


class Allowance:
    """The number of nodes that one text may still have copied and inferred."""

    __slots__ = ("_left",)

    def __init__(self) -> None:
        self._left = EDITED_NODES.most

    def allows(self, nodes: int) -> bool:
        """Subtract a number of nodes; return whether the allowance covers them."""
        self._left -= nodes
        return self._left >= 0


class Followed:
    """The network of one model; `macros` are those of NDL, None if some are unknown."""

    __slots__ = ("_additions", "_graph", "_macros", "_measure", "_network", "_work")

    def __init__(
        self,
        network: Network | None,
        macros: Sequence[Part] | None,
        measure: Measure,
        work: Allowance,
    ) -> None:
        self._network = network
        self._macros = macros
        self._measure = measure
        self._work = work
        self._graph: EditedGraph | None = None
        self._additions: Additions | None = None

    def forget(self) -> None:
        """Make the network unknown."""
        self._network = self._graph = self._additions = None

    @property
    def graph(self) -> EditedGraph | None:
        """Return the graph that edits modify; None if the network is unknown."""
        if self._graph is None and self._network is not None:
            if self._work.allows(len(self._network.nodes)):
                self._graph = EditedGraph.of(self._network)
            self._network = None
        return self._graph

    def shape_of(self, name: str) -> Shape:
        """Return the shape of a node before the current edit; None if it is unknown."""
        if self._graph is not None:
            node = self._graph.find(name)
        else:
            node = None if self._network is None else self._network.nodes.get(name)
        return None if node is None else node.shape

    def joined(self) -> EditedGraph | None:
        """Return the graph with every statement of NDL connected."""
        graph, additions = self.graph, self._additions
        if graph is None or additions is None:
            return graph
        for node in additions.join():
            if node.name.lower() in graph.nodes:
                graph.attach(node, node.inputs)
        if not additions.is_sound or not graph.groups["feature"]:
            self.forget()
        return self._graph

    def nodes(self, names: Iterable[str] | None) -> list[Node] | None:
        """Find nodes by their names; an unknown name makes the network unknown."""
        graph = self.graph
        if graph is None or names is None:
            self.forget()
            return None
        found = []
        for name in names:
            node = graph.find(name)
            if node is None and self._additions is not None:
                node = self._additions.find(name)
            if node is None or node.name.lower() not in graph.nodes:
                self.forget()
                return None
            found.append(node)
        return found

    def read(self, script: NdlScript, change: Traced) -> list[Node]:
        """Add statements of NDL; return the nodes that they create."""
        graph = self.graph
        if graph is None or self._macros is None:
            self.forget()
            return []
        if self._additions is None:
            self._additions = Additions(self._macros, graph.find, graph.groups, self._measure)
        made = self._additions.read(script)
        if not self._additions.is_sound:
            self.forget()
        for node in made:
            graph.add(node, ())
        graph.changed(made, change)
        return made

    def finished(self) -> Network | Missing | None:
        """Return the network as it is written, or an unconnected input, or None if it is
        unknown.
        """
        if self._network is not None:
            return self._network
        graph = self.joined()
        if graph is None or not self._work.allows(len(graph.nodes)):
            self.forget()
            return None
        missing = graph.missing()
        if missing is not None:
            return missing
        if not graph.is_whole:
            self.forget()
            return None
        return graph.network()

    def cause(self, node: Node) -> Traced | None:
        """Return the last edit of a node that was written, or of the nearest node that it depends
        on.
        """
        own = None if self._graph is None else self._graph.find(node.name)
        return None if self._graph is None or own is None else self._graph.cause(own)
