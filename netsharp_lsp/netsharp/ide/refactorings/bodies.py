"""A layer's only connection put into a body of braces, and taken out of it again."""

from __future__ import annotations

from netsharp_lsp.ide.answers import Action
from netsharp_lsp.netsharp.ide.refactorings.site import LONGEST, moved_lines
from netsharp_lsp.netsharp.reading.syntax import Attribute, LayerItem, Predicate
from netsharp_lsp.text.edits import Edit

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from netsharp_lsp.netsharp.ide.refactorings.site import Site

KIND = "refactor.rewrite.body"
UNIT = "  "


def rewritten_bodies(site: Site) -> Iterator[Action]:
    """Yield the action that adds braces around the one connection of a layer, or removes them."""
    item = site.holding(LayerItem)
    inside = site.holding(Attribute) or site.holding(Predicate)
    if item is None or inside is not None or len(item.bundles) != 1 or item.attributes:
        return
    if site.is_silenced(*site.span(item)) or item.end - item.start > LONGEST:
        return
    edit = _braced(site, item) if item.body is None else _bare(site, item)
    if edit is not None:
        title = "Put the connection into braces" if item.body is None else "Drop the braces"
        yield Action(title, KIND, (edit,))


def _braced(site: Site, item: LayerItem) -> Edit:
    """Return `from A all;` on a line of its own between braces."""
    start, end = site.span(item.bundles[0])
    line_end = site.network.specification.line_end
    outer = site.indent_of(site.span(item)[0])
    inner = outer + UNIT
    written = site.indent_of(start) if site.begins_line(start) else outer
    bundle = moved_lines(site.text(start, end), written, inner)
    body = f"{{{line_end}{inner}{bundle}{line_end}{outer}}}"
    if not site.begins_line(start):
        return Edit(start, end, body)
    # A connection on a line of its own gives the line up; what ends the head stays above.
    head = len(site.data[:start].rstrip(b" \t\r\n"))
    if site.has_comment(site.span(item)[0], start):
        return Edit(site.line_start(start), end, outer + body)
    return Edit(head, end, f" {body}")


def _bare(site: Site, item: LayerItem) -> Edit | None:
    """Return the content of the braces; None where that is not the connection alone."""
    assert item.body is not None
    base = site.node_path.base
    opening, closing = base + item.body[0], base + item.body[1]
    start, end = site.span(item.bundles[0])
    around = site.data[opening + 1 : start] + site.data[end : closing - 1]
    if around.strip(b" \t\r\n"):
        return None
    outer = site.indent_of(site.span(item)[0])
    written = site.indent_of(start) if site.begins_line(start) else outer
    bundle = moved_lines(site.text(start, end), written, outer)
    head = len(site.data[:opening].rstrip(b" \t\r\n"))
    if site.has_comment(site.span(item)[0], opening):
        return Edit(opening, closing, bundle)
    return Edit(head, closing, f" {bundle}")
