"""Completion of file names: files of the right kind in the folder that is being written."""

from __future__ import annotations

import os

from netsharp_lsp.cntk.ide.places.blocks import assignment_at

TYPE_CHECKING = False
if TYPE_CHECKING:
    from netsharp_lsp.cntk.ide.completion.place import Writing
    from netsharp_lsp.cntk.ide.places.edited import Edited
    from netsharp_lsp.ide.answers import Completion

#: What the files of an option end with.
_SUFFIXES = {
    "networkdescription": (".ndl", ".bs"),
    "ndlmacros": (".ndl",),
    "editpath": (".mel",),
    "configfile": (".cntk", ".config"),
    "include": (".bs", ".cntk", ".config"),
}


def proposals(edited: Edited, writing: Writing) -> list[Completion] | None:
    """Return the files that may be named at a place; None where a file is not expected."""
    line = edited.text.lines.span(edited.text.lines.line_at(writing.start))[0]
    head = edited.data[line : writing.start].decode("utf-8", "replace")
    suffixes = _wanted(edited, writing, head)
    if suffixes is None:
        return None
    begun = head.rpartition('"')[2] if writing.string is not None else head.rpartition("=")[2]
    begun = begun.strip().rpartition("+")[2]
    folder = begun.rpartition("/")[0]
    end = writing.end
    while edited.data[end : end + 1].isalnum() or edited.data[end : end + 1] in (b".", b"_"):
        end += 1
    found: dict[str, Completion] = {}
    for base in _bases(edited, writing, folder):
        for name in edited.files.names_in(os.path.join(base, folder)):
            own = edited.files.locate(os.path.join(base, folder, name)) == edited.name
            if name.lower().endswith(suffixes) and not own:
                label = name if writing.string is not None else f'"{name}"'
                found.setdefault(name, writing._replace(end=end).proposal(label, "file", 0))
    return list(found.values())


def _bases(edited: Edited, writing: Writing, folder: str) -> list[str]:
    """Return the folders that a path is searched in: those of the run; a file in no run uses its
    own folder, in which the last part of an include is also searched.
    """
    run = edited.main.run
    own = os.path.dirname(edited.name)
    if not run.items:
        return [own]
    folders = [run.directory, *run.also]
    if not folder and edited.text.island_at(writing.start) is not None:
        folders.append(own)
    return list(dict.fromkeys(os.path.normpath(one) if one else "." for one in folders))


def _wanted(edited: Edited, writing: Writing, head: str) -> tuple[str, ...] | None:
    """Return the suffixes of the files that may be named at a place; None where none may."""
    if edited.text.island_at(writing.start) is not None:
        includes = head.strip().startswith("include")
        return (".bs",) if includes and writing.string is not None else None
    if edited.language not in ("cntk", "ndl"):
        return None
    record = assignment_at(edited, writing.start)
    if record is None or writing.start <= record.name.end:
        return None
    if writing.string is None and writing.before != b"=":
        return None
    return _SUFFIXES.get(record.name.text.lower())
