"""What can be folded away: groups, bodies, blocks, long tuples, runs of comments.

A closing bracket that begins its line stays to be seen.
"""

from __future__ import annotations

from netsharp_lsp.ide.answers import Fold
from netsharp_lsp.netsharp.reading.expressions import bundles_of, expressions_of, operands
from netsharp_lsp.netsharp.reading.syntax import Blob, LayerItem, Numbers, Tuple
from netsharp_lsp.text.lines import LineIndex

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from netsharp_lsp.ide.answers import Range
    from netsharp_lsp.netsharp.meaning.network import Network
    from netsharp_lsp.netsharp.reading.syntax import Comment, Declaration, Specification


def folds_of(network: Network) -> list[Fold]:
    """All folds in the order of the text; of those that begin on one line only the longest."""
    specification = network.specification
    lines = LineIndex(specification.data)
    found: dict[int, Fold] = {}
    for start, end in _regions(specification):
        _keep(found, lines, Fold(start, _before_closing(specification.data, lines, end)))
    for run in comment_runs(specification, lines):
        _keep(found, lines, Fold(run[0].start, run[-1].end, "comment"))
    return [found[line] for line in sorted(found)]


def _keep(found: dict[int, Fold], lines: LineIndex, fold: Fold) -> None:
    first = lines.line_at(fold.start)
    if lines.line_at(fold.end) > first:
        other = found.get(first)
        if other is None or other.end < fold.end:
            found[first] = fold


def _before_closing(data: bytes, lines: LineIndex, end: int) -> int:
    """The end of the line before a closing bracket that nothing stands before; else its own."""
    line = lines.line_at(end)
    start = lines.span(line)[0]
    if line and end - start >= 1 and not data[start : end - 1].strip():
        return lines.span(line - 1)[1]
    return end


def _regions(specification: Specification) -> Iterator[Range]:
    data = specification.data
    line_end = b"\n" if b"\n" in data else b"\r"
    for declaration in specification.declarations:
        base = specification.starts[declaration]
        if data.find(line_end, base, base + declaration.end) >= 0:
            for start, end in _brackets(declaration):
                yield base + start, base + end


def _brackets(declaration: Declaration) -> Iterator[Range]:
    """The spans from an opening bracket to behind its closing one."""
    if declaration.group is not None:
        yield declaration.group
    for item in declaration.items:
        if isinstance(item, LayerItem) and item.body is not None:
            yield item.body
    for bundle in bundles_of(declaration):
        if bundle.block is not None:
            yield bundle.block
    for node in operands(expressions_of(declaration)):
        if isinstance(node, Tuple | Numbers | Blob):
            yield node.start, node.end


def comment_runs(specification: Specification, lines: LineIndex) -> Iterator[list[Comment]]:
    """Comments on lines of their own that follow each other without a line between them."""
    data = specification.data
    run: list[Comment] = []
    for comment in specification.comments:
        first = lines.line_at(comment.start)
        alone = not data[lines.starts[first] : comment.start].strip()
        if run and alone and first == lines.line_at(run[-1].end) + 1:
            run.append(comment)
            continue
        if run:
            yield run
        run = [comment] if alone or comment.kind == "block" else []
    if run:
        yield run
