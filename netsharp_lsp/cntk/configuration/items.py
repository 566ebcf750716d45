"""The items of a command line: files, assignments, a folder; reads no file."""

from __future__ import annotations

import os
import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

_ASSIGNMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\s*=")
_FILES = "configfile="
#: The prefix of an item, in lower case, that sets CNTK's working directory.
_FOLDER = "currentdirectory="


class Item:
    """One item: `kind` "files" (paths in order), "folder" (one path) or "assignment" (a text)."""

    __slots__ = ("kind", "paths", "text")

    def __init__(self, kind: str, text: str, paths: tuple[str, ...] = ()) -> None:
        self.kind = kind
        self.text = text
        self.paths = paths

    def __repr__(self) -> str:
        return f"Item({self.kind!r}, {self.text!r})"


def read_item(text: str) -> Item:
    """Return the kind of an item: an identifier before `=` is an assignment, anything else names
    files.
    """
    lowered = text.lower()
    if lowered.startswith(_FILES):
        return Item("files", text, _paths(text[len(_FILES) :]))
    if lowered.startswith(_FOLDER):
        return Item("folder", text, (text[len(_FOLDER) :],))
    if _ASSIGNMENT.match(text):
        return Item("assignment", text)
    return Item("files", text, _paths(text))


def read_items(texts: Sequence[str]) -> list[Item]:
    """Return all items of a command line, in order."""
    return [read_item(text) for text in texts]


def folders_of(items: Sequence[Item], unknown: Collection[int] = ()) -> tuple[list[str], str]:
    """Return the folder that each item is read in, starting from CNTK's initial directory, and its
    final working directory: each item `currentDirectory=` changes it for those after it [CNTK:
    Common/Config.cpp, ParseCommandLine]. `unknown` are the items whose values are open.
    """
    folder, folders = "", []
    for number, item in enumerate(items):
        folders.append(folder)
        if item.kind == "folder" and number not in unknown:
            folder = os.path.join(folder, item.paths[0])
    return folders, folder


def _paths(text: str) -> tuple[str, ...]:
    return tuple(path for path in text.split("+") if path)
