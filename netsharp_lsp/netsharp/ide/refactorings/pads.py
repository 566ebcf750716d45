"""`Padding` written as `LowerPad` and `UpperPad`, and back, where both place the same kernels."""

from __future__ import annotations

from netsharp_engine.geometry import Axis
from netsharp_lsp.ide.answers import Action
from netsharp_lsp.netsharp.findings import RelativeSpan
from netsharp_lsp.netsharp.meaning.inforce import is_valid
from netsharp_lsp.netsharp.meaning.values.evaluate import show
from netsharp_lsp.netsharp.repairs.restructuring import removed
from netsharp_lsp.netsharp.repairs.rewriting import leading_blank
from netsharp_lsp.text.edits import Edit

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from netsharp_lsp.netsharp.ide.refactorings.site import Site
    from netsharp_lsp.netsharp.meaning.model import Bundle
    from netsharp_lsp.netsharp.meaning.values.evaluate import Value
    from netsharp_lsp.netsharp.reading.syntax import Attribute

KIND = "refactor.rewrite.padding"
EXPLICIT = ("LowerPad", "UpperPad")


def rewritten_pads(site: Site) -> Iterator[Action]:
    """Yield the other form of the pads of the connection at a site."""
    bundle = site.bundle()
    if bundle is None or bundle.geometry is None or _is_shared(site, bundle):
        return
    given = [bundle.given[name].attribute for name in EXPLICIT if name in bundle.given]
    if "Padding" in bundle.given:
        attribute = bundle.given["Padding"].attribute
        pads = [explicit(axis) for axis in bundle.geometry.axes]
        known = [pad for pad in pads if pad is not None]
        if len(known) == len(pads) and not _commented(site, (attribute,)):
            edits = _spelt_out(site, bundle, attribute, known)
            yield Action("Write the padding as LowerPad and UpperPad", KIND, edits)
    elif given and not _commented(site, given):
        automatic = [padded(axis) for axis in bundle.geometry.axes]
        if None not in automatic:
            words = tuple(bool(word) for word in automatic)
            edits = _summed_up(site, bundle, given, words)
            yield Action("Write the pads as Padding", KIND, edits)


def explicit(axis: Axis) -> tuple[int, int] | None:
    """Return lower and upper pads that place the kernels as an axis does; None where none do."""
    if not axis.padding:
        return 0, 0
    lower = -axis.first
    upper = axis.covered - axis.size - lower
    if lower < 0 or upper < 0:
        return None
    other = Axis(axis.size, axis.kernel, axis.stride, lower=lower, upper=upper)
    return (lower, upper) if is_valid(other) and _alike(axis, other) else None


def padded(axis: Axis) -> bool | None:
    """Return the `Padding` that places the kernels as explicit pads do; None if neither does."""
    if not (axis.lower or axis.upper):
        return False
    other = Axis(axis.size, axis.kernel, axis.stride, padding=True)
    return True if _alike(axis, other) else None


def _alike(axis: Axis, other: Axis) -> bool:
    return (axis.first, axis.count) == (other.first, other.count)


def _is_shared(site: Site, bundle: Bundle) -> bool:
    """Return whether others share its weights: they would have to be rewritten with it."""
    entries = (entry for share in site.network.shares for entry in share.entries)
    return any(entry.bundle is bundle for entry in entries)


def _commented(site: Site, attributes: tuple[Attribute, ...] | list[Attribute]) -> bool:
    return any(site.has_comment(*site.span(attribute)) for attribute in attributes)


def _spelt_out(
    site: Site, bundle: Bundle, attribute: Attribute, pads: list[tuple[int, int]]
) -> tuple[Edit, ...]:
    """Return two attributes in the place of one, separated as others in this block."""
    assert bundle.item.block is not None
    before = [a for a in bundle.item.attributes if a.start < attribute.start]
    opening = before[-1].end if before else bundle.item.block[0] + 1
    apart = leading_blank(bundle.declaration, opening, attribute.start, site.network)
    lines = [
        _attribute(site, attribute, name, tuple(pad[number] for pad in pads))
        for number, name in enumerate(EXPLICIT)
    ]
    return (Edit(*site.span(attribute), apart.join(lines)),)


def _summed_up(
    site: Site, bundle: Bundle, given: list[Attribute], words: tuple[bool, ...]
) -> tuple[Edit, ...]:
    first, *rest = given
    text = _attribute(site, first, "Padding", words)
    edits = [Edit(*site.span(first), text)]
    for attribute in rest:
        cut = removed(bundle.declaration, attribute.start, attribute.end)
        edits.append(site.edit(cut))
    return tuple(edits)


def _attribute(site: Site, model: Attribute, name: str, value: Value) -> str:
    """Return an attribute written like another; names are padded where `=` are in a column."""
    gap = site.network.text(RelativeSpan(site.declaration, model.name.end, model.separator_span[0]))
    width = len(model.name.text) + len(gap)
    head = f"{name.ljust(width)}" if len(gap) > 1 and len(name) < width else f"{name}{gap[:1]}"
    following = site.network.text(
        RelativeSpan(site.declaration, model.separator_span[1], model.separator_span[1] + 1)
    )
    space = " " if following.isspace() else ""
    return f"{head}={space}{show(value)};"
