"""Joins texts of code that share their variables into one, with the lines of the file.

Knows layers of hosts; no language.
"""

from __future__ import annotations

from bisect import bisect_right

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from netsharp_lsp.embedded.layers import HostLayer
    from netsharp_lsp.text.lines import LineIndex


class CodePieces:
    """Texts of one language in a file, whose lines are `lines`, one after the other as `text`."""

    __slots__ = ("_layers", "_lines", "_starts", "text")

    def __init__(self, layers: Sequence[HostLayer], lines: LineIndex) -> None:
        self._layers = layers
        self._lines = lines
        self._starts = [0]
        for layer in layers[:-1]:
            self._starts.append(self._starts[-1] + len(layer.text) + 1)
        self.text = b"\n".join(layer.text for layer in layers)

    def line_of(self, offset: int) -> int:
        """Return the line in the file, from 1, of an offset."""
        layer, within = self._within(offset)
        return self._lines.line_at(layer.outermost(within)) + 1

    def has_unknown(self, start: int, end: int) -> bool:
        """Return whether a part between two offsets is known only when the host runs."""
        layer, first = self._within(start)
        return layer.has_unknown(first, first + end - start)

    def each(self) -> list[CodePieces]:
        """Return each text by itself."""
        return [CodePieces([layer], self._lines) for layer in self._layers]

    def _within(self, offset: int) -> tuple[HostLayer, int]:
        number = bisect_right(self._starts, offset) - 1
        layer = self._layers[number]
        return layer, min(offset - self._starts[number], len(layer.text))
