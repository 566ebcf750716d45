"""The rule on tuples: in round brackets, in curly ones, or in none."""

from __future__ import annotations

from netsharp_lsp.netsharp.findings import Change, Finding, RelativeSpan, Repair, Rests
from netsharp_lsp.netsharp.reading.expressions import attributes_of, expressions_of, operands
from netsharp_lsp.netsharp.reading.gaps import Gaps
from netsharp_lsp.netsharp.reading.syntax import LayerItem, Name, Number, Tuple
from netsharp_lsp.netsharp.rules import DECLARATION, rule
from netsharp_lsp.text.expressions import late

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from netsharp_lsp.netsharp.meaning.network import Network
    from netsharp_lsp.netsharp.reading.syntax import Attribute, Declaration, Item

#: What follows the first value of a tuple without brackets: `2, 2;`.
BARE_VALUES = late(r"\s*+[\w.]++(?:\s*+,\s*+[\w.]++)*+(?=\s*+;)")
#: What a tuple in curly brackets may hold: `{28, 28}`.
PLAIN_SIZE = late(r"\{[\w\s,.*+/^-]*\}\Z")


def bare_sizes(declaration: Declaration) -> Iterator[Tuple]:
    """Yield sizes without an opening bracket; in a group of constants they are not sizes."""
    if declaration.kind != "const":
        yield from unopened(declaration)


def unopened(declaration: Declaration) -> Iterator[Tuple]:
    """Yield all tuples parsed as sizes without an opening bracket."""
    for item in declaration.items:
        if isinstance(item, LayerItem) and isinstance(item.size, Tuple) and not item.size.bracket:
            yield item.size


def unread(declaration: Declaration, size: Tuple) -> bool:
    """Return whether unparsed text, or a missing `)`, makes a tuple's extent doubtful."""
    return any(
        size.start - 1 <= fault.end and fault.start <= size.end
        for fault in declaration.faults
        if fault.kind == "unexpected" or (fault.text == ")" and fault.kind == "missing")
    )


def curly_size(item: Item, declaration: Declaration, network: Network) -> tuple[int, int] | None:
    """Return the span of a size in curly brackets: `input Image {28, 28};`."""
    if not isinstance(item, LayerItem) or item.size is not None or item.body is None:
        return None
    plain = PLAIN_SIZE.match(network.specification.text(declaration, *item.body))
    empty = item.bundles or item.attributes or not network.doubts.touches(declaration, *item.body)
    return None if empty or not plain else item.body


def bracketless(
    declaration: Declaration, attribute: Attribute, network: Network
) -> tuple[int, int] | None:
    """Return the span of a tuple without brackets: `Stride = 2, 2;`."""
    if attribute.terminator != "," or not isinstance(attribute.value, Number | Name):
        return None
    rest = network.specification.text(declaration, attribute.end, declaration.end)
    found = BARE_VALUES.match(rest)
    return None if found is None else (attribute.value.start, attribute.end + len(found[0]))


def bracketless_tuples(declaration: Declaration, network: Network) -> list[tuple[int, int]]:
    """Return the spans of all tuples of a declaration without brackets."""
    if not any(fault.kind == "unexpected" for fault in declaration.faults):
        return []
    found = (bracketless(declaration, a, network) for a in attributes_of(declaration))
    return [span for span in found if span is not None]


@rule("NS021", "error", on=DECLARATION, rests=Rests.TEXT)
def tuple_brackets(declaration: Declaration, network: Network) -> Iterator[Finding]:
    """Report a tuple in round or curly brackets, or in none."""
    if network.doubts.explained(declaration):
        return
    spans = []
    base = network.specification.starts[declaration]
    if network.specification.data.find(b"(", base, base + declaration.end) >= 0:
        spans += [
            (node.start, node.end)
            for node in operands(expressions_of(declaration))
            if isinstance(node, Tuple) and node.bracket == "(" and not unread(declaration, node)
        ]
    for item in declaration.items:
        curly = curly_size(item, declaration, network)
        if curly is not None:
            spans.append(curly)
    spans += bracketless_tuples(declaration, network)
    if declaration in network.doubts.debris.curly:
        start, end = network.doubts.debris.curly[declaration]
        spans.append((start - base, end - base))
    for start, end in spans:
        place = RelativeSpan(declaration, start, end)
        text = network.specification.text(declaration, start, end)
        repair = None
        if text.endswith((")", "}")):
            changes = [
                Change(RelativeSpan(declaration, start, start + 1), "["),
                Change(RelativeSpan(declaration, end - 1, end), "]"),
            ]
            repair = Repair("Replace by square brackets", changes, safe=True)
        elif text[0].isalnum():
            changes = [Change(place.before(), "["), Change(place.after(), "]")]
            repair = Repair("Put it in square brackets", changes, safe=True)
        yield Finding("NS021", place, "Tuples use square brackets.", repair=repair)
    if not declaration.faults:
        return
    gaps = Gaps(declaration)
    for size in bare_sizes(declaration):
        if not gaps.closes(size) and not unread(declaration, size):
            start = size.items[0].start if size.items else size.start
            place = RelativeSpan(declaration, start, size.end)
            changes = [Change(place.before(), "["), Change(place.after(), "]")]
            repair = Repair("Put it in square brackets", changes, safe=True)
            yield Finding("NS021", place, "A size is written in square brackets.", repair=repair)
