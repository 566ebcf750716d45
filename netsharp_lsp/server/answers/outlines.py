"""The outline of a text in JSON, written part by part: a part that an edit left unchanged is
not written again, and where only its line has moved, only line numbers are written.

Knows no language.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, NamedTuple

from netsharp_lsp.server.transport.protocol import Written
from netsharp_lsp.text.lines import LineIndex

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from netsharp_lsp.ide.answers import OutlinePart, Symbol
    from netsharp_lsp.server.documents.positions import Ruler
    from netsharp_lsp.server.documents.views import View


class OutlineForm(NamedTuple):
    """A part in JSON with a hole for each line, and the lines, counted from that of its begin."""

    template: str
    lines: tuple[int, ...]

    def at(self, line: int) -> str:
        """Return the JSON of the part where it begins with this line."""
        return self.template % tuple(map(line.__add__, self.lines))


def outline_written(view: View, kinds: Mapping[str, int]) -> Written:
    """Return the outline of a document that is one specification, as the protocol has it."""
    text, ruler = view.lines, view.document.ruler
    key = (ruler.encoding, *kinds.values())
    found = []
    for start, part in view.snapshot.outline():
        if not part.symbols:
            continue
        line = text.line_at(start)
        known = part.written_forms.get(key)
        if known is None:
            writer = _Writer(LineIndex(text.text[start : start + part.size]), ruler, kinds)
            form = writer.form(part)
        elif known[1] != line:
            form = known[0]
        else:
            found.append(known[2])
            continue
        written = form.at(line)
        part.written_forms[key] = (form, line, written)
        found.append(written)
    return Written(f"[{','.join(found)}]")


class _Writer:
    """Writes the symbols of a part, and remembers which lines stand in the holes."""

    def __init__(self, lines: LineIndex, ruler: Ruler, kinds: Mapping[str, int]) -> None:
        self._text = lines
        self._ruler = ruler
        self._kinds = kinds
        self._lines: list[int] = []

    def form(self, part: OutlinePart) -> OutlineForm:
        """Write a part."""
        return OutlineForm(self._all(part.symbols), tuple(self._lines))

    def _all(self, symbols: Iterable[Symbol]) -> str:
        return ",".join(map(self._symbol, symbols))

    def _symbol(self, symbol: Symbol) -> str:
        name, detail = _quoted(symbol.name or "?"), symbol.detail
        place = self._span(symbol.start, symbol.end)
        chosen = self._span(symbol.name_start, symbol.name_end)
        more = f',"detail":{_quoted(detail)}' if detail else ""
        if symbol.children:
            more += f',"children":[{self._all(symbol.children)}]'
        kind = self._kinds[symbol.kind]
        return f'{{"name":{name},"kind":{kind},"range":{place},"selectionRange":{chosen}{more}}}'

    def _span(self, start: int, end: int) -> str:
        (line, column), (end_line, end_column) = self._ruler.places(self._text, start, end)
        self._lines += line, end_line
        return (
            f'{{"start":{{"line":%d,"character":{column}}},'
            f'"end":{{"line":%d,"character":{end_column}}}}}'
        )


def _quoted(words: str) -> str:
    return json.dumps(words).replace("%", "%%")
