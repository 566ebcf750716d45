"""The block of a configuration that contains an offset, and what reads it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from netsharp_lsp.cntk.configuration.options import TOP
from netsharp_lsp.cntk.ide.places.text import nodes_at
from netsharp_lsp.cntk.reading.syntax import Assignment, Block
from netsharp_lsp.once import once

if TYPE_CHECKING:
    from collections.abc import Iterator

    from netsharp_lsp.cntk.configuration.meaning.usage import Visit
    from netsharp_lsp.cntk.configuration.options import Block as Table
    from netsharp_lsp.cntk.configuration.options import Option
    from netsharp_lsp.cntk.configuration.scope import Found, Scope
    from netsharp_lsp.cntk.ide.places.edited import Edited


class Around(NamedTuple):
    """The block around an offset: the table of its options, and its keys.

    `visit` is None at the top level and in a block that is not read.
    """

    table: Table | None
    scope: Scope | None
    visit: Visit | None


def around(edited: Edited, offset: int) -> Around:
    """Return the innermost block that contains an offset, with what reads it."""
    best: Visit | None = None
    size = 0
    for visit, low, high in _visited(edited):
        if low < offset < high and (best is None or high - low <= size):
            best, size = visit, high - low
    innermost = _innermost(edited, offset)
    if best is not None and (innermost is None or innermost[1] - innermost[0] >= size - 2):
        return Around(best.table, best.scope, best)
    if innermost is None:
        return Around(TOP, edited.main.configuration.root, None)
    return Around(None, None, None)


def assignment_at(edited: Edited, offset: int) -> Assignment | None:
    """Return the innermost `key = value` that contains an offset."""
    document = edited.text.document_at(offset)
    found = None
    for node in nodes_at(document.records if document is not None else (), offset):
        if isinstance(node, Assignment):
            found = node
    return found


def option_at(edited: Edited, record: Assignment) -> tuple[Option, Table] | None:
    """Return the option that a record sets, in the block that contains it.

    Look-up climbs, so an option of an inner block may also be set here.
    """
    here = around(edited, record.start)
    name = record.name.text
    if here.table is not None:
        option = here.table.find(name)
        if option is not None:
            return option, here.table
    for visit, low, high in _visited(edited):
        if low < record.start < high or here.visit is None:
            option = visit.table.find(name)
            if option is not None and not option.here:
                return option, visit.table
    return _below(here, edited, name)


def value_in_force(edited: Edited, record: Assignment) -> Found | None:
    """Return the value that CNTK finds for the key of a record, looked up from the record's
    block.
    """
    here = around(edited, record.start)
    if here.scope is None:
        return None
    return here.scope.look_up(record.name.text.encode())


def _below(here: Around, edited: Edited, name: str) -> tuple[Option, Table] | None:
    """Return the option of an inner block whose look-up climbs to this one."""
    for visit, _, _ in _visited(edited):
        at: Visit | None = visit
        while at is not None and (here.visit is None or at.scope is not here.visit.scope):
            at = at.outer
        option = visit.table.find(name)
        if option is not None and not option.here and (at is not None or here.visit is None):
            return option, visit.table
    return None


@once
def _visited(edited: Edited) -> tuple[tuple[Visit, int, int], ...]:
    """Return the blocks that commands read, with their spans in this text."""
    return tuple(_blocks_read(edited))


def _blocks_read(edited: Edited) -> Iterator[tuple[Visit, int, int]]:
    if edited.language != "cntk":
        return
    for experiment in edited.experiments:
        here: dict[str, bool] = {}
        for visit in experiment.visits:
            text = visit.found.text
            whole = text.place(0, len(text))
            parts = [part.value for part in visit.found.entry.parts]
            # A block that several layers write is in each of them.
            for place in parts if len(parts) > 1 else [whole]:
                source = place.source.name
                if source not in here:
                    here[source] = edited.is_here(experiment, source)
                if here[source]:
                    yield visit, place.start, place.end


def _innermost(edited: Edited, offset: int) -> tuple[int, int] | None:
    """Return the innermost bracketed block around an offset."""
    document = edited.text.document_at(offset)
    found = None
    for node in nodes_at(document.records if document is not None else (), offset):
        if isinstance(node, Block) and node.start < offset < node.end:
            found = (node.start, node.end)
    return found
