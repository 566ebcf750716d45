"""Recurrent loops: nodes that depend on one another through delays.  Knows no node types."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from netsharp_lsp.cntk.networks.node import Node


def find_loops(nodes: Iterable[Node]) -> tuple[tuple[Node, ...], ...]:
    """Return the strongly connected components that contain a cycle, in order of creation."""
    ordered = sorted(nodes, key=lambda node: node.number)
    parts = _Components().of(ordered)
    found = [part for part in parts if len(part) > 1 or _circles(part[0])]
    loops = [tuple(sorted(part, key=lambda node: node.number)) for part in found]
    return tuple(sorted(loops, key=lambda loop: loop[0].number))


def _circles(node: Node) -> bool:
    return any(one is node for one in node.inputs)


class _Components:
    """Tarjan's strongly connected components, with a stack of its own."""

    def __init__(self) -> None:
        self.parts: list[list[Node]] = []
        self.index: dict[int, int] = {}
        self.lowest: dict[int, int] = {}
        self.open: list[Node] = []
        self.opened: set[int] = set()

    def of(self, nodes: list[Node]) -> list[list[Node]]:
        """Return the components of a graph."""
        for node in nodes:
            if id(node) not in self.index:
                self._walk(node)
        return self.parts

    def _walk(self, root: Node) -> None:
        path = [(root, iter(root.inputs))]
        self._enter(root)
        while path:
            node, inputs = path[-1]
            deeper = next((one for one in inputs if self._unseen(node, one)), None)
            if deeper is not None:
                self._enter(deeper)
                path.append((deeper, iter(deeper.inputs)))
                continue
            path.pop()
            if path:
                parent = id(path[-1][0])
                self.lowest[parent] = min(self.lowest[parent], self.lowest[id(node)])
            if self.lowest[id(node)] == self.index[id(node)]:
                self._close(node)

    def _unseen(self, node: Node, one: Node) -> bool:
        """Return whether an input was not visited; for one on the path, record that the node
        reaches it.
        """
        if id(one) not in self.index:
            return True
        if id(one) in self.opened:
            self.lowest[id(node)] = min(self.lowest[id(node)], self.index[id(one)])
        return False

    def _enter(self, node: Node) -> None:
        self.index[id(node)] = self.lowest[id(node)] = len(self.index)
        self.open.append(node)
        self.opened.add(id(node))

    def _close(self, node: Node) -> None:
        part: list[Node] = []
        while not part or part[-1] is not node:
            part.append(self.open.pop())
            self.opened.discard(id(part[-1]))
        self.parts.append(part)
