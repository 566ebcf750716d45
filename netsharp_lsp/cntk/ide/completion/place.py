"""What is being written at an offset: the beginning of a word, and what stands before it."""

from __future__ import annotations

from typing import NamedTuple

from netsharp_lsp.ide.answers import Completion

TYPE_CHECKING = False
if TYPE_CHECKING:
    from netsharp_lsp.cntk.ide.edited import Edited
    from netsharp_lsp.ide.answers import CompletionKind

_BLANKS = b" \t"


class Writing(NamedTuple):
    """The word from `start` to `end`, of which the offset has seen `begun`.

    `before` is the last byte on the line before it that is no blank, empty at its begin.
    """

    offset: int
    start: int
    end: int
    begun: str
    before: bytes

    def proposal(
        self, label: str, kind: CompletionKind, rank: int, insert: str = "", **more: str
    ) -> Completion:
        """A proposal for the word; `insert` is a snippet where it differs from the label."""
        snippet = bool(insert)
        plain = more.get("plain", label)
        return Completion(
            label,
            kind,
            self.start,
            self.end,
            insert or label,
            plain,
            snippet,
            more.get("detail", ""),
            more.get("topic", ""),
            rank,
        )


def writing_at(edited: Edited, offset: int) -> Writing:
    """What is being written at an offset."""
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
    )


def _is_word(byte: bytes) -> bool:
    return byte.isalnum() or byte == b"_"
