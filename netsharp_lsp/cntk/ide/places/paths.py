"""Files of networks and configurations that a text names, and their locations."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from netsharp_lsp.cntk.ide.places.blocks import assignment_at, value_in_force

if TYPE_CHECKING:
    from netsharp_lsp.cntk.ide.places.edited import Edited

#: A file of a network or a configuration, as written in a value.
FILE = re.compile(
    rb"(?<![^\s\"'+:;,()\[\]{}=])[^\s\"'+:;,()\[\]{}=]+\.(?:ndl|bs|mel|cntk|config)\b",
    re.IGNORECASE,
)
#: Options that name files with names in them.
NAMING = frozenset(("networkdescription", "ndlmacros", "editpath", "configfile", "include"))


class NamedFile(NamedTuple):
    """A file that is named at a span of the text, by canonical path."""

    start: int
    end: int
    file: str


def file_at(edited: Edited, offset: int) -> NamedFile | None:
    """Return the file that is named at an offset; None where none is, or it does not exist."""
    start, end = edited.text.lines.span(edited.text.lines.line_at(offset))
    for match in FILE.finditer(edited.data, start, end):
        if match.start() <= offset <= match.end():
            path = match.group().decode("utf-8", "replace")
            found = located(edited, _resolved(edited, path, offset))
            return None if found is None else NamedFile(*match.span(), found)
    return None


def located(edited: Edited, path: str) -> str | None:
    """Return the canonical path of a file named in the text; None where it does not exist."""
    for experiment in edited.experiments:
        if experiment.files.exists(path):
            return experiment.files.locate(path)
    for experiment, program in edited.programs():
        for source in program.included:
            if source.replace("\\", "/").endswith("/" + path.replace("\\", "/")):
                return experiment.files.locate(source)
    return None


def _resolved(edited: Edited, path: str, offset: int) -> str:
    """Return a path with variables substituted, as CNTK reads it for the key."""
    record = assignment_at(edited, offset) if "$" in path else None
    found = value_in_force(edited, record) if record is not None else None
    if found is None or record is None or record.name.text.lower() not in NAMING:
        return path
    words = found.text.text.decode("utf-8", "replace").split("+")
    tail = path.rpartition("$")[2]
    return next((word for word in words if word.endswith(tail)), path)
