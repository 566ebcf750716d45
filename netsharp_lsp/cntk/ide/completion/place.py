"""The word that is being written at an offset, and its context on the line."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from netsharp_lsp.cntk.versions import ALWAYS
from netsharp_lsp.ide.answers import Completion

if TYPE_CHECKING:
    from netsharp_lsp.cntk.ide.places.edited import Edited
    from netsharp_lsp.cntk.versions import Releases
    from netsharp_lsp.ide.answers import CompletionKind

_ASSIGNED = re.compile(rb"[ \t]*=(?!=)")


class Writing(NamedTuple):
    """The word from `start` to `end`, of which `begun` is before the offset.

    `word` is the whole of it. `before` is the last non-blank byte before it on the line, empty at
    the line's start. `string` is the text before the word in the string around it, None outside
    strings. `assigned`: an equals sign follows. `in_argument`: it is the value of a named argument.
    Proposals replace bytes `moved` from there.
    """

    offset: int
    start: int
    end: int
    begun: str
    before: bytes
    word: str
    string: str | None
    assigned: bool
    in_argument: bool = False
    moved: int = 0

    def proposal(
        self, label: str, kind: CompletionKind, rank: int, insert: str = "", **more: str
    ) -> Completion:
        """Return a proposal for the word; `insert` is a snippet where it differs from the label."""
        snippet = bool(insert) and insert != label
        plain = more.get("plain", label)
        return Completion(
            label,
            kind,
            self.start + self.moved,
            self.end + self.moved,
            insert or plain,
            plain,
            snippet,
            more.get("detail", ""),
            more.get("topic", ""),
            rank,
        )


def writing_at(edited: Edited, offset: int, moved: int = 0) -> Writing:
    """Return the word at an offset of a text that begins `moved` bytes into another."""
    data = edited.data
    start = end = offset
    while start > 0 and _is_word(data[start - 1 : start]):
        start -= 1
    while end < len(data) and _is_word(data[end : end + 1]):
        end += 1
    at = start
    while at > 0 and data[at - 1 : at] in (b" ", b"\t"):
        at -= 1
    before = data[at - 1 : at] if at else b""
    return Writing(
        offset,
        start,
        end,
        data[start:offset].decode("utf-8", "replace"),
        b"" if before in (b"\n", b"\r") else before,
        data[start:end].decode("utf-8", "replace"),
        _string(edited, start),
        _ASSIGNED.match(data, end) is not None,
        before == b"=" and _is_open(edited, at),
        moved,
    )


def _is_open(edited: Edited, offset: int) -> bool:
    """Return whether a call is open on the line before an offset."""
    head = edited.data[edited.text.lines.span(edited.text.lines.line_at(offset))[0] : offset]
    return head.count(b"(") > head.count(b")") or head.count(b"{") > head.count(b"}")


def _string(edited: Edited, offset: int) -> str | None:
    """Return the text between an opening quote on the line and an offset; None where none is
    open.
    """
    head = edited.data[edited.text.lines.span(edited.text.lines.line_at(offset))[0] : offset]
    for quote in (b'"', b"'"):
        if head.count(quote) % 2:
            return head.rpartition(quote)[2].decode("utf-8", "replace")
    return None


def _is_word(byte: bytes) -> bool:
    return byte.isalnum() or byte == b"_"


def since(detail: str, known: Releases) -> str:
    """Return a proposal's detail with the versions of CNTK that know it, where not all do."""
    if known == ALWAYS:
        return detail
    return f"{detail} CNTK knows it {known}.".lstrip()
