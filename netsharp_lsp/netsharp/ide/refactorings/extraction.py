"""A number or an expression given a name: a constant declared before, used in its place."""

from __future__ import annotations

from netsharp_lsp.ide.answers import Action
from netsharp_lsp.netsharp.ide.places.node_paths import parameters_of
from netsharp_lsp.netsharp.ide.refactorings.site import LONGEST
from netsharp_lsp.netsharp.ide.rename import name_fault
from netsharp_lsp.netsharp.reading.expressions import names_in, operands
from netsharp_lsp.netsharp.reading.syntax import (
    Attribute,
    Binary,
    Boolean,
    Broken,
    Call,
    ConstantItem,
    Index,
    LayerItem,
    Number,
    Numbers,
    Placeholder,
    Predicate,
    ShareItem,
    Tuple,
    Unary,
)
from netsharp_lsp.text.edits import Edit

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from netsharp_lsp.netsharp.ide.refactorings.site import Site
    from netsharp_lsp.netsharp.reading.syntax import Declaration, Expression

KIND = "refactor.extract.constant"
#: The prefix where the layer's name cannot be part of a constant's.
FALLBACK = "Value"
#: What can be a constant's value; a name has one already.
VALUES = (Number, Boolean, Unary, Binary, Call, Index, Tuple, Numbers)
BLANKS = b" \t\r\n"
#: What comes before parentheses around a part of an expression, and not a call's arguments.
BEFORE_PARENTHESES = [*map(bytes, zip(b"=([,+-*/%^<>!&|"))]
#: How far back that is looked for.
REACH = 64
#: More characters of an expression are not shown in a title.
SHOWN = 24


def extracted_constants(site: Site) -> Iterator[Action]:
    """Yield the selected expression, or the innermost and the outermost around the cursor."""
    if site.holding(ShareItem) is not None:
        return
    for node in _candidates(site):
        if not _may_move(site, node):
            continue
        wanted = _name_for(site, node)
        name = site.free_name(FALLBACK if name_fault(wanted) else wanted)
        start, end = _with_parentheses(site, *site.span(node))
        value = site.text(*site.span(node))
        at, prefix, suffix = _place(site)
        declared = Edit(at, at, f"{prefix}{name} = {value};{suffix}")
        rename_at = at + len(prefix.encode())
        shown = value if len(value) <= SHOWN else f"{value[:SHOWN]}..."
        title = f"Extract '{' '.join(shown.split())}' into a constant '{name}'"
        yield Action(title, KIND, (declared, Edit(start, end, name)), rename_at=rename_at)


def _candidates(site: Site) -> list[Expression]:
    path: list[Expression] = [node for node in site.node_path.path if isinstance(node, VALUES)]
    if site.end > site.start:
        return [node for node in path if _is_selected(site, node)][-1:]
    return list(dict.fromkeys((*path[-1:], *path[:1]))) if path else []


def _is_selected(site: Site, node: Expression) -> bool:
    chosen = site.data[site.start : site.end]
    start = site.end - len(chosen.lstrip(BLANKS))
    end = site.start + len(chosen.rstrip(BLANKS))
    span = site.span(node)
    return (start, end) in (span, _with_parentheses(site, *span))


def _with_parentheses(site: Site, start: int, end: int) -> tuple[int, int]:
    """Return the span with a pair of parentheses right around it, which a name does not need."""
    data = site.data
    if data[start - 1 : start] != b"(" or data[end : end + 1] != b")":
        return start, end
    before = data[max(0, start - REACH) : start - 1].rstrip(BLANKS)[-1:]
    return (start - 1, end + 1) if before in BEFORE_PARENTHESES else (start, end)


def _may_move(site: Site, node: Expression) -> bool:
    """Return whether an expression means the same outside: no parameter of a condition, no size."""
    layer, predicate = site.holding(LayerItem), site.holding(Predicate)
    if (layer is not None and node is layer.size) or node.end - node.start > LONGEST:
        return False
    if _is_plain(site, node) or (isinstance(node, Tuple) and node.bracket != "["):
        return False
    own = parameters_of(predicate) if predicate is not None else ()
    inside = list(operands((node,)))
    if any(isinstance(part, Broken | Placeholder) for part in inside):
        return False
    return not any(name.text in own for name in names_in(node))


def _is_plain(site: Site, node: Expression) -> bool:
    """Return whether it needs no name: it has one, or is the index of an entry of a tuple."""
    holder = site.node_path.path[site.node_path.path.index(node) - 1]
    position = isinstance(holder, Index) and node is holder.position
    return position or isinstance(holder, ConstantItem)


def _name_for(site: Site, node: Expression) -> str:
    """Return a name by the use of the value: `ConvStride`, `ImageSize`, `WidthPart`."""
    attribute, layer = site.holding(Attribute), site.holding(LayerItem)
    constant, predicate = site.holding(ConstantItem), site.holding(Predicate)
    if constant is not None:
        return f"{constant.name.text}Part"
    owner = "" if layer is None else layer.name.text
    if attribute is not None:
        return f"{owner}{attribute.name.text}"
    return f"{owner}Limit" if predicate is not None else f"{owner}Size"


def _place(site: Site) -> tuple[int, str, str]:
    """Return where a constant is declared, with the text before it and after it there.

    It comes after the last constants declared above, in their style; else before the declaration.
    """
    item = site.holding(ConstantItem)
    line_end = site.network.specification.line_end
    base = site.node_path.base
    if item is not None and site.declaration.group is not None:
        start = site.span(item)[0]
        apart = line_end + site.indent_of(start) if site.begins_line(start) else " "
        return start, "", apart
    above = _constants_above(site) if item is None else None
    if above is None:
        at, apart = site.above(base)
        return at, "const ", apart
    start = site.network.specification.starts[above]
    last = above.items[-1]
    if above.group is not None:
        return *_line_after(site, start + last.start, start + last.end), ""
    at, apart = _line_after(site, start, start + above.end)
    return at, f"{apart}const ", ""


def _constants_above(site: Site) -> Declaration | None:
    """Return the last declaration of constants above the site, if there is one without faults."""
    found = None
    for declaration in site.network.specification.declarations:
        if declaration is site.declaration:
            break
        if declaration.kind == "const" and declaration.items and not declaration.faults:
            found = declaration
    return found


def _line_after(site: Site, start: int, end: int) -> tuple[int, str]:
    """Return where text is inserted after a span, and the blanks between the two.

    It has a line of its own if the span has one, and is below a comment that ends the line.
    """
    line = site.data.find(b"\n", end)
    rest = site.data[end : line if line >= 0 else len(site.data)].rstrip()
    commented = rest.lstrip().startswith(b"//")
    if commented or site.begins_line(start):
        apart = site.network.specification.line_end + site.indent_of(start)
        return end + (len(rest) if commented else 0), apart
    return end, " "
