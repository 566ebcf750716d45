"""Code of Python and R: whole files, the chunks of a document or the cells of a notebook.

The texts of one program share their variables.
"""

from __future__ import annotations

from netsharp_lsp.embedded.code.evidence import HINT
from netsharp_lsp.embedded.code.piece import regions_of
from netsharp_lsp.embedded.layers import Holding
from netsharp_lsp.embedded.python.legible import has_code

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeAlias

    from netsharp_lsp.embedded.code.piece import Code
    from netsharp_lsp.embedded.layers import CodeGroup
    from netsharp_lsp.embedded.passage import Passage
    from netsharp_lsp.text.lines import LineIndex

    Reader: TypeAlias = Callable[[bytes, Callable[[int], int], Passage | None], Code]


def read_code(program: CodeGroup, lines: LineIndex) -> Holding:
    """Return the contents of a program of Python or R; `lines` are those of the file."""
    layers = program.layers
    if not any(HINT.search(layer.text) for layer in layers):
        return Holding()
    if program.language == "python" and not any(has_code(layer.text) for layer in layers):
        return Holding()
    read = _reader(program.language)
    codes = [read(layer.text, layer.line_counter(lines), layer.passage) for layer in layers]
    return Holding(regions_of(codes))


def _reader(language: str) -> Reader:
    if language == "python":
        from netsharp_lsp.embedded.python.finder import read_python

        return read_python
    from netsharp_lsp.embedded.r.finder import read_r

    return read_r
