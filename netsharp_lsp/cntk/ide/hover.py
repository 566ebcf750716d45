"""Hover texts for the words at a place: nodes, functions, options, variables, keywords."""

from __future__ import annotations

from netsharp_lsp.cntk.configuration.options import block
from netsharp_lsp.cntk.ide.meanings.descriptions import of_edit, of_library, of_ndl
from netsharp_lsp.cntk.ide.meanings.glossary import ndl_signature, option_markdown
from netsharp_lsp.cntk.ide.meanings.words import (
    CLASSES,
    MEMBERS,
    SPECIAL,
    argument_words,
    property_meaning,
    tag_meaning,
)
from netsharp_lsp.cntk.ide.pages.declarations import declared_markdown
from netsharp_lsp.cntk.ide.pages.node_pages import node_markdown
from netsharp_lsp.cntk.ide.pages.options import block_markdown, brief, key_markdown, value_markdown
from netsharp_lsp.cntk.ide.places.blocks import assignment_at
from netsharp_lsp.cntk.ide.places.calls import call_at, form_of, macro_named, name_of
from netsharp_lsp.cntk.ide.places.listed_nodes import dotted_node, listed_node
from netsharp_lsp.cntk.ide.places.nodes import named_nodes
from netsharp_lsp.cntk.ide.places.sections import KEYS
from netsharp_lsp.cntk.ide.places.text import nodes_at, word_at
from netsharp_lsp.cntk.mel.functions import meant
from netsharp_lsp.cntk.ndl.functions import function_of
from netsharp_lsp.cntk.reading.syntax import ConfigurationCall
from netsharp_lsp.cntk.vocabulary import VARIABLE
from netsharp_lsp.ide.answers import Hover

TYPE_CHECKING = False
if TYPE_CHECKING:
    from netsharp_lsp.cntk.ide.naming.occurrence import Occurrence
    from netsharp_lsp.cntk.ide.places.edited import Edited

#: What the words of BrainScript itself do.
WORDS = {
    "new": "Creates an object of a class of CNTK's: `new ComputationNetwork { ... }`.",
    "if": "`if condition then a else b`: only the chosen branch is evaluated.",
    "then": "The value if the condition before it is true.",
    "else": "The value if the condition is false; it extends as far as it can be parsed.",
    "include": 'Includes another file here: `include "path"`.',
    "array": "`array[first..last] (i => value)`: both bounds are included.",
    "with": "Would join two records; CNTK parses it and cannot evaluate it.",
    "true": "The truth value true.",
    "false": "The truth value false.",
}


def hover_at(edited: Edited, offset: int) -> Hover | None:
    """Return the hover at an offset; None in comments and where nothing is known."""
    if any(start <= offset < end for start, end in edited.text.comments):
        return None
    return (
        _variable(edited, offset)
        or _name(edited, offset)
        or _function(edited, offset)
        or _argument(edited, offset)
        or _option(edited, offset)
        or _word(edited, offset)
        or _any_key(edited, offset)
    )


def _any_key(edited: Edited, offset: int) -> Hover | None:
    """Return the hover of a key that syntax alone does not show as one: a single word, or glued
    text.
    """
    found = edited.occurrence_at(offset)
    if found is None or found.kind != "key" or edited.language != "cntk":
        return None
    value = edited.main.configuration.root.look_up(found.name.encode())
    shown = "" if value is None else f" = `{brief(value.text.text)}`"
    return Hover(f"**{found.name}**{shown}", found.start, found.end)


def _variable(edited: Edited, offset: int) -> Hover | None:
    """Return the hover of `$name$`: its value, and where that is written."""
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
                text = f"**${words}$** = `{brief(found.text.text)}`\n\nWritten at {place}."
            return Hover(text, match.start(), match.end())
    return None


def _name(edited: Edited, offset: int) -> Hover | None:
    found = edited.occurrence_at(offset)
    if found is None or found.kind == "library":
        return None
    if found.kind == "key":
        text = "" if found.declares else block_markdown(edited, found.name)
        return Hover(text, found.start, found.end) if text else None
    if found.name.lower() in SPECIAL and found.kind in ("member", "node"):
        text = f"**{found.name}**: {SPECIAL[found.name.lower()]}"
        return Hover(text, found.start, found.end)
    node = dotted_node(edited, offset)
    if node is not None:
        return Hover(node_markdown(node), found.start, found.end)
    known = named_nodes(edited)
    for one in edited.same(found):
        if one.declares and one.file == edited.name and one.start in known:
            return Hover(node_markdown(known[one.start]), found.start, found.end)
    return _declared(edited, found, offset)


