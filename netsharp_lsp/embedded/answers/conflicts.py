"""Merge conflicts of a host text: marks between its specifications, and around them.

In a notebook no line of valid JSON is a mark; elsewhere a text may quote one, so only a conflict
with all its marks counts.
"""

from __future__ import annotations

from netsharp_lsp.embedded.finding import find_regions
from netsharp_lsp.text.conflicts import conflicts_in, one_side

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from netsharp_lsp.text.conflicts import Conflict


def host_conflicts(host: str, text: bytes) -> tuple[Conflict, ...]:
    """Return the conflicts of a host, by its language id."""
    conflicts = conflicts_in(text)
    return conflicts if host == "ipynb" else tuple(one for one in conflicts if one.is_whole)


def readings(text: bytes, conflicts: Sequence[Conflict]) -> list[bytes]:
    """Return the possible texts of a host, at the same offsets: one for each side of conflicts."""
    if not conflicts:
        return [text]
    return [one_side(text, conflicts, ours=ours) for ours in (True, False)]


def holds_specifications(host: str, text: bytes, conflicts: Sequence[Conflict]) -> bool:
    """Return whether a host with conflicts contains a specification on one of their sides."""
    found = (find_regions(host, one) for one in readings(text, conflicts))
    return any(regions for regions in found if isinstance(regions, list))
