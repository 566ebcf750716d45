"""Folding ranges: groups, bodies, blocks, long tuples, runs of comments."""

from __future__ import annotations

from netsharp_lsp.ide.folds import comment_runs, folds_from
from netsharp_lsp.netsharp.reading.expressions import bundles_of, expressions_of, operands
from netsharp_lsp.netsharp.reading.syntax import Blob, LayerItem, Numbers, Tuple
from netsharp_lsp.text.lines import LineIndex

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from netsharp_lsp.ide.answers import Fold, Range
    from netsharp_lsp.netsharp.meaning.network import Network
    from netsharp_lsp.netsharp.reading.specification import Specification
    from netsharp_lsp.netsharp.reading.syntax import Declaration


def folds_of(network: Network) -> list[Fold]:
    """Return all folds in text order; of those that begin on one line only the longest."""
    specification = network.specification
    lines = LineIndex(specification.data)
    comments = (
        (comment.start, comment.end, comment.kind == "block") for comment in specification.comments
    )
    return folds_from(lines, _regions(specification), comment_runs(lines, comments))


def _regions(specification: Specification) -> Iterator[Range]:
    data = specification.data
    line_end = b"\n" if b"\n" in data else b"\r"
    for declaration in specification.declarations:
        base = specification.starts[declaration]
        if data.find(line_end, base, base + declaration.end) >= 0:
            for start, end in _brackets(declaration):
                yield base + start, base + end


def _brackets(declaration: Declaration) -> Iterator[Range]:
    """Yield the spans from an opening bracket to the end of its closing one."""
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
