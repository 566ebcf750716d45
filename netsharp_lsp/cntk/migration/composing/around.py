"""Edits of a builder's block in its configuration, and of the keys and files that it names."""

from __future__ import annotations

import re

from netsharp_lsp.cntk.migration.composing.assembly import DROPPED
from netsharp_lsp.cntk.migration.editing.comments import with_comments
from netsharp_lsp.cntk.migration.editing.edits import Edit, Todo

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from netsharp_lsp.cntk.configuration.entries import Entry
    from netsharp_lsp.cntk.configuration.scope import Found, Scope
    from netsharp_lsp.cntk.migration.composing.assembly import Section
    from netsharp_lsp.cntk.migration.editing.cases import Builder

#: A text further to the right than this does not set the indentation of other lines.
MARGIN = 1_000
_SUFFIX = re.compile(r"\.ndl\Z", re.IGNORECASE)


def renamed_file(path: str) -> str:
    """Return the path of an NDL file's BrainScript successor."""
    return _SUFFIX.sub(".bs", path) if _SUFFIX.search(path) else f"{path}.bs"


def included(found: Found) -> list[str]:
    """Return the BrainScript files that replace those that a key names, spelt as in the
    configuration.
    """
    raw = found.text.raw().decode("utf-8", "replace")
    resolved = found.text.text.decode("utf-8", "replace")
    names = [part.strip() for part in raw.split("+")]
    meant = [part.strip() for part in resolved.split("+")]
    if len(names) != len(meant) or any(
        bool(_SUFFIX.search(one)) != bool(_SUFFIX.search(other))
        for one, other in zip(names, meant, strict=True)
    ):
        names = meant
    return [renamed_file(name) for name in names if name]


def record_of(entry: Entry, builder: Builder) -> tuple[str, int, int]:
    """Return the file of an entry and the span of its key with its value."""
    record = entry.parts[-1].record
    key, whole = record.text.place(*record.key), record.text.place(*record.whole)
    return builder.locate(key.source.name), key.start, whole.end


def opening_of(builder: Builder) -> tuple[str, int]:
    """Return the file and offset where the block of a builder's command begins, after its
    bracket.
    """
    found = builder.command.found
    assert found is not None
    record = found.entry.parts[0].record
    whole = record.text.place(*record.whole)
    return builder.locate(whole.source.name), whole.start + 1


def line_of(data: bytes, start: int, end: int) -> tuple[int, int]:
    """Return the span of a record with its separator, and with its line if it is alone on it."""
    while data[end : end + 1] in (b" ", b"\t"):
        end += 1
    if data[end : end + 1] in (b";", b","):
        end += 1
    after = end
    while data[after : after + 1] in (b" ", b"\t", b"\r"):
        after += 1
    begin = start
    while begin > 0 and data[begin - 1 : begin] in (b" ", b"\t"):
        begin -= 1
    alone = begin == 0 or data[begin - 1 : begin] == b"\n"
    if alone and data[after : after + 1] in (b"\n", b""):
        return begin, after + 1 if after < len(data) else after
    return start, end


def margin_of(data: bytes, start: int) -> str:
    """Return the blanks at the start of a place's line; none if that start is too far to the
    left.
    """
    before = max(0, start - MARGIN)
    line = data.rfind(b"\n", before, start) + 1
    if before and not line:
        return ""
    end = line
    while data[end : end + 1] in (b" ", b"\t"):
        end += 1
    return data[line:end].decode()


def unwrapped(scope: Scope, builder: Builder, sections: Iterable[Section]) -> Iterator[Edit]:
    """Yield edits that delete what names the sections and what encloses them."""
    for key in (b"load", b"run"):
        entry = scope.here(key)
        if entry is not None:
            selects = key == b"run" and builder.selecting is not None
            yield Edit("MG03" if selects else "MG02", *record_of(entry, builder), "")
    for section in sections:
        entry = scope.here(section.name.encode())
        if entry is None or entry is builder.found.entry:
            continue
        record = entry.parts[-1].record
        file, start, end = record_of(entry, builder)
        opening = record.text.place(*record.whole).start + 1
        yield Edit("MG02", file, start, opening, "")
        yield Edit("MG02", file, end - 1, end, "")


def dropped(builder: Builder) -> Iterator[Todo]:
    """Yield the options of a builder that have no counterpart."""
    for entry in builder.scope:
        if entry.key.lower() in DROPPED:
            name = entry.key.decode("utf-8", "replace")
            message = f"'{name}' has no counterpart in BrainScript and is dropped."
            yield Todo("MG44", *record_of(entry, builder), message)


def outside(builder: Builder, data: bytes) -> Iterator[Edit]:
    """Yield edits that delete `load`, `run` and the sections that are around a builder and not in
    it.
    """
    names = []
    for key in (b"load", b"run"):
        found = builder.scope.look_up(key)
        if found is None:
            continue
        names.append(found.text.text)
        if found.scope is not builder.scope:
            yield _deleted(found.entry, builder, data)
    if builder.file(b"networkDescription") is not None:
        return
    for name in names:
        found = builder.scope.look_up(name)
        own = found is not None and found.entry is builder.found.entry
        if found is not None and found.scope is not builder.scope and not own:
            yield _deleted(found.entry, builder, data)


def _deleted(entry: Entry, builder: Builder, data: bytes) -> Edit:
    file, start, end = record_of(entry, builder)
    if file == builder.place[0]:
        start, end = line_of(data, *with_comments(data, start, end))
    return Edit("MG02", file, start, end, "")
