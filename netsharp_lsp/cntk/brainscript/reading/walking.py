"""Walks the expressions of a text, each with the member that it is in; knows no meaning."""

from __future__ import annotations

from netsharp_lsp.cancellation import raise_if_cancelled
from netsharp_lsp.cntk.brainscript.reading.syntax import (
    Argument,
    Include,
    IndexRange,
    Member,
    Parameter,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from netsharp_lsp.cntk.brainscript.reading.syntax import Expression, Script

#: Parts of the syntax that contain expressions but are none.
HOLDERS = (Argument, Include, IndexRange, Member, Parameter)


def expressions(script: Script) -> Iterator[tuple[Expression, Member | None]]:
    """Yield all expressions with the innermost member around each, outer expressions first."""
    for part, member in _parts(script):
        if not isinstance(part, HOLDERS):
            yield part, member


def _parts(script: Script) -> Iterator[tuple[Any, Member | None]]:
    waiting: list[tuple[Any, Member | None]] = [(script.built, None)]
    waiting += [(entry, None) for entry in reversed(script.entries)]
    while waiting:
        raise_if_cancelled()
        part, member = waiting.pop()
        if not isinstance(part, tuple):
            continue
        if hasattr(part, "place"):
            yield part, member
        inner = part if isinstance(part, Member) else member
        waiting.extend((one, inner) for one in reversed(part))
