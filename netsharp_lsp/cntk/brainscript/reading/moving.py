"""Moves syntax to another offset of a text, otherwise unchanged; knows no kind of it."""

from __future__ import annotations

from netsharp_lsp.cntk.networks.faults import Place

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from netsharp_lsp.cntk.brainscript.reading.syntax import Member


def moved(member: Member, start: int) -> Member:
    """Return the same member at another offset."""
    found: Member = _moved(member, start - member.place.start)
    return found


def _moved(part: Any, by: int) -> Any:
    kind = type(part)
    if kind is Place:
        return Place(part.source, part.start + by, part.end + by)
    inner = [_moved(one, by) if isinstance(one, tuple) else one for one in part]
    return tuple(inner) if kind is tuple else kind._make(inner)
