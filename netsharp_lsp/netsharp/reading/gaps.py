"""The marks that one declaration lacks, and what hides or explains such a gap; pure syntax."""

from __future__ import annotations

from bisect import bisect_left

from netsharp_lsp.netsharp.reading.mistakes import unreadable_filter
from netsharp_lsp.text.spans import Spans

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from netsharp_lsp.netsharp.reading.syntax import Declaration, Fault, Tuple

#: Tokens of a plain tuple's inside.
VALUES = frozenset(("number", "identifier", ",", "+", "-", "*", "/", "^", "[", "]"))


class Gaps:
    """The faults "missing" of a declaration in text order, indexed for queries."""

    def __init__(self, declaration: Declaration) -> None:
        faults = sorted(declaration.faults, key=lambda fault: fault.start)
        self.missing = [fault for fault in faults if fault.kind == "missing"]
        self._closed = {fault.start for fault in self.missing if fault.text == "]"}
        self._brackets = {fault.start for fault in self.missing if fault.text in ("]", ")")}
        self._values = [
            (fault.start, fault.end)
            for fault in faults
            if fault.kind == "unexpected" and all(kind in VALUES for kind, _, _ in fault.tokens)
        ]
        self._explained = Spans(
            (fault.start, declaration.end if unreadable_filter(fault) else fault.end + 1)
            for fault in faults
            if fault.kind in ("unexpected", "incomplete")
        )

    def explained(self, missing: Fault) -> bool:
        """Return whether unparsed text, or a missing bracket, is right before a gap."""
        if missing.text == ";" and missing.start in self._brackets:
            return True
        return self._explained.touches(missing.start, missing.start)

    def closes(self, size: Tuple) -> bool:
        """Return whether a tuple has its closing bracket."""
        return size.end not in self._closed

    def values_before(self, bracket: Fault) -> Iterator[tuple[int, int]]:
        """Yield unplaced values before a missing `]`: `[10 tanh from`."""
        if bracket.text != "]" or bracket.opener is None:
            return
        first = bisect_left(self._values, (bracket.opener[1], 0))
        for span in self._values[first:]:
            if span[1] > bracket.start:
                return
            yield span

    def lost_values(self) -> list[tuple[int, int]]:
        """Return all such values of the declaration."""
        return [span for bracket in self.missing for span in self.values_before(bracket)]
