"""Replaces every use of a constant by its value, and removes its declaration."""

from __future__ import annotations

from netsharp_lsp.ide.answers import Action
from netsharp_lsp.netsharp.ide.navigation.names import is_declaration
from netsharp_lsp.netsharp.ide.places.node_paths import occurrences, parameters_of
from netsharp_lsp.netsharp.ide.refactorings.site import LONGEST
from netsharp_lsp.netsharp.reading.expressions import names_in
from netsharp_lsp.netsharp.reading.syntax import (
    Attribute,
    Binary,
    Blob,
    ConstantItem,
    Index,
    Name,
    Predicate,
    Unary,
)
from netsharp_lsp.netsharp.repairs.restructuring import removed_item
from netsharp_lsp.text.edits import Edit

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from netsharp_lsp.netsharp.ide.places.node_paths import NodePath
    from netsharp_lsp.netsharp.ide.refactorings.site import Site
    from netsharp_lsp.netsharp.meaning.model import Constant
    from netsharp_lsp.netsharp.reading.syntax import Expression, Node

KIND = "refactor.inline.constant"
#: Longer values are inlined only if they are used once.
LONG = 200
#: How tightly operators bind, loosest first, as in C#; the guide gives examples only.
LEVELS = (("||",), ("&&",), ("==", "!="), ("<", "<=", ">", ">="), ("+", "-"), ("*", "/", "%"))
BINDING = {operator: level for level, operators in enumerate(LEVELS) for operator in operators}
UNARY, POWER, ATOM = len(LEVELS), len(LEVELS) + 1, len(LEVELS) + 2


def inlined_constants(site: Site) -> Iterator[Action]:
    """Yield the action that inlines the constant at a site in all its uses."""
    constant = _inlinable(site)
    value = None if constant is None else constant.item.value
    if constant is None or value is None:
        return
    uses = [found for found in _uses(site, constant) if not is_declaration(found)]
    text = site.text(*_span(site, constant, value))
    if not uses or (len(uses) > 1 and len(text) > LONG):
        return
    if any(use.declaration.faults or not _fits(use, value) for use in uses):
        return
    edits = [Edit(*use.span(use.leaf), _written(use, value, text)) for use in uses]
    removal = site.removal(removed_item(constant.declaration, constant.item))
    count = f"{len(uses)} uses" if len(uses) > 1 else "1 use"
    yield Action(f"Inline the constant '{constant.name}' ({count})", KIND, (removal, *edits))


def _inlinable(site: Site) -> Constant | None:
    """Return the constant named at a site, if it has a value that may be written elsewhere."""
    name = site.node_path.name
    if name is None or site.node_path.role != "constant":
        return None
    constant = site.network.constants.get(name.text)
    if constant is None or constant.value is None or constant.circular:
        return None
    item = constant.item
    if constant.declaration.faults or item.end - item.start > LONGEST:
        return None
    return constant if _is_single(site, constant) else None


def _uses(site: Site, constant: Constant) -> Iterator[NodePath]:
    for found in occurrences(site.network.specification, constant.name):
        if found.role == "constant":
            yield found


def _is_single(site: Site, constant: Constant) -> bool:
    """Return whether it is the only one of its name and no comment depends on its declaration."""
    start, end = _span(site, constant, constant.item)
    if site.has_comment(start, end) or site.is_silenced(start, end):
        return False
    if len(constant.declaration.items) == 1:
        base = site.network.specification.starts[constant.declaration]
        if site.has_comment(base, base + constant.declaration.end):
            return False
    declared = [found for found in _uses(site, constant) if is_declaration(found)]
    return len(declared) == 1


def _span(site: Site, constant: Constant, node: Node) -> tuple[int, int]:
    base = site.network.specification.starts[constant.declaration]
    return base + node.start, base + node.end


def _fits(use: NodePath, value: Expression) -> bool:
    """Return whether a value can replace a name and means the same there."""
    holder = use.path[-2]
    if isinstance(value, Blob) and not isinstance(holder, Attribute | ConstantItem):
        return False
    if isinstance(holder, Index) and use.leaf is holder.target and not isinstance(value, Name):
        return False
    predicate = use.holding(Predicate)
    own = parameters_of(predicate) if predicate is not None else ()
    return not any(name.text in own for name in names_in(value))


def _written(use: NodePath, value: Expression, text: str) -> str:
    """Return a value in the place of a name, in parentheses where precedence requires them."""
    holder, inner = use.path[-2], binding(value)
    loose = False
    if isinstance(holder, Unary):
        loose = inner <= UNARY
    elif isinstance(holder, Binary):
        outer, leans_right = binding(holder), holder.operator == "^"
        first = use.leaf is holder.left
        loose = inner < outer or (inner == outer and first == leans_right)
    return f"({text})" if loose else text


def binding(node: Expression) -> int:
    """Return the precedence of an expression."""
    if isinstance(node, Binary):
        return POWER if node.operator == "^" else BINDING.get(node.operator, 0)
    return UNARY if isinstance(node, Unary) else ATOM
