"""Streams whose inputs are renamed: the data keep the old name, which an alias then gives."""

from __future__ import annotations

from netsharp_lsp.text.edits import Edit

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from netsharp_lsp.cntk.configuration.meaning.usage import Visit
    from netsharp_lsp.cntk.ide.naming.occurrence import Occurrence
    from netsharp_lsp.cntk.ide.places.edited import Edited

_ALIAS = b"alias"


def alias_edits(edited: Edited, places: list[Occurrence], name: str) -> Iterator[tuple[str, Edit]]:
    """Yield the edits, with their files, that keep the data of streams whose names become
    `name`.
    """
    for one in places:
        if one.declares or one.key[0] == "key":
            continue
        visit = _stream(edited, one)
        data = edited.read(one.file)
        if visit is None or data is None:
            continue
        opening = _opening(data, one.end)
        if opening is None:
            continue
        written = f' alias = "{name}" ;'.encode()
        if visit.scope.here(_ALIAS) is None:
            yield one.file, Edit(opening, opening, f' alias = "{one.name}" ;')
        elif data.startswith(written, opening):
            yield one.file, Edit(opening, opening + len(written), "")


def _stream(edited: Edited, one: Occurrence) -> Visit | None:
    """Return the block of a named stream, where the reader supports an alias."""
    for experiment in edited.experiments:
        for visit in experiment.visits:
            key = visit.found.entry.parts[0].key
            if visit.table.find("alias") is None or key.start != one.start:
                continue
            if experiment.files.locate(key.source.name) == one.file:
                return visit
    return None


def _opening(data: bytes, offset: int) -> int | None:
    """Return the start of the inside of the block whose key ends at an offset."""
    while data[offset : offset + 1] in (b" ", b"\t", b"="):
        offset += 1
    return offset + 1 if data[offset : offset + 1] in (b"{", b"[") else None
