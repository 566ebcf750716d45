"""Rules on `;` and `=`: missing ones, superfluous ones, and marks of other languages."""

from __future__ import annotations

from netsharp_lsp.netsharp.findings import Change, Finding, RelativeSpan, Repair, Rests
from netsharp_lsp.netsharp.reading.expressions import attributes_of
from netsharp_lsp.netsharp.reading.gaps import Gaps
from netsharp_lsp.netsharp.reading.mistakes import is_misspelt_share, is_open_end, lacks_from
from netsharp_lsp.netsharp.reading.syntax import ConstantItem, LayerItem
from netsharp_lsp.netsharp.rules import DECLARATION, rule
from netsharp_lsp.netsharp.rules.syntax.brackets import bare_value
from netsharp_lsp.netsharp.rules.syntax.tuples import bracketless, bracketless_tuples
from netsharp_lsp.text.expressions import late

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from netsharp_lsp.netsharp.meaning.network import Network
    from netsharp_lsp.netsharp.reading.syntax import Declaration

TOKEN_BEFORE = late(r"(\w[\w.]*|[^\w\s])\s*\Z")
#: How far back the word before a missing `;` is looked for, in bytes.
REACH = 80


# NS011.


@rule("NS011", "error", on=DECLARATION, rests=Rests.TEXT)
def missing_semicolon(declaration: Declaration, network: Network) -> Iterator[Finding]:
    """Report a constant, layer, connection or attribute that ends without `;`."""
    doubts = network.doubts
    if not declaration.faults or doubts.explained(declaration) or is_misspelt_share(declaration):
        return
    gaps = Gaps(declaration)
    unfinished = unfinished_ends(declaration)
    for fault in gaps.missing:
        if fault.text != ";" or fault.start in unfinished:
            continue
        continued = declaration in doubts.debris.continued and is_open_end(declaration, fault)
        swallowed = doubts.may_hide(declaration, fault)
        if continued or swallowed or gaps.explained(fault):
            continue
        place = RelativeSpan(declaration, fault.start, fault.start)
        before = TOKEN_BEFORE.search(text_before(declaration, fault.start, network))
        after = f" after '{before[1]}'" if before else ""
        repair = Repair("Insert ';'", [Change(place, ";")], safe=True)
        yield Finding("NS011", place, f"Missing ';'{after}.", repair=repair)


def text_before(declaration: Declaration, end: int, network: Network) -> str:
    """Return the last bit of a declaration's text before an offset."""
    return network.specification.text(declaration, max(0, end - REACH), end)


def unfinished_ends(declaration: Declaration) -> set[int]:
    """Return where constructs end too early: a missing `;` is not the fault there."""
    ends = {attribute.end for attribute in attributes_of(declaration) if attribute.value is None}
    for item in declaration.items:
        constant = isinstance(item, ConstantItem) and item.value is None
        if constant or (isinstance(item, LayerItem) and stops_early(declaration, item)):
            ends.add(item.end)
    return ends


def stops_early(declaration: Declaration, item: LayerItem) -> bool:
    """Return whether a layer ends before its connections."""
    trained = declaration.kind in ("hidden", "output", "const")
    return trained and not item.bundles and item.body is None


# NS013.


@rule("NS013", "info", on=DECLARATION, rests=Rests.TEXT)
def needless_semicolon(declaration: Declaration, network: Network) -> Iterator[Finding]:
    """Report a `;` that ends nothing."""
    if network.doubts.explained(declaration):
        return
    text = network.specification.text
    ends = [end for _, end in bracketless_tuples(declaration, network)]
    for start, end in declaration.semicolons:
        if any(last <= start and not text(declaration, last, start).strip() for last in ends):
            continue
        if network.specification.text(declaration, start, end) == ";":
            place = RelativeSpan(declaration, start, end)
            repair = Repair("Delete the ';'", [Change(place, "")], safe=True)
            yield Finding("NS013", place, "This ';' is not needed.", repair=repair)


# NS022, NS023.


@rule("NS022", "error", on=DECLARATION, rests=Rests.TEXT)
def attribute_separator(declaration: Declaration, network: Network) -> Iterator[Finding]:
    """Report an attribute without `=`, or with `:` in its place."""
    if network.doubts.explained(declaration):
        return
    for attribute in attributes_of(declaration):
        if attribute.value is None or not attribute.separator.isascii():
            continue
        if lacks_from(attribute):
            place = RelativeSpan.of(declaration, attribute.name)
            repair = Repair("Insert 'from'", [Change(place.before(), "from ")], safe=True)
            message = f"Missing 'from' before '{attribute.name.text}'."
            yield Finding("NS018", place, message, repair=repair)
            continue
        separator = RelativeSpan(declaration, *attribute.separator_span)
        if attribute.separator != "=":
            glued = separator.start == attribute.name.end
            place = (
                separator if attribute.separator else RelativeSpan.of(declaration, attribute.name)
            )
            repair = Repair("Use '='", [Change(separator, " =" if glued else "=")], safe=True)
            message = f"Use '=' to give '{attribute.name.text}' a value."
            yield Finding("NS022", place, message, repair=repair)


@rule("NS023", "error", on=DECLARATION, rests=Rests.TEXT)
def attribute_terminator(declaration: Declaration, network: Network) -> Iterator[Finding]:
    """Report an attribute that ends with `,`."""
    if network.doubts.explained(declaration):
        return
    for attribute in attributes_of(declaration):
        bare = bare_value(declaration, attribute, network)
        if attribute.terminator == "," and not (
            bare or bracketless(declaration, attribute, network)
        ):
            place = RelativeSpan(declaration, *attribute.terminator_span)
            repair = Repair("Replace by ';'", [Change(place, ";")], safe=True)
            yield Finding("NS023", place, "Attributes end with ';', not ','.", repair=repair)
