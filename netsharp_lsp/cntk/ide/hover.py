"""What is known about the words at a place: nodes, functions, options, variables, words."""

from __future__ import annotations

import re

from netsharp_lsp.cntk.ide.blocks import assignment_at, option_at, value_in_force
from netsharp_lsp.cntk.ide.calls import form_of
from netsharp_lsp.cntk.ide.descriptions import of_edit, of_library, of_ndl, of_operation
from netsharp_lsp.cntk.ide.glossary import ndl_signature, option_markdown
from netsharp_lsp.cntk.ide.nodes import named_nodes, written_shape
from netsharp_lsp.cntk.ide.occurrences import occurrence_at, same
from netsharp_lsp.cntk.ide.text import nodes_at
from netsharp_lsp.cntk.mel.functions import meant
from netsharp_lsp.cntk.ndl.functions import function_of
from netsharp_lsp.cntk.networks.description import parameters
from netsharp_lsp.cntk.networks.node import GROUPS
from netsharp_lsp.cntk.networks.node_types import multiply_adds
from netsharp_lsp.cntk.reading.syntax import Assignment, Call
from netsharp_lsp.ide.answers import Hover

TYPE_CHECKING = False
if TYPE_CHECKING:
    from netsharp_lsp.cntk.ide.edited import Edited
    from netsharp_lsp.cntk.ide.nodes import NamedNode
    from netsharp_lsp.cntk.ide.occurrence import Occurrence

VARIABLE = re.compile(rb"\$[A-Za-z_][^$\s,/<>?;':\"\[\]{}\\|!@#%^&*()+=~`]*\$")
#: What the words of BrainScript itself do.
WORDS = {
    "new": "Makes an object of a class that the program knows: `new ComputationNetwork { ... }`.",
    "if": "`if condition then a else b`: only the branch that is chosen is evaluated.",
    "then": "What holds where the condition before it is true.",
    "else": "What holds where the condition is not true; it reaches as far as it can be read.",
    "include": 'Reads another file in this place: `include "path"`.',
    "array": "`array[first..last] (i => value)`: both bounds belong to it.",
    "with": "Would join two records; CNTK reads it and cannot evaluate it.",
    "true": "The truth value true.",
    "false": "The truth value false.",
}
#: What names without a node of their own are.
KINDS = {"member": "a value", "node": "a node", "local": "a node of a macro", "macro": "a macro"}
#: A value that is longer is cut off.
WIDTH = 120


def hover_at(edited: Edited, offset: int) -> Hover | None:
    """What is known about the words at an offset; None in comments and where nothing is."""
    if any(start <= offset < end for start, end in edited.text.comments):
        return None
    return (
        _variable(edited, offset)
        or _name(edited, offset)
        or _function(edited, offset)
        or _option(edited, offset)
        or _word(edited, offset)
    )


def _variable(edited: Edited, offset: int) -> Hover | None:
    """`$name$`: what stands for it, and where that is written."""
    line, end = edited.text.lines.span(edited.text.lines.line_at(offset))
    for match in VARIABLE.finditer(edited.data, line, end):
        if match.start() <= offset < match.end():
            name = match.group()[1:-1]
            found = edited.main.configuration.root.look_up(name)
            words = name.decode("utf-8", "replace")
            if found is None:
                text = f"**${words}$**: nothing defines it here."
            else:
                place = found.entry.parts[0].key
                value = _brief(found.text.text)
                text = f"**${words}$** = `{value}`\n\nWritten at {place}."
            return Hover(text, match.start(), match.end())
    return None


def _name(edited: Edited, offset: int) -> Hover | None:
    found = occurrence_at(edited, offset)
    if found is None or found.kind in ("key", "library"):
        return None
    known = named_nodes(edited)
    for one in same(edited, found):
        if one.declares and one.file == edited.name and one.start in known:
            return Hover(node_markdown(known[one.start]), found.start, found.end)
    return _declared(edited, found, offset)


def node_markdown(named: NamedNode) -> str:
    """A node: its shape and where the number comes from, what it reads, what it costs."""
    node = named.node
    shape = written_shape(node.shape)
    lines = [f"**{node.name}**: `{node.operation}` `[{shape}]`", ""]
    if node.inputs:
        words = ", ".join(f"`{one.name}` [{written_shape(one.shape)}]" for one in node.inputs)
        lines.append(f"- reads {words}")
    lines.append(f"- {_axis(named)}")
    count = parameters(node)
    if count:
        product = " x ".join(map(str, node.shape or ()))
        how = "" if node.trainable else ", not trained"
        lines.append(f"- parameters: {product} = {count:,}{how}")
    cost = multiply_adds(node)
    if cost:
        lines.append(f"- multiply-adds for one sample: {cost:,}")
    network = named.built.network
    groups = [g for g in GROUPS if network is not None and node in network.groups.get(g, ())]
    if groups:
        lines.append(f"- belongs to the {' and '.join(groups)} nodes")
    if node.loop is not None:
        lines.append(f"- part of recurrent loop {node.loop}")
    lines += [f"- {name}: `{_plain(value)}`" for name, value in sorted(node.attributes.items())]
    says = of_operation(node.operation)
    return "\n".join([*lines, "", says] if says else lines)


