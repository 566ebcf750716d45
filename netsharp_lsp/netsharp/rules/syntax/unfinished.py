"""Rules on unfinished constructs, items in the wrong group, and arrows of other languages."""

from __future__ import annotations

from netsharp_lsp.netsharp.findings import Change, Finding, RelativeSpan, Repair, Rests
from netsharp_lsp.netsharp.reading.syntax import ConstantItem, LayerItem, Name, ShareItem, Tuple
from netsharp_lsp.netsharp.rules import DECLARATION, rule

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from netsharp_lsp.netsharp.meaning.network import Network
    from netsharp_lsp.netsharp.reading.syntax import Declaration


@rule("NS026", "error", on=DECLARATION, rests=Rests.TEXT)
def wrong_group(declaration: Declaration, network: Network) -> Iterator[Finding]:
    """Report a layer among constants, or a constant among layers."""
    if declaration.group is None or network.doubts.explained(declaration):
        return
    for item in declaration.items:
        if not isinstance(item, LayerItem | ConstantItem):
            continue
        keyword, name = declaration.kind, item.name.text
        place = RelativeSpan.of(declaration, item.name)
        if keyword == "const" and isinstance(item, LayerItem):
            if isinstance(item.size, Tuple) and not item.size.bracket:
                change = Change(place.after(), " =")
                repair = Repair("Use '='", [change], safe=True)
                message = f"Use '=' to give '{name}' a value."
                yield Finding("NS022", place, message, repair=repair)
            elif item.size is None and not item.bundles and item.body is None:
                message = f"Constant '{name}' has no value; write {name} = value;"
                yield Finding("NS022", place, message)
            else:
                message = f"'{name}' is not allowed here: 'const {{ }}' holds constants only."
                yield Finding("NS026", place, message)
        elif isinstance(item, ConstantItem) and keyword in ("input", "hidden", "output"):
            message = f"'{name}' is not allowed here: constants belong in 'const {{ }}'."
            yield Finding("NS026", place, message)


# What was begun and not finished.

BARE = {
    "const": ("NS022", "'const' needs a name and a value: const Name = value;"),
    "share": ("NS012", "'share' needs braces: share { A, B }"),
    "input": ("NS027", "'input' needs a name and a size: input Name [n];"),
    "hidden": ("NS027", "'hidden' needs a name, a size and 'from': hidden Name [n] from ..."),
    "output": ("NS027", "'output' needs a name, a size and 'from': output Name [n] from ..."),
}
INCOMPLETE = {
    "constant": ("NS022", "Constant '{text}' has no value; write {text} = value;"),
    "attribute": ("NS022", "'{text}' has no value; write {text} = value;"),
    "source": ("NS018", "A layer's name and a kind must follow '{text}': from Name all;"),
    "filter": ("NS012", "This filter is incomplete: where (source, destination) => condition"),
    "operand": ("NS012", "A value is missing after '{text}'."),
}


@rule("NS026", "error", on=DECLARATION, rests=Rests.TEXT)
def incomplete(declaration: Declaration, network: Network) -> Iterator[Finding]:
    """Report a construct that ends before it is complete."""
    doubts = network.doubts
    if not declaration.faults or doubts.explained(declaration):
        return
    for fault in declaration.faults:
        if fault.kind == "incomplete" and not doubts.marked(declaration, fault):
            code, sentence = INCOMPLETE.get(fault.text) or BARE.get(declaration.kind, ("", ""))
            text = network.specification.text(declaration, fault.start, fault.end)
            bare = fault.text == "declaration" and declaration in doubts.debris.continued
            if code and not bare:
                place = RelativeSpan.of(declaration, fault)
                yield Finding(code, place, sentence.replace("{text}", text))


# Marks that the parser understands and Net# does not have.


@rule("NS026", "error", on=DECLARATION, rests=Rests.TEXT)
def thin_arrow(declaration: Declaration, network: Network) -> Iterator[Finding]:
    """Report `->` in place of `=>`, and `;` between the items of a share."""
    if network.doubts.foreign:
        return
    for start, end in arrows(declaration):
        text = network.specification.text(declaration, start, end)
        if "->" in text:
            at = start + len(text[: text.index("->")].encode("utf-8"))
            place = RelativeSpan(declaration, at, at + 2)
            repair = Repair("Replace by '=>'", [Change(place, "=>")], safe=True)
            yield Finding("NS026", place, "'->' is not allowed here; write '=>'.", repair=repair)
    items = declaration.items
    bare = any(fault.text == "{" for fault in declaration.faults)
    for fault in declaration.faults:
        if fault.kind == "separator" and not bare:
            place = RelativeSpan.of(declaration, fault)
            last = not items or fault.start > items[-1].start
            change = Change(place, "" if last else ",")
            repair = Repair("Delete it" if last else "Use ','", [change], safe=True)
            message = "';' is not allowed here: the items of a share are separated by commas."
            yield Finding("NS026", place, message, repair=repair)


def arrows(declaration: Declaration) -> Iterator[tuple[int, int]]:
    """Yield the gaps that contain an arrow."""
    for item in declaration.items:
        if isinstance(item, ShareItem) and item.source is not None:
            yield item.source.end, item.name.start
        elif isinstance(item, LayerItem):
            for bundle in item.bundles:
                if bundle.predicate is not None and isinstance(bundle.predicate.source, Name):
                    predicate = bundle.predicate
                    yield predicate.destination.end, predicate.condition.start
