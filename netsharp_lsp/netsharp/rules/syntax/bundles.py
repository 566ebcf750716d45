"""Rules on the words of a connection: its kind and the contents of its block."""

from __future__ import annotations

from netsharp_lsp.diagnostics.nearest import nearest
from netsharp_lsp.netsharp.findings import Change, Finding, RelativeSpan, Repair, Rests
from netsharp_lsp.netsharp.reading.mistakes import lacking
from netsharp_lsp.netsharp.reading.syntax import FIRST_KIND_WORDS, KINDS
from netsharp_lsp.netsharp.rules import BUNDLE, rule
from netsharp_lsp.netsharp.rules.syntax.layers import activation_attribute, is_activation, kind_end

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from netsharp_lsp.netsharp.meaning.model import Bundle
    from netsharp_lsp.netsharp.meaning.network import Network

#: Names of our kinds in other frameworks and in haste; letters only, lower case.
KIND_ALIASES = {
    "maxpool": "max pool",
    "maxpooling": "max pool",
    "maxpools": "max pool",
    "pool": "max pool",
    "pooling": "max pool",
    "max": "max pool",
    "meanpool": "mean pool",
    "meanpooling": "mean pool",
    "averagepool": "mean pool",
    "averagepooling": "mean pool",
    "avgpool": "mean pool",
    "avg": "mean pool",
    "average": "mean pool",
    "mean": "mean pool",
    "responsenorm": "response norm",
    "responsenormalization": "response norm",
    "response": "response norm",
    "norm": "response norm",
    "rnorm": "response norm",
    "lrn": "response norm",
    "localresponsenorm": "response norm",
    "conv": "convolve",
    "convd": "convolve",
    "convolution": "convolve",
    "convolutional": "convolve",
    "convolved": "convolve",
    "dense": "all",
    "fully": "all",
    "full": "all",
    "fullyconnected": "all",
    "every": "all",
    "alle": "all",
    "filter": "where",
    "filtered": "where",
    "when": "where",
    "if": "where",
}
#: Words that mean several kinds; the first of these is a guess.
SEVERAL_KINDS = frozenset(("pool", "pooling", "norm"))
NEAR = (*KINDS, "maxpool", "meanpool", "responsenorm", "convolution")


def kind_meant(word: str) -> str | None:
    """Return the connection kind that a word means, None where none is close."""
    letters = "".join(letter for letter in word.lower() if letter.isalpha())
    found = KIND_ALIASES.get(letters)
    if found is None:
        near = nearest(word, NEAR)
        found = KIND_ALIASES.get(near, near) if near else None
    return found


@rule("NS019", "error", on=BUNDLE, rests=Rests.TEXT)
def unknown_kind(bundle: Bundle, network: Network) -> Iterator[Finding]:
    """Report a connection whose kind is missing or misspelt."""
    item = bundle.item
    doubts = network.doubts
    if bundle.kind is not None or doubts.explained(bundle.declaration):
        return
    end = item.misplaced.end if item.misplaced is not None else item.kind_span[1]
    if not item.source.text or doubts.touches(bundle.declaration, item.start, end + 1):
        return
    if item.source.text == "from" and bundle.source is None:
        change = Change(RelativeSpan(bundle.declaration, item.keyword.end, item.source.end), "")
        repair = Repair("Delete one 'from'", [change], safe=True)
        message = "'from' is written twice."
        yield Finding("NS026", bundle.source_place, message, repair=repair)
    elif item.source.text in FIRST_KIND_WORDS and bundle.source is None:
        message = f"A layer's name must follow 'from'; found '{item.source.text}'."
        yield Finding("NS018", bundle.source_place, message)
    elif not item.kind_text:
        yield missing_kind(bundle)
    elif not is_activation(item.kind_text):
        yield misspelt_kind(bundle)


def missing_kind(bundle: Bundle) -> Finding:
    """Return the finding for `from A;`."""
    kind = "all" if bundle.item.block is None else "convolve"
    message = (
        f"The connection from '{bundle.source_name}' needs a kind: all, where, convolve, "
        "max pool, mean pool or response norm."
    )
    insert = Change(bundle.source_place.after(), f" {kind}")
    repair = Repair(f"Add '{kind}'", [insert], safe=kind == "all")
    return Finding("NS019", bundle.source_place, message, repair=repair)


def misspelt_kind(bundle: Bundle) -> Finding:
    """Return the finding for `from A maxpool { ... }`."""
    item = bundle.item
    start, end = item.kind_span
    text = item.kind_text
    extra = item.misplaced
    if extra is not None and not is_activation(extra.text):
        end = extra.end
        text = f"{text} {extra.text}"
    place = RelativeSpan(bundle.declaration, start, end)
    meant = kind_meant(item.kind_text)
    message = f"Unknown connection kind '{text}'."
    if meant is None:
        has = lacking(item.kind_text) or f"Net# has {', '.join(KINDS)}."
        return Finding("NS019", place, f"{message} {has}")
    whole = meant == "all" or item.block is not None
    clear = whole and item.kind_text.lower() not in SEVERAL_KINDS
    repair = Repair(f"Replace by '{meant}'", [Change(place, meant)], safe=clear)
    return Finding("NS019", place, f"{message} Did you mean '{meant}'?", repair=repair)


@rule("NS026", "error", on=BUNDLE, rests=Rests.TEXT)
def word_too_many(bundle: Bundle, network: Network) -> Iterator[Finding]:
    """Report `from A all all;`: a word after a whole connection."""
    extra = bundle.item.misplaced
    if extra is None or bundle.kind is None or is_activation(extra.text):
        return
    if network.doubts.touches(bundle.declaration, bundle.item.start, extra.end):
        return
    place = RelativeSpan.of(bundle.declaration, extra)
    rest = RelativeSpan(bundle.declaration, kind_end(bundle.item), extra.end)
    has = lacking(extra.text)
    repair = Repair(f"Delete '{extra.text}'", [Change(rest, "")], safe=has is None)
    message = f"'{extra.text}' is not allowed here: the connection ends before it."
    message = f"'{extra.text}' is not allowed here. {has}" if has else message
    yield Finding("NS026", place, message, repair=repair)


@rule("NS020", "error", on=BUNDLE, rests=Rests.TEXT)
def attribute_of_all(bundle: Bundle, network: Network) -> Iterator[Finding]:
    """Report an attribute other than Weights on a full connection."""
    if bundle.kind != "all" or bundle.item.block is None or network.doubts.foreign:
        return
    attributes = bundle.item.attributes
    for attribute in attributes:
        name = attribute.name.text
        if name.lower() == "weights" or activation_attribute(attribute) is not None:
            continue
        if network.doubts.touches(bundle.declaration, attribute.start, attribute.name.end):
            continue
        removal = Change(RelativeSpan.of(bundle.declaration, attribute), "")
        if len(attributes) == 1:
            end = bundle.item.block[1]
            removal = Change(RelativeSpan(bundle.declaration, bundle.item.kind_span[1], end), ";")
        repair = Repair(f"Delete '{name}'", [removal], safe=False)
        message = f"'all' takes no attribute '{name}': it connects every node with every node."
        if has := lacking(name):
            message = f"'all' takes no attribute '{name}'. {has}"
        place = RelativeSpan.of(bundle.declaration, attribute.name)
        yield Finding("NS020", place, message, repair=repair)
