"""Changes to attributes, blocks and sizes that keep the style of the text around them.

What to change is decided by rules; this knows how the text is laid out.
"""

from __future__ import annotations

from netsharp_lsp.netsharp.findings import Change, RelativeSpan
from netsharp_lsp.netsharp.meaning.values.evaluate import show
from netsharp_lsp.netsharp.reading.syntax import Tuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from netsharp_lsp.netsharp.meaning.model import Bundle, Layer
    from netsharp_lsp.netsharp.meaning.network import Network
    from netsharp_lsp.netsharp.meaning.values.evaluate import Value
    from netsharp_lsp.netsharp.reading.syntax import Attribute, Declaration

#: The order in which people give attributes: a new one comes after those before it.
ORDER = (
    "InputShape",
    "KernelShape",
    "Stride",
    "Padding",
    "LowerPad",
    "UpperPad",
    "Sharing",
    "MapCount",
    "Alpha",
    "Beta",
    "Offset",
    "AvgOverFullKernel",
    "Weights",
)


def added_attributes(
    bundle: Bundle, values: list[tuple[str, Value]], network: Network
) -> list[Change]:
    """Give a bundle with a block several more attributes; those at one place in one change."""
    changes: list[Change] = []
    for name, value in values:
        change = added_attribute(bundle, name, value, network)
        if changes and changes[-1].place.start == change.place.start:
            change = Change(change.place, changes.pop().text + change.text)
        changes.append(change)
    return changes


def added_attribute(bundle: Bundle, name: str, value: Value, network: Network) -> Change:
    """Give a bundle one more attribute, in the block's own style."""
    declaration, item = bundle.declaration, bundle.item
    text = f"{name} = {show(value)};"
    if item.block is None:
        return Change(RelativeSpan(declaration, item.kind_span[1], item.end), " { " + text + " }")
    if not item.attributes:
        opening = item.block[0] + 1
        return Change(RelativeSpan(declaration, opening, opening), f" {text}")
    before = [a for a in item.attributes if comes_before(a, name)]
    neighbour = before[-1] if before else item.attributes[0]
    lead = leading_blank(declaration, item.block[0], neighbour.start, network)
    if "\n" in lead:
        text = f"{name.ljust(aligned_width(item.attributes))} = {show(value)};"
    if not before:
        return Change(RelativeSpan.of(declaration, neighbour).before(), text + lead)
    end = neighbour.end
    if "\n" in lead:
        end += trailing_comment(declaration, end, item.block[1], network)
    return Change(RelativeSpan(declaration, end, end), lead + text)


def trailing_comment(declaration: Declaration, start: int, end: int, network: Network) -> int:
    """Return the length of a comment that ends the line, with the blank before it, or 0."""
    line = network.text(RelativeSpan(declaration, start, end)).partition("\n")[0].rstrip()
    return len(line.encode()) if line.lstrip().startswith("//") else 0


def aligned_width(attributes: tuple[Attribute, ...]) -> int:
    """Return the width to which names are padded so that all `=` align; 0 if none is."""
    gaps = {attribute.separator_span[0] - attribute.name.start for attribute in attributes}
    lengths = {attribute.name.end - attribute.name.start for attribute in attributes}
    return gaps.pop() - 1 if len(gaps) == 1 and len(lengths) > 1 else 0


def comes_before(attribute: Attribute, name: str) -> bool:
    """Return whether an attribute usually comes before the one named."""
    lowered = attribute.name.text.lower()
    places = {known.lower(): number for number, known in enumerate(ORDER)}
    return places.get(lowered, len(ORDER)) < ORDER.index(name)


def leading_blank(declaration: Declaration, start: int, end: int, network: Network) -> str:
    """Return the separator before an attribute: an indentation, or a space."""
    text = network.text(RelativeSpan(declaration, start, end))
    line_end = text.rfind("\n")
    if line_end < 0 or text[line_end:].strip():
        return " "
    if text[:line_end].endswith("\r"):
        line_end -= 1
    return text[line_end:]


def changed_entry(bundle: Bundle, name: str, dimension: int, value: Value) -> Change:
    """Replace one entry of a tuple; the whole value where it is not a plain tuple."""
    given = bundle.given[name]
    node = given.attribute.value
    place = bundle.entry_place(name, dimension)
    if isinstance(given.value, tuple) and not isinstance(node, Tuple):
        entries = list(given.value)
        entries[dimension] = value
        return Change(place, show(tuple(entries)))
    return Change(place, show(value))


def widened_tuple(bundle: Bundle, name: str, missing: int, filler: Value) -> Change:
    """Put ``missing`` entries before a tuple."""
    given = bundle.given[name]
    assert isinstance(given.value, tuple)
    node = given.attribute.value
    if isinstance(node, Tuple) and node.items:
        place = RelativeSpan.of(bundle.declaration, node.items[0]).before()
        return Change(place, f"{show(filler)}, " * missing)
    return Change(bundle.value_place(name), show((filler,) * missing + given.value))


def changed_tuple(bundle: Bundle, name: str, entries: tuple[Value, ...]) -> list[Change]:
    """Give a tuple other entries; those that stay equal keep their text."""
    given = bundle.given[name]
    node, old = given.attribute.value, given.value
    plain = isinstance(node, Tuple) and isinstance(old, tuple) and len(old) == len(entries)
    if not plain or not isinstance(old, tuple):
        return [Change(bundle.value_place(name), show(entries))]
    return [
        changed_entry(bundle, name, dimension, entry)
        for dimension, entry in enumerate(entries)
        if entry != old[dimension]
    ]


def resized(layer: Layer, shape: tuple[int, ...]) -> list[Change]:
    """Declare another size; dimensions that stay equal keep their text."""
    size, old = layer.item.size, layer.shape
    if not isinstance(size, Tuple) or old is None or len(old) != len(shape):
        lead = "" if layer.item.size is not None else " "
        return [Change(layer.size_place, lead + show(shape))]
    return [
        Change(RelativeSpan.of(layer.declaration, item), show(entry))
        for item, entry, before in zip(size.items, shape, old, strict=True)
        if entry != before
    ]
