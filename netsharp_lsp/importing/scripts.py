"""The calls that train in a script, wherever they are in its layers of hosts.

Knows which reader a language has; reads no disk.
"""

from __future__ import annotations

import re

from netsharp_lsp.embedded.finding import code_in
from netsharp_lsp.importing.arguments import TRAINERS
from netsharp_lsp.importing.pieces import CodePieces
from netsharp_lsp.importing.python_calls import calls_in_python
from netsharp_lsp.importing.r_calls import calls_in_r
from netsharp_lsp.text.lines import LineIndex

TYPE_CHECKING = False
if TYPE_CHECKING:
    from netsharp_lsp.importing.values import HostCall

_HINT = re.compile(rb"\b(?:" + "|".join(TRAINERS).encode() + rb")\b")


def _r(pieces: CodePieces) -> tuple[list[HostCall], list[int]]:
    return calls_in_r(pieces, TRAINERS), []


def _python(pieces: CodePieces) -> tuple[list[HostCall], list[int]]:
    """Return the calls of all texts, or, where one of them is broken, of each by itself."""
    found = calls_in_python(pieces, TRAINERS)
    if not isinstance(found, int):
        return found, []
    calls: list[HostCall] = []
    broken: list[int] = []
    for one in pieces.each():
        if _HINT.search(one.text) is None:
            continue
        own = calls_in_python(one, TRAINERS)
        if isinstance(own, int):
            broken.append(own)
        else:
            calls += own
    return calls, broken


_READERS = {"r": _r, "python": _python}


def calls_in(host: str, data: bytes) -> tuple[list[HostCall], list[int]]:
    """Return the calls that train in a host text, in order, and the lines of Python with a syntax
    error that may contain some.

    Raises RecursionError for texts that are nested too deep.
    """
    calls: list[HostCall] = []
    broken: list[int] = []
    lines = LineIndex(data)
    for group in code_in(host, data, _HINT):
        if any(_HINT.search(layer.text) for layer in group.layers):
            found, faults = _READERS[group.language](CodePieces(group.layers, lines))
            for call in found:
                call.query = None if group.query is None else group.query.decode("utf-8", "replace")
            calls += found
            broken += faults
    return sorted(calls, key=lambda call: call.line), broken
