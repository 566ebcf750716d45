"""The readers of a configuration's blocks: every block that a command reads, with the table of the
options that are looked up there. Follows look-up outwards and evaluates no rule.
"""

from __future__ import annotations

from netsharp_lsp.cntk.configuration.arrays import elements
from netsharp_lsp.cntk.configuration.faults import TextFaults
from netsharp_lsp.cntk.configuration.meaning.commands import Command
from netsharp_lsp.cntk.configuration.options import (
    FOREIGN,
    JOINED,
    READERS,
    Block,
    block,
    command_block,
    reader_block,
)
from netsharp_lsp.cntk.configuration.records import is_block
from netsharp_lsp.cntk.configuration.scope import Found, Scope

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from netsharp_lsp.cntk.configuration.entries import Entry
    from netsharp_lsp.cntk.configuration.options import Option


#: No reader or writer looks up blocks that are nested more deeply.
DEEPEST = 12
#: Blocks that determine what a command would read.
_PARTS = (b"reader", b"cvreader", b"sgd")


class Visit:
    """A block that a command reads: its `scope`, the `table` of options looked up in it, how it was
    `found`, and the block that refers to it (`outer`). `name` is its key.
    """

    __slots__ = ("command", "depth", "found", "name", "outer", "scope", "table")

    def __init__(
        self, name: str, table: Block, scope: Scope, found: Found, outer: Visit | None, of: Command
    ) -> None:
        self.name = name
        self.table = table
        self.scope = scope
        self.found = found
        self.outer = outer
        self.depth: int = 0 if outer is None else outer.depth + 1
        self.command = of

    @property
    def is_open(self) -> bool:
        """Return whether keys that the table lacks may still be read."""
        return self.table is FOREIGN

    def option(self, name: str) -> Found | None:
        """Return the value found for an option, looked up as CNTK does."""
        row = self.table.find(name)
        return self.scope.look_up(name.encode(), climb=row is None or not row.here)

    def text(self, name: str) -> str | None:
        """Return the text of an option; None where it is absent, or a variable in it is unknown."""
        found = self.option(name)
        if found is None or found.problem is not None:
            return None
        return found.text.text.decode("utf-8", "replace")


def visits(commands: Iterable[Command], root: Scope) -> list[Visit]:
    """Return every block that commands read, once for each reader; then the blocks that are not
    reached and that commands would read, in files that are layers of others.
    """
    result: list[Visit] = []
    for command in commands:
        if command.scope is not None and command.found is not None:
            table = command_block(command.actions)
            result += _walk(Visit(command.name, table, command.scope, command.found, None, command))
    met = {visit.found.entry.parts[0].key.key for visit in result}
    read = {
        visit.found.entry
        for visit in result
        if visit.outer is None and visit.table is command_block(()) and visit.found.scope is root
    }
    idle = _idle(root, read)
    return result + [one for one in idle if one.found.entry.parts[0].key.key not in met]


def _idle(root: Scope, read: set[Entry]) -> Iterator[Visit]:
    """Yield the top-level blocks, and blocks in them, that a command would read if it reached them.

    `read` are those that are reached with exactly these options.
    """
    table = command_block(())
    no_command = Command("", None, None, listed=False)
    for entry in root:
        found = Found(entry, root, root.resolved(entry))
        if entry in read or entry.kind != "block" or not is_block(found.text.text):
            continue
        key = entry.key.decode("utf-8", "replace")
        option = table.find(key) if entry.key.lower() in _PARTS else None
        if option is not None:
            yield from _block(
                Visit("top level", table, root, found, None, no_command), option, found
            )
            continue
        # A block that is not a command may be anything, and parsing it as a record adds no fault.
        scope = Scope(found.text, TextFaults(), root)
        if any(scope.here(part) is not None for part in _PARTS):
            yield from _walk(Visit(key, table, scope, found, None, no_command))


def reader_type(scope: Scope) -> str | None:
    """Return the value of `readerType`; None where it is not given."""
    found = scope.look_up(b"readerType")
    return None if found is None else found.text.text.decode("utf-8", "replace")


def sections(visit: Visit) -> Iterator[tuple[Entry, Found]]:
    """Yield the user-named keys of a block, with their values."""
    for entry in visit.scope:
        if visit.table.find(entry.key.decode("utf-8", "replace")) is None:
            yield entry, Found(entry, visit.scope, visit.scope.resolved(entry))


def _walk(visit: Visit) -> Iterator[Visit]:
    yield visit
    for key, option in visit.table.holders:
        found = visit.scope.look_up(key, climb=not option.here)
        if found is None:
            continue
        if option.kind == "blocks":
            yield from _parts(visit, option, found)
        elif is_block(found.text.text):
            yield from _block(visit, option, found)
    deep = visit.depth >= DEEPEST
    named = block(visit.table.any_name) if visit.table.any_name and not deep else None
    for entry, found in sections(visit) if named is not None else ():
        if named is not None and is_block(found.text.text):
            yield from _walk(_inner(visit, entry.key, named, found))


def _inner(outer: Visit, key: bytes, table: Block, found: Found) -> Visit:
    name = key.decode("utf-8", "replace")
    return Visit(name, table, outer.scope.inside(found), found, outer, outer.command)


def _parts(visit: Visit, option: Option, found: Found) -> Iterator[Visit]:
    table = block(option.inside)
    for part in elements(found.text) or ():
        if table is not None and is_block(part.text):
            one = Found(found.entry, found.scope, part)
            yield from _walk(_inner(visit, found.entry.key, table, one))


def _block(visit: Visit, option: Option, found: Found) -> Iterator[Visit]:
    if option.inside == "reader":
        yield from _reader(visit, found)
        return
    table = block(option.inside)
    if table is not None:
        yield from _walk(_inner(visit, found.entry.key, table, found))


def _reader(visit: Visit, found: Found) -> Iterator[Visit]:
    reader = _inner(visit, found.entry.key, JOINED, found)
    listed = reader.scope.look_up(b"readers")
    if listed is None:
        reader.table = _reader_table(reader.scope)
        yield from _walk(reader)
        return
    yield reader
    for name in elements(listed.text) or ():
        one = reader.scope.look_up(name.text)
        if one is not None and is_block(one.text.text):
            part = _inner(reader, one.entry.key, JOINED, one)
            part.table = _reader_table(part.scope)
            yield from _walk(part)


def _reader_table(scope: Scope) -> Block:
    kind = reader_type(scope)
    if kind is None or kind.lower() in READERS:
        composed = scope.look_up(b"deserializers") is not None
        return reader_block(kind, composed) or FOREIGN
    return FOREIGN
