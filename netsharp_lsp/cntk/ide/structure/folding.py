"""Folding ranges: blocks, lists, calls, records of BrainScript, runs of comments."""

from __future__ import annotations

from netsharp_lsp.cntk.brainscript.reading import syntax as brainscript
from netsharp_lsp.cntk.ide.places.text import expressions_in, nodes_in
from netsharp_lsp.cntk.reading.syntax import Block, BuilderText, List
from netsharp_lsp.ide.folds import comment_runs, folds_from

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from netsharp_lsp.cntk.ide.places.text import EditedText
    from netsharp_lsp.ide.answers import Fold, Range

_BRACKETED = (brainscript.RecordLiteral, brainscript.ArrayLiteral)


def folds_of(text: EditedText) -> list[Fold]:
    """Return all folds in the order of the text; of those that begin on one line only the
    longest.
    """
    comments = ((start, end, text.data.startswith(b"/*", start)) for start, end in text.comments)
    return folds_from(text.lines, _brackets(text), comment_runs(text.lines, comments))


def _brackets(text: EditedText) -> Iterator[Range]:
    if text.document is not None:
        for node in nodes_in(text.document.records):
            if isinstance(node, Block | List | BuilderText):
                yield node.start, node.end
    for island in text.islands:
        for one in expressions_in(island.script):
            if isinstance(one, brainscript.BrainScriptCall):
                place = one.arguments_place
            elif isinstance(one, _BRACKETED):
                place = one.place
            else:
                continue
            yield island.start + place.start, island.start + place.end
