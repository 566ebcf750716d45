"""Rules on section keywords and names: unknown ones, odd case, keywords as names, groups."""

from __future__ import annotations

import re

from netsharp_engine.activations import NAMES
from netsharp_lsp.netsharp.findings import Change, Finding, RelativeSpan, Repair, Rests
from netsharp_lsp.netsharp.reading.mistakes import KEYWORDS, SECTION_WORDS, lacking, section_meant
from netsharp_lsp.netsharp.reading.syntax import BundleItem, ConstantItem, LayerItem, Name, WordItem
from netsharp_lsp.netsharp.rules import DECLARATION, NAMED, NETWORK, rule
from netsharp_lsp.text.expressions import late

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from netsharp_lsp.netsharp.meaning.model import Constant, Layer
    from netsharp_lsp.netsharp.meaning.network import Network
    from netsharp_lsp.netsharp.reading.syntax import Declaration, Item

#: A section's keyword directly before an item that was parsed apart from it, and the most bytes
#: between.
SECTION_BEFORE = late(rb"\b(?:const|input|hidden|output)\s*\Z", re.IGNORECASE)
REACH = 64

TEMPLATE = """input Data auto;
hidden H [100] from Data all;
output Result auto from H all;
"""


@rule("NS010", "error", on=NETWORK, rests=Rests.TEXT)
def foreign_text(network: Network, _: Network) -> Iterator[Finding]:
    """Report a text of which nothing is Net#."""
    if network.doubts.foreign:
        first = network.specification.declarations[0]
        word = network.specification.text(first, 0, first.end).split()[0]
        place = RelativeSpan(first, 0, len(word.encode("utf-8")))
        message = f"{expected(word)} This does not look like a Net# specification."
        yield Finding("NS010", place, message)


@rule("NS010", "error", on=DECLARATION, rests=Rests.TEXT)
def unknown_declaration(declaration: Declaration, network: Network) -> Iterator[Finding]:
    """Report a declaration that starts with none of the five keywords."""
    doubts = network.doubts
    if declaration.kind not in ("unknown", "orphan") or doubts.explained(declaration):
        return
    finding: Finding | None = None
    if declaration.kind == "orphan":
        if declaration.items and declaration not in doubts.debris.interrupting:
            finding = orphan(declaration, declaration.items[0], network)
    elif declaration.keyword is not None and not doubts.marked(declaration, declaration.keyword):
        finding = misspelt(declaration, declaration.keyword)
    if finding is not None:
        yield finding


def expected(word: str) -> str:
    """Return the sentence of this rule."""
    sentence = f"Expected const, input, hidden, output or share; found '{word}'."
    has = lacking(word)
    return f"{sentence} {has}" if has else sentence


def misspelt(declaration: Declaration, keyword: Name) -> Finding:
    """Return the finding for a word in place of a section keyword."""
    place = RelativeSpan.of(declaration, keyword)
    hint = section_meant(keyword.text)
    message = expected(keyword.text)
    if hint is None:
        return Finding("NS010", place, message)
    repair = Repair(f"Replace by '{hint}'", [Change(place, hint)], safe=True)
    return Finding("NS010", place, f"{message} Did you mean '{hint}'?", repair=repair)


def orphan(declaration: Declaration, item: Item, network: Network) -> Finding | None:
    """Return the finding for an item without a keyword, unless unparsed text explains it."""
    if network.doubts.touches(declaration, 0, 0):
        return None
    if isinstance(item, BundleItem):
        message = f"{expected('from')} A connection belongs to the layer that it leads to."
        return Finding("NS010", RelativeSpan.of(declaration, item.keyword), message)
    if isinstance(item, WordItem):
        if item.word.text.lower() in NAMES:
            return None
        return Finding("NS010", RelativeSpan.of(declaration, item.word), expected(item.word.text))
    name = item.name
    place = RelativeSpan.of(declaration, name)
    if name.text in KEYWORDS:
        return renamed(network, name.text, [place])
    keyword = "const" if isinstance(item, ConstantItem) else "hidden"
    if isinstance(item, LayerItem) and not item.bundles and item.body is None:
        keyword = "input"
    start = network.specification.starts[declaration]
    led = SECTION_BEFORE.search(network.specification.data[max(0, start - REACH) : start])
    change = Change(place.before(), f"{keyword} ")
    repair = Repair(f"Write '{keyword} {name.text}'", [change], safe=False) if not led else None
    return Finding("NS010", place, expected(name.text), repair=repair)


