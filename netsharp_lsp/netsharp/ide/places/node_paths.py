"""The node at an offset: the path from a declaration down to a name, and what the name is.

It reads syntax alone and costs one declaration; the meanings of names are resolved elsewhere.
"""

from __future__ import annotations

from bisect import bisect_right

from netsharp_lsp.netsharp.reading.syntax import (
    Attribute,
    Binary,
    BundleItem,
    Call,
    ConstantItem,
    Declaration,
    Index,
    Keyword,
    LayerItem,
    Name,
    Predicate,
    ShareItem,
    Tuple,
    Unary,
    WordItem,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Any

    from netsharp_lsp.netsharp.reading.specification import Specification
    from netsharp_lsp.netsharp.reading.syntax import Comment, Node

#: What a name can be, in words.
ROLES = {
    "activation": "an activation",
    "attribute": "an attribute",
    "constant": "a constant",
    "function": "a function",
    "keyword": "a keyword",
    "layer": "a layer",
    "parameter": "a parameter of a condition",
}


class NodePath:
    """The node at an offset.

    `path` leads from the declaration to the innermost node, both included, spans relative to
    `base`. `role` is a key of `ROLES`, or empty where the innermost node is not a name.
    """

    __slots__ = ("base", "declaration", "path")

    def __init__(self, declaration: Declaration, base: int, path: list[Node]) -> None:
        self.declaration = declaration
        self.base = base
        self.path = path

    @property
    def leaf(self) -> Node:
        """Return the innermost node."""
        return self.path[-1]

    @property
    def name(self) -> Name | None:
        """Return the innermost node if it is a name that is written, not one that is missing."""
        leaf = self.path[-1]
        return leaf if isinstance(leaf, Name) and leaf.end > leaf.start else None

    @property
    def role(self) -> str:
        """Return the role of the name."""
        name = self.name
        if name is None or len(self.path) < 2:
            return ""
        if isinstance(name, Keyword):
            return "keyword"
        holder = self.path[-2]
        found = _HOLDERS.get(type(holder), _value_role)(holder, name)
        return self._of_value(name) if found == "value" else found

    def _of_value(self, name: Name) -> str:
        predicate = self.holding(Predicate)
        if predicate is not None and name.text in parameters_of(predicate):
            return "parameter"
        return "constant"

    def holding(self, kind: type[Any]) -> Any:
        """Return the innermost node of a kind on the path, None without one."""
        return next((node for node in reversed(self.path) if isinstance(node, kind)), None)

    def span(self, node: Node) -> tuple[int, int]:
        """Return the absolute bytes of a node of this declaration."""
        return self.base + node.start, self.base + node.end


def parameters_of(predicate: Predicate) -> tuple[str, str]:
    """Return the names of a condition's two parameters, source first."""
    return predicate.source.text, predicate.destination.text


def node_path_at(specification: Specification, offset: int) -> NodePath | None:
    """Return the node at an offset; the end of a node still belongs to that node."""
    declaration = specification.declaration_at(offset)
    if declaration is None or specification.starts[declaration] + declaration.end < offset:
        return None
    base = specification.starts[declaration]
    return NodePath(declaration, base, path_to(declaration, offset - base))


def path_to(node: Node, offset: int) -> list[Node]:
    """Return the nodes around an offset of a declaration, the outermost first."""
    path = [node]
    while True:
        inner = child_at(children_of(path[-1]), offset)
        if inner is None:
            return path
        path.append(inner)


def child_at(children: Sequence[Node], offset: int) -> Node | None:
    """Return the child that contains an offset or ends there; children are in text order."""
    at = bisect_right(children, offset, key=_start_of) - 1
    for number in (at, at - 1):
        if number >= 0 and children[number].start <= offset <= children[number].end:
            return children[number]
    return None


def _start_of(node: Node) -> int:
    return node.start


def children_of(node: Node) -> Sequence[Node]:
    """Return the nodes right inside a node, in text order."""
    parts = _CHILDREN.get(type(node))
    return parts(node) if parts is not None else ()


def _of_declaration(node: Declaration) -> Sequence[Node]:
    return node.items if node.keyword is None else (node.keyword, *node.items)


def _of_layer(node: LayerItem) -> Sequence[Node]:
    return _ordered(node.name, node.size, node.activation, *node.bundles, *node.attributes)


def _of_bundle(node: BundleItem) -> Sequence[Node]:
    return _ordered(node.keyword, node.source, node.predicate, *node.attributes, node.misplaced)


def _ordered(*nodes: Node | None) -> Sequence[Node]:
    return sorted((node for node in nodes if node is not None), key=_start_of)


_CHILDREN: dict[type[Node], Callable[[Any], Sequence[Node]]] = {
    Declaration: _of_declaration,
    LayerItem: _of_layer,
    BundleItem: _of_bundle,
    ConstantItem: lambda node: _ordered(node.name, node.value),
    ShareItem: lambda node: _ordered(node.source, node.name),
    WordItem: lambda node: (node.word,),
    Predicate: lambda node: _ordered(node.source, node.destination, node.condition),
    Attribute: lambda node: _ordered(node.name, node.value),
    Tuple: lambda node: node.items,
    Unary: lambda node: (node.operand,),
    Binary: lambda node: (node.left, node.right),
    Call: lambda node: (node.function, *node.arguments),
    Index: lambda node: (node.target, node.position),
}


def _value_role(holder: Node, name: Name) -> str:
    return "value"


def _layer_role(holder: LayerItem, name: Name) -> str:
    if name is holder.name:
        return "layer"
    return "activation" if name is holder.activation else "value"


def _bundle_role(holder: BundleItem, name: Name) -> str:
    return "activation" if name is holder.misplaced else "layer"


def _predicate_role(holder: Predicate, name: Name) -> str:
    return "value" if name is holder.condition else "parameter"


#: What a name is to the node that holds it; a "value" is a constant or a parameter.
_HOLDERS: dict[type[Node], Callable[[Any, Name], str]] = {
    LayerItem: _layer_role,
    BundleItem: _bundle_role,
    Predicate: _predicate_role,
    ShareItem: lambda holder, name: "layer",
    Declaration: lambda holder, name: "keyword",
    WordItem: lambda holder, name: "",
    ConstantItem: lambda holder, name: "constant" if name is holder.name else "value",
    Attribute: lambda holder, name: "attribute" if name is holder.name else "value",
    Call: lambda holder, name: "function" if name is holder.function else "value",
}


def comment_at(specification: Specification, offset: int) -> Comment | None:
    """Return the comment that contains an offset; the end of a line comment counts, too."""
    found = specification.comments.around(offset)
    if found is None and offset > 0:
        found = specification.comments.around(offset - 1)
        if found is not None and found.kind in ("block", "html"):
            return None
    return found


def occurrences(specification: Specification, text: str, start: int = 0) -> Iterator[NodePath]:
    """Yield every occurrence of a name from `start` on, in text order.

    The bytes are searched first, so that a name costs no more than reading the text once.
    """
    wanted = text.encode()
    data = specification.data
    at = data.find(wanted, start)
    while at >= 0 and wanted:
        end = at + len(wanted)
        if not (_in_word(data[at - 1 : at]) or _in_word(data[end : end + 1])):
            node_path = node_path_at(specification, at)
            if node_path is not None and _is_there(node_path, at, text):
                yield node_path
        at = data.find(wanted, end)


def _in_word(byte: bytes) -> bool:
    return byte.isalnum() or byte == b"_"


def _is_there(node_path: NodePath, at: int, text: str) -> bool:
    name = node_path.name
    return name is not None and node_path.base + name.start == at and name.text == text
