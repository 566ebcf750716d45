"""The outline of a text: blocks and keys, the members of networks, macros and nodes of NDL."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from netsharp_lsp.cntk.brainscript.reading import syntax as brainscript
from netsharp_lsp.cntk.configuration.meaning.tree import network_sections
from netsharp_lsp.cntk.ide.meanings.words import SPECIAL
from netsharp_lsp.cntk.ide.places.sections import KEYS
from netsharp_lsp.cntk.ide.places.text import EditedText, glued_macros
from netsharp_lsp.cntk.reading.syntax import (
    Assignment,
    Block,
    BuilderText,
    ConfigurationCall,
    Macro,
    String,
    Text,
)
from netsharp_lsp.ide.answers import OutlinePart, Symbol

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from netsharp_lsp.cntk.ide.places.edited import Edited
    from netsharp_lsp.cntk.ide.places.stretches import Stretch
    from netsharp_lsp.cntk.ide.places.text import GluedMacro, Island
    from netsharp_lsp.cntk.reading.syntax import Node, Record
    from netsharp_lsp.ide.answers import Range, SymbolKind

#: More characters of a value are cut off.
WIDTH = 40
#: The block whose sections are networks wherever it occurs.
_BUILDER = "ndlnetworkbuilder"
#: Blocks nested more deeply are not listed: an outline that deep is not useful.
DEEPEST = 12


class Meant(NamedTuple):
    """The meaning that runs give to a configuration: the names at its top level of sections that
    are networks, and of commands, in lower case.
    """

    networks: frozenset[str] = frozenset()
    commands: frozenset[str] = frozenset()


def symbols_of(edited: Edited) -> list[Symbol]:
    """Return the outline in the order of the text."""
    return _symbols(edited.text, _meant(edited))


def outline_of(edited: Edited) -> Sequence[tuple[int, OutlinePart]]:
    """Return the same in parts, of which those that an edit did not touch are kept."""
    meant, pieces = _meant(edited), edited.text.pieces

    def part(stretch: Stretch, low: int, high: int) -> tuple[Meant, OutlinePart]:
        text = EditedText.of_stretch(edited.language, stretch)
        symbols = _symbols(text, meant, (low, high))
        return meant, OutlinePart(high - low, tuple(_moved(one, -low) for one in symbols))

    found = None
    if pieces is not None:
        found = pieces.kept("outline", part, lambda known: known[0] == meant)
    if found is None:
        return [(0, OutlinePart(len(edited.data), tuple(_symbols(edited.text, meant))))]
    return [(start, one) for start, (_, one) in found]


def _meant(edited: Edited) -> Meant:
    if edited.language != "cntk":
        return Meant()
    root = edited.main.configuration.root
    return Meant(
        frozenset(name.decode("utf-8", "replace") for name in network_sections(root)),
        frozenset(command.name.lower() for command in edited.main.commands),
    )


def _symbols(text: EditedText, meant: Meant, part: Range | None = None) -> list[Symbol]:
    """Return the symbols of a text, or of those that begin in a part of it."""
    outline = _Outline(text, meant)
    if text.document is None:
        island = text.islands[0]
        entries = island.script.entries
        if part is not None:
            entries = tuple(one for one in entries if part[0] <= one.place.start < part[1])
        return outline.members(island, entries, 0)
    found = outline.records(text.document.records, 0, network=text.language != "cntk")
    return [one for one in found if part is None or part[0] <= one.start < part[1]]


def _moved(symbol: Symbol, by: int) -> Symbol:
    start, end = symbol.start + by, symbol.end + by
    name = symbol.name_start + by, symbol.name_end + by
    inner = tuple(_moved(one, by) for one in symbol.children)
    return Symbol(symbol.name, symbol.detail, symbol.kind, start, end, *name, inner)


class _Outline:
    """A builder of the symbols of one text."""

    def __init__(self, text: EditedText, meant: Meant) -> None:
        self.text = text
        self.islands = {island.start: island for island in text.islands}
        self.networks = meant.networks
        self.commands = meant.commands

    def records(self, records: Iterable[Record], depth: int, *, network: bool) -> list[Symbol]:
        """Return the symbols of records; in a `network` they are nodes."""
        listed = tuple(records)
        found = [self._record(record, depth, network) for record in listed]
        if network:
            found += [self._glued(one, depth) for one in glued_macros(listed)]
        symbols = (symbol for symbol in found if symbol is not None)
        return sorted(symbols, key=lambda symbol: symbol.start)

    def _glued(self, macro: GluedMacro, depth: int) -> Symbol:
        name, arguments = macro.call.function, macro.call.arguments
        inner = tuple(self._inside(macro.body, depth, network=True))
        detail = self._brief(arguments.start, arguments.end)
        place = (macro.call.start, macro.body.end, name.start, name.end)
        return Symbol(name.text, detail, "function", *place, inner)

    def members(
        self, island: Island, entries: Iterable[brainscript.Entry], depth: int
    ) -> list[Symbol]:
        """Return the symbols of members of BrainScript."""
        return [
            self._member(island, entry, depth)
            for entry in entries
            if isinstance(entry, brainscript.Member) and entry.name
        ]

    def _record(self, record: Record, depth: int, network: bool) -> Symbol | None:
        if isinstance(record, Macro):
            words = self._brief(record.parameters.start, record.parameters.end)
            inner = self._inside(record.body, depth, network=True)
            return self._named(record, words, "function", inner)
        if not isinstance(record, Assignment) or not record.name.text:
            return None
        value = record.value
        if isinstance(value, BuilderText):
            island = self.islands[value.start]
            return self._named(record, "BrainScript", "section", self._built(island))
        if isinstance(value, Block):
            name = record.name.text.lower()
            known = network or name == _BUILDER or (depth == 0 and name in self.networks)
            inner = self._inside(value, depth, network=known)
            kind: SymbolKind = "command" if depth == 0 and name in self.commands else "section"
            return self._named(record, self._does(value, kind), kind, inner)
        detail = "" if value is None else self._brief(value.start, value.end)
        if record.name.text.lower() in KEYS:
            return self._named(record, detail, "key")
        is_node = network and (
            isinstance(value, ConfigurationCall) or record.name.text.lower() in SPECIAL
        )
        return self._named(record, detail, "node" if is_node else _kind(value, network))

    def _does(self, value: Block, kind: SymbolKind) -> str:
        """Return the action of a command."""
        if kind != "command":
            return ""
        for one in value.records:
            if isinstance(one, Assignment) and one.name.text.lower() == "action" and one.value:
                return self._brief(one.value.start, one.value.end).strip('"')
        return "train"

    def _inside(self, value: Node | None, depth: int, *, network: bool) -> list[Symbol]:
        if not isinstance(value, Block) or depth >= DEEPEST:
            return []
        return self.records(value.records, depth + 1, network=network)

    def _built(self, island: Island) -> list[Symbol]:
        """Return the members of a builder's record, at any depth of the value."""
        built = island.script.built
        while isinstance(built, brainscript.New | brainscript.Select):
            built = built.arguments if isinstance(built, brainscript.New) else built.record
        if isinstance(built, brainscript.RecordLiteral):
            return self.members(island, built.entries, 1)
        return []

    def _member(self, island: Island, member: brainscript.Member, depth: int) -> Symbol:
        value = member.value
        inner: list[Symbol] = []
        body = value.record if isinstance(value, brainscript.Select) else value
        if isinstance(body, brainscript.RecordLiteral) and depth < DEEPEST:
            inner = self.members(island, body.entries, depth + 1)
        place = value.place
        detail = "" if inner else self._brief(island.start + place.start, island.start + place.end)
        plain = isinstance(value, brainscript.Number | brainscript.Text | brainscript.Truth)
        kind: SymbolKind = "constant" if plain else "section" if inner else "node"
        if member.parameters is not None:
            kind = "function"
            detail = self._parameters(island, member)
        return Symbol(
            member.name,
            detail,
            kind,
            island.start + member.place.start,
            island.start + member.place.end,
            island.start + member.name_place.start,
            island.start + member.name_place.end,
            tuple(inner),
        )

    def _parameters(self, island: Island, member: brainscript.Member) -> str:
        words = ", ".join(one.name for one in member.parameters or ())
        return f"{{{words}}}" if member.braced else f"({words})"

    def _named(
        self,
        record: Assignment | Macro,
        detail: str,
        kind: SymbolKind,
        inner: Iterable[Symbol] = (),
    ) -> Symbol:
        name = record.name
        return Symbol(
            name.text, detail, kind, record.start, record.end, name.start, name.end, tuple(inner)
        )

    def _brief(self, start: int, end: int) -> str:
        """Return a part of the text shortened to a line of the outline."""
        raw = self.text.data[start : min(end, start + 4 * WIDTH)].decode("utf-8", "replace")
        words = " ".join(raw.split())
        return words if len(words) <= WIDTH else f"{words[: WIDTH - 4]} ..."


def _kind(value: Node | None, network: bool) -> SymbolKind:
    if network and isinstance(value, Text | String):
        return "constant"
    return "key"