@rule("NS014", "info", on=DECLARATION, rests=Rests.TEXT)
def odd_case(declaration: Declaration, network: Network) -> Iterator[Finding]:
    """Report a keyword with capitals."""
    if network.doubts.foreign:
        return
    words: list[Name] = [word for word in declaration.keywords if not word.text.islower()]
    for item in declaration.items:
        if isinstance(item, LayerItem) and item.activation is not None:
            text = item.activation.text
            if text not in NAMES and text.lower() in NAMES:
                words.append(item.activation)
    for word in words:
        place = RelativeSpan.of(declaration, word)
        lower = word.text.lower()
        message = f"Keyword '{word.text}' is normally written '{lower}'."
        repair = Repair(f"Write '{lower}'", [Change(place, lower)], safe=True)
        yield Finding("NS014", place, message, repair=repair)


@rule("NS015", "error", on=NAMED, rests=Rests.TEXT)
def keyword_as_name(named: Constant | Layer, network: Network) -> Iterator[Finding]:
    """Report a constant or layer spelt like a keyword; the fix renames its uses too."""
    if named.name not in KEYWORDS:
        return
    declaration, name = named.declaration, named.item.name
    explained = network.doubts.explained(declaration) or declaration.kind == "orphan"
    if not explained and not network.doubts.touches(declaration, name.start - 1, name.end):
        places = [named.place, *(RelativeSpan.of(*use) for use in network.uses_of(named))]
        yield renamed(network, named.name, places)


def renamed(network: Network, name: str, places: list[RelativeSpan]) -> Finding:
    """Return the finding for a keyword that is used as a name at some places."""
    network.depend_on_all_names()
    number = 1
    while f"{name}{number}" in network.layers or f"{name}{number}" in network.constants:
        number += 1
    changes = [Change(place, f"{name}{number}") for place in places]
    repair = Repair(f"Rename to '{name}{number}'", changes, safe=True)
    message = f"'{name}' is a keyword and cannot be a name."
    return Finding("NS015", places[0], message, repair=repair)


@rule("NS024", "warning", on=DECLARATION, rests=Rests.TEXT)
def empty_group(declaration: Declaration, network: Network) -> Iterator[Finding]:
    """Report a group that declares nothing."""
    if declaration.group is None or declaration.items or declaration.faults:
        return
    if declaration.kind in SECTION_WORDS and declaration.kind != "share":
        start, end = declaration.group
        if not network.doubts.touches(declaration, start, end):
            whole = RelativeSpan(declaration, 0, declaration.end)
            repair = Repair("Delete the group", [Change(whole, "")], safe=True)
            message = f"Empty group: this '{declaration.kind}' declares nothing."
            yield Finding("NS024", RelativeSpan(declaration, start, end), message, repair=repair)


@rule("NS028", "error", on=NETWORK, rests=Rests.TEXT)
def empty_specification(network: Network, _: Network) -> Iterator[Finding]:
    """Report a text without any declaration."""
    specification = network.specification
    silent = specification.declarations or network.doubts.broken
    if silent or any(one.kind in ("hash", "html") for one in specification.comments.odd()):
        return
    end = len(specification.data)
    template = TEMPLATE
    if specification.data.strip() and not specification.data.endswith((b"\n", b"\r")):
        template = f"\n{TEMPLATE}"
    insert = Change(RelativeSpan(None, end, end), template)
    repair = Repair("Insert a small network", [insert], safe=False)
    message = "The specification is empty: it needs at least an input and an output layer."
    yield Finding("NS028", RelativeSpan(None, 0, 0), message, repair=repair)
