"""Matching of brackets and quotes by CNTK's rule.

Brackets nest; between quotes only the next quote has a meaning. Where CNTK gives up, the fault is
noted and a partner is chosen that leaves as much of the text readable as possible.
"""

from __future__ import annotations

import re

from netsharp_lsp.cntk.configuration.faults import TextFault, TextFaults

TYPE_CHECKING = False
if TYPE_CHECKING:
    from netsharp_lsp.cntk.configuration.traced import Traced

#: Opening brackets and quotes, and what closes each.
PARTNERS = {0x5B: 0x5D, 0x7B: 0x7D, 0x28: 0x29, 0x22: 0x22}
QUOTE = 0x22
_ANY = re.compile(rb'[\[\]{}()"]')
_CLOSING = frozenset(PARTNERS.values()) - {QUOTE}


class _Open(list[int]):
    """The brackets that are open, the innermost last; `awaiting` has their numbers by closing
    character.
    """

    __slots__ = ("_text", "awaiting")

    def __init__(self, text: bytes) -> None:
        super().__init__()
        self._text = text
        self.awaiting: dict[int, list[int]] = {closer: [] for closer in PARTNERS.values()}

    def add(self, start: int) -> None:
        """Open one within all others."""
        self.awaiting[PARTNERS[self._text[start]]].append(len(self))
        self.append(start)

    def close(self) -> int:
        """Close the innermost one."""
        start = self.pop()
        self.awaiting[PARTNERS[self._text[start]]].pop()
        return start


class Brackets:
    """The brackets of one text; results are cached."""

    __slots__ = ("_faults", "_partners", "_text")

    def __init__(self, text: Traced, faults: TextFaults) -> None:
        self._text = text
        self._faults = faults
        self._partners: dict[int, int] = {}

    def partner(self, start: int) -> int | None:
        """Return the offset where the bracket at `start` closes; None where none opens.

        Without a partner it is the end of the line for a quote, else the end of the text.
        """
        text = self._text.text
        if start >= len(text) or text[start] not in PARTNERS:
            return None
        if start not in self._partners:
            self._scan(start)
        return self._partners[start]

    def _scan(self, start: int) -> None:
        """Find the partner of one bracket and of all brackets inside it."""
        text, partners = self._text.text, self._partners
        open_ones = _Open(text)
        open_ones.add(start)
        at = start
        while open_ones:
            if text[open_ones[-1]] == QUOTE:
                at = self._close_quote(open_ones.close())
                continue
            found = _ANY.search(text, at + 1)
            if found is None:
                self._unclosed(open_ones)
                return
            at = found.start()
            known = partners.get(at)
            if text[at] == PARTNERS[text[open_ones[-1]]]:
                partners[open_ones.close()] = at
            elif text[at] in _CLOSING:
                self._mismatch(open_ones, at)
            elif known is not None and text[at] != QUOTE:
                at = known
            else:
                open_ones.add(at)

    def _close_quote(self, start: int) -> int:
        text = self._text.text
        end = text.find(b'"', start + 1)
        if end < 0:
            self._report_unclosed(start)
            end = text.find(b"\n", start)
            end = len(text) if end < 0 else end
        self._partners[start] = end
        return end

    def _mismatch(self, open_ones: _Open, at: int) -> None:
        """Match a bracket that closes another kind with the last one of its own kind, if there is
        one.
        """
        text = self._text.text
        opened = self._text.place(open_ones[-1], open_ones[-1] + 1)
        found, expected = chr(text[at]), chr(PARTNERS[text[open_ones[-1]]])
        own = open_ones.awaiting[text[at]]
        related = [("This bracket is open.", opened)]
        if own:
            meant = self._text.place(open_ones[own[-1]], open_ones[own[-1]] + 1)
            related.append((f"'{found}' would close this one.", meant))
        self._faults.add(
            TextFault(
                "unmatched",
                f"'{found}' does not close '{chr(text[open_ones[-1]])}'; expected '{expected}' "
                f"for the bracket at {opened}.",
                self._text.place(at, at + 1),
                tuple(related),
            )
        )
        keep = own[-1] if own else len(open_ones) - 1
        while len(open_ones) > keep:
            self._partners[open_ones.close()] = at

    def _unclosed(self, open_ones: _Open) -> None:
        self._report_unclosed(open_ones[-1])
        for opening in open_ones:
            self._partners[opening] = len(self._text.text)

    def _report_unclosed(self, start: int) -> None:
        opening = self._text.text[start]
        self._faults.add(
            TextFault(
                "unclosed",
                f"'{chr(opening)}' is never closed. Add '{chr(PARTNERS[opening])}'.",
                self._text.place(start, start + 1),
            )
        )
