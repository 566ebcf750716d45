"""Inlay hints: the shape of a node after its name, where the text does not show it itself."""

from __future__ import annotations

import re

from netsharp_lsp.cntk.ide.places.nodes import named_nodes, parameters_of, written_shape
from netsharp_lsp.ide.answers import InlayHint
from netsharp_lsp.text.numbers import whole_number

TYPE_CHECKING = False
if TYPE_CHECKING:
    from netsharp_lsp.cntk.ide.naming.occurrence import Occurrence
    from netsharp_lsp.cntk.ide.places.edited import Edited
    from netsharp_lsp.cntk.ide.places.nodes import NamedNode
    from netsharp_lsp.cntk.networks.node import Node
    from netsharp_lsp.ide.answers import HintOptions

#: The longest label of a hint, in characters.
LONGEST = 30
#: Nodes that are only arguments.
_UNNAMED = re.compile(r"unnamed\d+\Z")
_NUMBER = re.compile(rb"(?<![\w.])\d+(?![\w.])")
_NAME = re.compile(rb"[A-Za-z_]\w*[ \t]*=[ \t]*[A-Za-z_]\w*[ \t]*(?:[;\r\n}]|\Z)")


def hints_in(edited: Edited, start: int, end: int, options: HintOptions) -> list[InlayHint]:
    """Return the hints of a range, in order."""
    if not options.shapes and not options.parameters:
        return []
    known = named_nodes(edited)
    found = [_hint(edited, one, options) for at, one in known.items() if start <= at < end]
    results = _results(edited) if options.shapes else {}
    found += [
        _result(one, results[one.name.lower()])
        for one in edited.occurrences
        if one.declares and one.key[0] == "ndl" and one.kind == "node"
        if one.file == edited.name and start <= one.start < end
        if one.start not in known and one.name.lower() in results
    ]
    return sorted((hint for hint in found if hint is not None), key=lambda hint: hint.offset)


def _results(edited: Edited) -> dict[str, Node]:
    """Return the last nodes that calls of macros create, by the name of the call: these are the
    results.
    """
    found: dict[str, Node] = {}
    for _, built in edited.networks():
        own: dict[str, Node] = {}
        for node in built.network.nodes.values() if built.network is not None else ():
            above, _, name = node.name.lower().rpartition(".")
            before = own.get(above)
            is_later = before is None or node.number > before.number
            if above and "." not in above and is_later and _UNNAMED.match(name) is None:
                own[above] = node
        found = {**own, **found}
    return found


def _result(one: Occurrence, last: Node) -> InlayHint | None:
    if not last.shape or 0 in last.shape:
        return None
    label = f"{last.name.rpartition('.')[2]} [{written_shape(last.shape)}]"
    tooltip = f"{last.name}: {last.operation} [{written_shape(last.shape)}]"
    return InlayHint(one.end, label, "shape", tooltip) if len(label) <= LONGEST else None


def _hint(edited: Edited, named: NamedNode, options: HintOptions) -> InlayHint | None:
    node = named.node
    if not node.shape or 0 in node.shape or _is_other_name(edited, named):
        return None
    words = []
    if options.shapes and not _shows_shape(edited, named):
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


def _shows_shape(edited: Edited, named: NamedNode) -> bool:
    """Return whether the line that declares a node contains every number of its shape, or the node
    is a scalar.
    """
    lines = edited.text.lines
    _, stop = lines.span(lines.line_at(named.name.end))
    written = _NUMBER.findall(edited.data[named.name.end : stop])
    numbers = {whole_number(number.decode()) for number in written}
    shape = named.node.shape or ()
    return all(size == 1 for size in shape) or all(size in numbers for size in shape)


def _is_other_name(edited: Edited, named: NamedNode) -> bool:
    """Return whether a name is only an alias of a node."""
    return _NAME.match(edited.data, named.name.start) is not None
