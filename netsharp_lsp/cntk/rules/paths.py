"""The message about paths that are not regular files; does not look at files itself."""

from __future__ import annotations

FOLDER = "folder"


def not_a_file(path: str, kind: str) -> str:
    """Return the message about a folder, pipe or device in the place of a file."""
    if kind == FOLDER:
        return f"'{path}' is a folder, and a file is read here."
    return f"'{path}' is a {kind}: it is not opened, and what comes from it is not known here."
