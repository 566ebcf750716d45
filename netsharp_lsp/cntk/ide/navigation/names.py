"""Declarations and uses of names, across the files of the runs."""

from __future__ import annotations

from netsharp_engine.plain_files import open_plain
from netsharp_lsp.cntk.checking.analysis import NOT_FILES
from netsharp_lsp.cntk.ide.places.listed_nodes import listed_node
from netsharp_lsp.cntk.ide.places.paths import file_at
from netsharp_lsp.cntk.library import PREFIX, library_file, own_library
from netsharp_lsp.ide.answers import Elsewhere, Highlight, Target

TYPE_CHECKING = False
if TYPE_CHECKING:
    from netsharp_lsp.cntk.ide.naming.occurrence import Key, Occurrence
    from netsharp_lsp.cntk.ide.places.edited import Edited
    from netsharp_lsp.ide.answers import Range


def definition_at(edited: Edited, offset: int) -> Target | None:
    """Return where the name at an offset is declared, in this or another file or in our library."""
    found = edited.occurrence_at(offset)
    named = file_at(edited, offset) if found is None else None
    if named is not None:
        return Target(0, 0, 0, 0, named.file if named.file != edited.name else None)
    if found is None:
        return _node_definition(edited, offset)
    if found.key[1].startswith(PREFIX):
        return _in_library(found.key)
    declared = next((one for one in edited.same(found) if one.declares), None)
    if declared is None:
        return None
    file = declared.file if declared.file != edited.name else None
    return Target(declared.start, declared.end, declared.start, declared.end, file)


def _node_definition(edited: Edited, offset: int) -> Target | None:
    """Return where a node is created that an option names and that no name in the text declares."""
    found = listed_node(edited, offset)
    if found is None:
        return None
    source, start, end = found.node.where
    experiment = edited.main
    if source.startswith(NOT_FILES):
        return None
    return Target(start, end, start, end, edited.file_of(experiment, source))


def references_at(edited: Edited, offset: int, declaration: bool) -> list[Range | Elsewhere]:
    """Return where the name at an offset is used, in this file first."""
    found = edited.occurrence_at(offset)
    if found is None:
        return []
    return [
        (one.start, one.end) if one.file == edited.name else Elsewhere(one.file, one.start, one.end)
        for one in edited.same(found)
        if declaration or not one.declares
    ]


def highlights_at(edited: Edited, offset: int) -> list[Highlight]:
    """Return where the name at an offset occurs in this file."""
    found = edited.occurrence_at(offset)
    return [
        Highlight(one.start, one.end, "write" if one.declares else "read")
        for one in (edited.same(found) if found is not None else ())
        if one.file == edited.name
    ]


def described(occurrence: Occurrence) -> str:
    """Return the kind of a name, in a word for users."""
    return {"key": "option", "library": "library function"}.get(occurrence.kind, occurrence.kind)


def _in_library(key: Key) -> Target | None:
    """Return a declaration in a file of the package's own library."""
    scripts = {script.place.source: script for script in own_library(later=True)}
    if key[1] not in scripts:
        return None
    path, start = library_file(key[1]), key[2]
    with open_plain(path) as file:
        data = file.read()
    end = start
    while end < len(data) and (data[end : end + 1].isalnum() or data[end : end + 1] == b"_"):
        end += 1
    return Target(start, end, start, end, path)