def _declared(edited: Edited, found: Occurrence, offset: int) -> Hover | None:
    """Return the hover of a function, a parameter, or a name without a node of its own."""
    form = ""
    if found.kind == "macro":
        macro = macro_named(edited, found.name)
        form = macro.form if macro is not None else ""
    for _, program, source, inner in edited.inside(offset):
        use = program.program.use_at(source, inner)
        declaration = program.program.declaration_at(source, inner)
        meant_here = declaration or (use.declaration if use is not None else None)
        if meant_here is not None and meant_here.parameters is not None:
            form = form_of(program, meant_here)
    return Hover(declared_markdown(edited, found, form), found.start, found.end)


def _function(edited: Edited, offset: int) -> Hover | None:
    """Return the hover of a function of the library, of NDL or of MEL."""
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
        if (
            isinstance(node, ConfigurationCall)
            and node.function.start <= offset <= node.function.end
        ):
            text = _of_call(edited, node.function.text)
            if text:
                return Hover(text, node.function.start, node.function.end)
    return None


def _of_call(edited: Edited, name: str) -> str:
    """Return the signature of a function of MEL or NDL, and its description."""
    edit = meant(name) if edited.language == "mel" else None
    if edit is not None:
        return f"```mel\n{edit.form}\n```\n\n{of_edit(edit.name)}"
    function = function_of(name)
    if function is None:
        return ""
    return f"```ndl\n{ndl_signature(function)}\n```\n\n{of_ndl(function.name)}"


def _argument(edited: Edited, offset: int) -> Hover | None:
    """Return the hover of an argument's name, or of a word with a meaning as its value."""
    call = call_at(edited, offset)
    word = word_at(edited.data, offset)
    if call is None or word is None:
        return None
    text, start, end = word
    if call.language == "mel" and property_meaning(text):
        return Hover(f"**{text}**: {property_meaning(text)}", start, end)
    parameter = call.parameter
    name = name_of(parameter)
    if not name:
        return None
    if call.named and text.lower() == call.named.lower():
        meaning = call.meaning
        description = f"\n\n{meaning[0].upper()}{meaning[1:]}." if meaning else ""
        return Hover(f"`{parameter}`: argument of `{call.name}`{description}", start, end)
    tag = tag_meaning(text) if name == "tag" else None
    if tag is not None:
        return Hover(f"**{tag[0]}**: {tag[1]}", start, end)
    words = argument_words(name, call.language)
    for known, description in words.items():
        if known.lower() == text.lower():
            return Hover(f"**{known}**: {description}", start, end)
    return None


def _option(edited: Edited, offset: int) -> Hover | None:
    """Return the hover of an option's key, or of its value."""
    if edited.language == "ndl":
        return _ndl_key(edited, offset)
    if edited.language != "cntk" or edited.text.island_at(offset) is not None:
        return None
    record = assignment_at(edited, offset)
    if record is None:
        return None
    if record.name.start <= offset <= record.name.end:
        text = key_markdown(edited, record)
        return Hover(text, record.name.start, record.name.end)
    node = listed_node(edited, offset)
    if node is not None:
        return Hover(node_markdown(node), node.name.start, node.name.end)
    word = word_at(edited.data, offset)
    text = "" if word is None else value_markdown(edited, record, word[0])
    return Hover(text, word[1], word[2]) if word is not None and text else None


def _ndl_key(edited: Edited, offset: int) -> Hover | None:
    """Return the hover of a key at the top of a file of NDL."""
    record = assignment_at(edited, offset)
    table = block("NDLNetworkBuilder")
    if record is None or table is None or not record.name.start <= offset <= record.name.end:
        return None
    option = table.find(record.name.text) if record.name.text.lower() in KEYS else None
    if option is None:
        return None
    return Hover(option_markdown(option, table), record.name.start, record.name.end)


def _word(edited: Edited, offset: int) -> Hover | None:
    """Return the hover of a keyword of BrainScript, or of a member of nodes."""
    word = word_at(edited.data, offset) if edited.text.island_at(offset) is not None else None
    if word is None:
        return None
    text, start, end = word
    if edited.data[start - 1 : start] == b".":
        description = MEMBERS.get(text)
        return Hover(f"**{text}**: {description}", start, end) if description else None
    if text in CLASSES and edited.data[:start].rstrip().endswith(b"new"):
        return Hover(f"**{text}**: {CLASSES[text]}", start, end)
    return Hover(f"**{text}**: {WORDS[text]}", start, end) if text in WORDS else None