def _axis(named: NamedNode) -> str:
    axis = named.node.axis
    if axis is None:
        return "the same for all samples"
    return "one value for each sample and time step" + (
        "" if axis.name == "*" else f" of {axis.name}"
    )


def _plain(value: object) -> str:
    if isinstance(value, tuple):
        return ":".join(map(_plain, value))
    if isinstance(value, bool):
        return "true" if value else "false"
    return f"{value:g}" if isinstance(value, float) else str(value)


def _declared(edited: Edited, found: Occurrence, offset: int) -> Hover | None:
    """A function, a parameter, or a name without a node of its own."""
    for _, program, source, inner in edited.inside(offset):
        declaration = program.program.declaration_at(source, inner)
        if declaration is not None and declaration.parameters is not None:
            form = form_of(program, declaration)
            return Hover(f"```brainscript\n{form}\n```\n\nDeclared here.", found.start, found.end)
    kind = {"member": "value", "node": "node", "local": "node of a macro"}.get(
        found.kind, found.kind
    )
    return Hover(f"**{found.name}**: {kind}", found.start, found.end)


def _function(edited: Edited, offset: int) -> Hover | None:
    """A function of the library, of NDL or of MEL."""
    for _, program, source, inner in edited.inside(offset):
        use = program.program.use_at(source, inner)
        if use is not None and use.declaration is not None and use.declaration.library:
            name = use.declaration.qualified
            form = f"```brainscript\n{form_of(program, use.declaration)}\n```"
            text = of_library(name) or form
            place = program.outside(use.place)
            return Hover(text, place.start, place.end)
    document = edited.text.document
    for node in nodes_at(document.records if document is not None else (), offset):
        if isinstance(node, Call) and node.function.start <= offset <= node.function.end:
            text = _of_call(edited, node.function.text)
            if text:
                return Hover(text, node.function.start, node.function.end)
    return None


def _of_call(edited: Edited, name: str) -> str:
    """A function of MEL or NDL: its form, and what it does."""
    edit = meant(name) if edited.language == "mel" else None
    if edit is not None:
        return f"```mel\n{edit.form}\n```\n\n{of_edit(edit.name)}"
    function = function_of(name)
    if function is None:
        return ""
    return f"```ndl\n{ndl_signature(function)}\n```\n\n{of_ndl(function.name)}"


def _option(edited: Edited, offset: int) -> Hover | None:
    """The key of an option: what it does, and the value in force."""
    if edited.language != "cntk" or edited.text.island_at(offset) is not None:
        return None
    record = assignment_at(edited, offset)
    if record is None or not record.name.start <= offset <= record.name.end:
        return None
    known = option_at(edited, record)
    lines = [option_markdown(*known)] if known is not None else [f"**{record.name.text}**"]
    lines += _force(edited, record)
    return Hover("\n\n".join(lines), record.name.start, record.name.end)


def _force(edited: Edited, record: Assignment) -> list[str]:
    found = value_in_force(edited, record)
    if found is None or found.entry.kind == "block":
        return []
    place = found.entry.parts[0].value
    here = edited.is_here(edited.main, place.source.name) and place.start >= record.start
    written = "" if here and place.end <= record.end else f", from {place}"
    return [f"In force: `{_brief(found.text.text)}`{written}."]


def _word(edited: Edited, offset: int) -> Hover | None:
    """A word of BrainScript's own."""
    island = edited.text.island_at(offset)
    if island is None:
        return None
    start = end = offset
    while start > 0 and edited.data[start - 1 : start].isalpha():
        start -= 1
    while end < len(edited.data) and edited.data[end : end + 1].isalpha():
        end += 1
    word = edited.data[start:end].decode("utf-8", "replace")
    return Hover(f"**{word}**: {WORDS[word]}", start, end) if word in WORDS else None


def _brief(data: bytes) -> str:
    words = " ".join(data.decode("utf-8", "replace").split())
    return words if len(words) <= WIDTH else f"{words[: WIDTH - 4]} ..."
