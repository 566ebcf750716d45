"""Code in pieces: the chunks of a document or the cells of a notebook, which share variables."""

from __future__ import annotations

from netsharp_lsp.embedded.code.evidence import HINT
from netsharp_lsp.embedded.code.piece import regions_of
from netsharp_lsp.embedded.python.legible import says_something
from netsharp_lsp.text.lines import LineIndex

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import TypeAlias

    from netsharp_lsp.embedded.code.piece import Code
    from netsharp_lsp.embedded.passage import Passage
    from netsharp_lsp.embedded.regions import Region

    Reader: TypeAlias = Callable[[bytes, Callable[[int], int], Passage | None], Code]


def find_in_code(language: str, data: bytes) -> list[Region]:
    """Return the specifications of a whole file of Python or R."""
    if HINT.search(data) is None:
        return []
    if language == "python" and not says_something(data):
        return []
    lines = LineIndex(data)
    return regions_of([_reader(language)(data, lambda at: lines.line_at(at) + 1, None)])


def find_in_chunks(host: bytes, chunks: Sequence[tuple[str, Passage]]) -> list[Region]:
    """Return the specifications of chunks, each in "python" or "r", in a host text."""
    found: list[Region] = []
    lines = LineIndex(host)
    for language in sorted({language for language, _ in chunks}):
        passages = [passage for own, passage in chunks if own == language]
        if any(HINT.search(passage.text) for passage in passages):
            read = _reader(language)
            codes = [
                read(passage.text, _line_counter(lines, passage), passage) for passage in passages
            ]
            found += regions_of(codes)
    return found


def _reader(language: str) -> Reader:
    if language == "python":
        from netsharp_lsp.embedded.python.finder import read_python

        return read_python
    from netsharp_lsp.embedded.r.finder import read_r

    return read_r


def _line_counter(lines: LineIndex, passage: Passage) -> Callable[[int], int]:
    """The line in the host, from 1, of an offset in a passage."""

    def line_of(offset: int) -> int:
        level: Passage | None = passage
        while level is not None:
            offset = level.outer(offset)
            level = level.parent
        return lines.line_at(offset) + 1

    return line_of
