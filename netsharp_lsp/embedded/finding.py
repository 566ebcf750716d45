"""Finds the specifications of a host text; imports the reader of a host when one is met.

A host may contain texts of other hosts, which are searched in turn; reads none of them itself.
"""

from __future__ import annotations

from collections import deque

from netsharp_lsp.embedded.code.evidence import HINT
from netsharp_lsp.embedded.layers import CodeGroup, Holding, HostLayer
from netsharp_lsp.text.extent import refused
from netsharp_lsp.text.lines import LineIndex

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from collections.abc import Callable, Iterator

    from netsharp_lsp.embedded.passage import Passage
    from netsharp_lsp.embedded.regions import Region

    Pattern = re.Pattern[bytes]
    Reader = Callable[[CodeGroup, LineIndex, Pattern], Holding]

_SEVERAL = "it is put together from several strings"
#: No program nests brackets a thousand deep.
_TOO_DEEP = "holds brackets or operators within each other, too deep to be read; simplify them."


def find_regions(language_id: str, data: bytes) -> list[Region] | str:
    """Return the specifications of a host text, in order; none where the id names no host.

    Where the text or one inside it is not parsed, return why: a sentence without the name of the
    host. `data` is UTF-8 without a byte-order mark. Never raises, whatever the text.
    """
    try:
        held = read_layers(language_id, data)
    except RecursionError:
        return _TOO_DEEP
    regions = sorted(held.regions, key=lambda region: region.start)
    for region in regions:
        why = refused(region.text)
        if why is not None:
            line = data.count(b"\n", 0, region.start) + 1
            return f"holds a specification, at line {line}, that {why}"
    return regions


def unknown_lines(language_id: str, data: bytes) -> list[int]:
    """Return the lines, from 1, where a specification is composed when the host runs."""
    try:
        held = read_layers(language_id, data)
    except RecursionError:
        return []
    lines = LineIndex(data)
    starts = [HostLayer(one.text, one).outermost(0) for one in held.unknown]
    return sorted({lines.line_at(start) + 1 for start in starts})


def code_in(language_id: str, data: bytes, hint: Pattern) -> list[CodeGroup]:
    """Return the code of Python and R in a host text and in all host texts in it.

    Strings of T-SQL are only read where `hint` matches. Raises RecursionError for texts that are
    nested too deep.
    """
    found = []
    lines = LineIndex(data)
    waiting = deque([CodeGroup(language_id, [HostLayer(data)])])
    while waiting:
        group = waiting.popleft()
        reader = _READERS.get(group.language)
        if reader is _code:
            found.append(group)
        elif reader is not None:
            waiting.extend(reader(group, lines, hint).programs)
    return found


def read_layers(language_id: str, data: bytes) -> Holding:
    """Return the specifications of a host text and of all host texts in it, without an order.

    Raises RecursionError for texts that are nested too deep.
    """
    found = Holding()
    lines = LineIndex(data)
    waiting = deque([CodeGroup(language_id, [HostLayer(data)])])
    while waiting:
        program = waiting.popleft()
        reader = _READERS.get(program.language)
        if reader is None:
            continue
        held = reader(program, lines, HINT)
        waiting.extend(held.programs)
        found.unknown += held.unknown
        for region in held.regions:
            stretches = list(_stretches(region.passage))
            if any(one.has_unknown(start, end) for one, start, end in stretches):
                found.unknown.append(region.passage)
                continue
            found.regions.append(region)
            if not all(one.is_within_part(start, end) for one, start, end in stretches):
                region.reason = region.reason or _SEVERAL
    return found


def _stretches(passage: Passage) -> Iterator[tuple[Passage, int, int]]:
    """Yield a text and those around it, each with the span of the text in it."""
    yield passage, 0, len(passage.text)
    start, end = passage.start, passage.end
    around = passage.parent
    while around is not None:
        yield around, start, end
        start, end = around.outer(start), around.outer_end(end)
        around = around.parent


def _code(program: CodeGroup, lines: LineIndex, _hint: Pattern) -> Holding:
    from netsharp_lsp.embedded.prose.chunks import read_code

    return read_code(program, lines)


def _markdown(program: CodeGroup, _lines: LineIndex, _hint: Pattern) -> Holding:
    from netsharp_lsp.embedded.prose.markdown import read_document

    return _each(program, read_document)


def _notebook(program: CodeGroup, _lines: LineIndex, _hint: Pattern) -> Holding:
    from netsharp_lsp.embedded.prose.notebook import read_notebook

    return _each(program, read_notebook)


def _sql(program: CodeGroup, _lines: LineIndex, hint: Pattern) -> Holding:
    from netsharp_lsp.embedded.sql.finder import read_sql

    return _each(program, lambda layer: read_sql(layer, hint))


def _each(program: CodeGroup, read: Callable[[HostLayer], Holding]) -> Holding:
    """Return the combined contents of texts that share no variables."""
    all_held = Holding()
    for layer in program.layers:
        held = read(layer)
        all_held.regions += held.regions
        all_held.programs += held.programs
    return all_held


#: The reader of each host language, imported on need.
_READERS: dict[str, Reader] = {
    "python": _code,
    "r": _code,
    "markdown": _markdown,
    "rmd": _markdown,
    "quarto": _markdown,
    "ipynb": _notebook,
    "sql": _sql,
}
