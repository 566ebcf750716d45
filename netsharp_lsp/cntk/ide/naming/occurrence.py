"""A name in a file and the declaration that it means, as a value; does not know how it is found."""

from __future__ import annotations

from typing import NamedTuple

#: The identity of a declaration: the owner of the name, the file's canonical path, its offset.
Key = tuple[str, str, int]


class Occurrence(NamedTuple):
    """A name at ``start:end`` of a file that means the declaration `key`.

    `kind`: of BrainScript "member", "function", "parameter", "index" or "library"; of NDL "node",
    "local" (in a macro), "parameter", "macro" or "section"; of MEL "model" or "node"; of a
    configuration "key".
    """

    key: Key
    name: str
    kind: str
    file: str
    start: int
    end: int
    declares: bool
