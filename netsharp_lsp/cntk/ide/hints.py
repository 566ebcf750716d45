"""Inlay hints: the shape of a node behind its name, where the text does not say it itself."""

from __future__ import annotations

import re

from netsharp_lsp.cntk.ide.nodes import named_nodes, parameters_of, written_shape
from netsharp_lsp.ide.answers import InlayHint

TYPE_CHECKING = False
if TYPE_CHECKING:
    from netsharp_lsp.cntk.ide.edited import Edited
    from netsharp_lsp.cntk.ide.nodes import NamedNode
    from netsharp_lsp.ide.answers import HintOptions

#: No hint is longer.
LONGEST = 30
_NUMBER = re.compile(rb"(?<![\w.])\d+(?![\w.])")
_NAME = re.compile(rb"[A-Za-z_]\w*[ \t]*=[ \t]*[A-Za-z_]\w*[ \t]*(?:[;\r\n}]|\Z)")


def hints_in(edited: Edited, start: int, end: int, options: HintOptions) -> list[InlayHint]:
    """The hints of a range, in order."""
    if not options.shapes and not options.parameters:
        return []
    found = [
        _hint(edited, one, options)
        for at, one in sorted(named_nodes(edited).items())
        if start <= at < end
    ]
    return [hint for hint in found if hint is not None]


def _hint(edited: Edited, named: NamedNode, options: HintOptions) -> InlayHint | None:
    node = named.node
    if not node.shape or 0 in node.shape or _is_other_name(edited, named):
        return None
    words = []
    if options.shapes and not _says(edited, named):
        words.append(f"[{written_shape(node.shape)}]")
    count = parameters_of(node)
    if options.parameters and count:
        words.append(f"{count:,} parameters")
    label = ", ".join(words)
    if len(label) > LONGEST:
        label = words[0]
    if not label or len(label) > LONGEST:
        return None
    axis = "" if node.axis is None else ", for each sample and time step"
    tooltip = f"{node.operation}: [{written_shape(node.shape)}]{axis}"
    return InlayHint(named.name.end, label, "shape", tooltip)


def _says(edited: Edited, named: NamedNode) -> bool:
    """Whether the line that declares a node holds every number of its shape, or it is a number."""
    lines = edited.text.lines
    _, stop = lines.span(lines.line_at(named.name.end))
    numbers = {int(number) for number in _NUMBER.findall(edited.data[named.name.end : stop])}
    shape = named.node.shape or ()
    return all(size == 1 for size in shape) or all(size in numbers for size in shape)


def _is_other_name(edited: Edited, named: NamedNode) -> bool:
    """Whether a name is but another one for a node."""
    return _NAME.match(edited.data, named.name.start) is not None
