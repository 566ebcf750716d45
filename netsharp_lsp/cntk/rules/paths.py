"""What is said of paths that lead to no file; looks at nothing itself."""

from __future__ import annotations

FOLDER = "folder"


def not_a_file(path: str, kind: str) -> str:
    """Say what has the name of a file that is read."""
    if kind == FOLDER:
        return f"'{path}' is a folder, and a file is read here."
    return f"'{path}' is a {kind}: it is not opened, and what comes from it is not known here."
