"""Completion in NDL and MEL: functions, declared names, options of a call."""

from __future__ import annotations

import re

from netsharp_lsp.cntk.configuration.meaning.tree import network_sections
from netsharp_lsp.cntk.ide.completion import arguments
from netsharp_lsp.cntk.ide.completion.place import since
from netsharp_lsp.cntk.ide.meanings.words import SPECIAL
from netsharp_lsp.cntk.ide.places.calls import macro_named
from netsharp_lsp.cntk.ide.places.nodes import written_shape
from netsharp_lsp.cntk.ide.places.text import nodes_at
from netsharp_lsp.cntk.mel.functions import FUNCTIONS as EDITS
from netsharp_lsp.cntk.mel.functions import MODEL, NEW_NODE, NODE
from netsharp_lsp.cntk.ndl.functions import FUNCTIONS
from netsharp_lsp.cntk.ndl.syntax import NdlAssignment, NdlCall
from netsharp_lsp.cntk.reading.syntax import Assignment, Block

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from netsharp_lsp.cntk.ide.completion.place import Writing
    from netsharp_lsp.cntk.ide.naming.occurrence import Occurrence
    from netsharp_lsp.cntk.ide.places.calls import CalledMacro
    from netsharp_lsp.cntk.ide.places.edited import Edited
    from netsharp_lsp.cntk.networks.node import Node
    from netsharp_lsp.ide.answers import Completion, Range

#: The bytes before the name of a statement.
_STATEMENT = (b"", b"{", b"[", b";")
_GROUPS = ("FeatureNodes", "LabelNodes", "CriterionNodes", "EvalNodes", "OutputNodes")
_CALL = re.compile(rb"[ \t]*=[ \t]*([A-Za-z_]\w*)[ \t]*\(")


def is_network(edited: Edited, offset: int) -> bool:
    """Return whether an offset of a configuration is in a section that NDL reads."""
    sections = network_sections(edited.main.configuration.root)
    document = edited.text.document_at(offset)
    builder = False
    for node in nodes_at(document.records if document is not None else (), offset):
        if not isinstance(node, Assignment):
            continue
        name = node.name.text.lower()
        inside = offset > node.name.end
        if inside and (name.encode() in sections or (builder and isinstance(node.value, Block))):
            return True
        builder = builder or name == "ndlnetworkbuilder"
    return False


def proposals(edited: Edited, writing: Writing) -> Iterator[Completion]:
    """Yield the completions at an offset of NDL or MEL."""
    if writing.before == b".":
        yield from _members(edited, writing)
        return
    if writing.string is not None:
        return
    listed = _sections(edited, writing)
    if listed is not None:
        yield from listed
        return
    what = arguments.kind_of_mel(edited, writing)
    if what is not None:
        yield from arguments.names(edited, writing)
        if what in (MODEL, NODE, NEW_NODE):
            models_only = what == MODEL
            yield from (
                one
                for one in _declared(edited, writing, macros=False)
                if not models_only or one.detail == "model"
            )
        return
    yield from arguments.names(edited, writing)
    yield from _declared(edited, writing)
    if writing.before in _STATEMENT:
        yield from _special(edited, writing)
    if writing.before in (*_STATEMENT, b"=", b"(", b","):
        yield from _functions(edited, writing)
    if edited.language == "mel" and writing.before in (*_STATEMENT, b"="):
        for edit in EDITS:
            slots = ", ".join(
                f"${{{number}:{name}}}" for number, (name, _) in enumerate(edit.parameters, 1)
            )
            insert, topic = f"{edit.name}({slots})$0", f"mel:{edit.name}"
            yield writing.proposal(edit.name, "function", 2, insert, detail=edit.form, topic=topic)


def _sections(edited: Edited, writing: Writing) -> list[Completion] | None:
    """Return the sections of a file, where `run` or `load` lists them; None elsewhere."""
    line = edited.text.lines.span(edited.text.lines.line_at(writing.start))[0]
    key = edited.data[line : writing.start].partition(b"=")[0].strip().lower()
    if (
        key not in (b"run", b"load")
        or edited.language != "ndl"
        or writing.before
        not in (
            b"=",
            b":",
        )
    ):
        return None
    document = edited.text.document
    return [
        writing.proposal(one.name.text, "section", 0)
        for one in (document.records if document is not None else ())
        if isinstance(one, Assignment) and isinstance(one.value, Block)
    ]


def _functions(edited: Edited, writing: Writing) -> Iterator[Completion]:
    """Yield the functions of NDL that no macro hides."""
    macros = {one.name.lower() for one in edited.declarations if one.kind == "macro"}
    for function in FUNCTIONS.values():
        if function.name.lower() not in macros and edited.main.may_have(function.known):
            insert = _call(function.name, function.signature[: max(1, function.fewest)])
            detail = since(f"({', '.join(function.signature)})", function.known)
            topic = f"ndl:{function.name}"
            yield writing.proposal(function.name, "function", 3, insert, detail=detail, topic=topic)


def _call(name: str, words: Iterable[str]) -> str:
    slots = ", ".join(f"${{{number}:{word}}}" for number, word in enumerate(words, 1))
    return f"{name}({slots})$0"


def _members(edited: Edited, writing: Writing) -> Iterator[Completion]:
    """Yield what can follow the dots: nodes of a model, names in a macro that was called."""
    start = writing.start
    while start > 0 and (
        edited.data[start - 1 : start].isalnum() or edited.data[start - 1 : start] in (b"_", b".")
    ):
        start -= 1
    path = edited.data[start : writing.start].decode("utf-8", "replace").strip(".").split(".")
    models = {one.name.lower() for one in edited.declarations if one.kind == "model"}
    if path[0].lower() in models:
        path = path[1:]
        if not path:
            yield from (
                one
                for one in _declared(edited, writing, macros=False)
                if one.label.lower() not in models
            )
            return
    macro = macro_named(edited, _called(edited, path[0])) if path else None
    for name in path[1:]:
        inner = _assigned(macro).get(name.lower()) if macro is not None else None
        macro = macro_named(edited, inner.name.text) if isinstance(inner, NdlCall) else None
    shapes = _shapes(edited, ".".join(path))
    for name in _names(macro):
        yield writing.proposal(name, "node", 0, detail=shapes.get(name.lower(), ""))


def _called(edited: Edited, name: str) -> str:
    """Return the function whose call is the value of an NDL name; empty where there is none."""
    for one in edited.declarations:
        if one.kind == "node" and one.name.lower() == name.lower():
            data = edited.read(one.file) or b""
            found = _CALL.match(data, one.end)
            if found is not None:
                return found.group(1).decode()
    return ""


def _assigned(macro: CalledMacro) -> dict[str, object]:
    body = macro.definition.body
    return {
        one.name.text.lower(): one.value
        for one in (body.statements if body is not None else ())
        if isinstance(one, NdlAssignment) and one.name is not None
    }


def _names(macro: CalledMacro | None) -> Iterator[str]:
    """Yield the names that a macro declares, as they are spelt."""
    body = macro.definition.body if macro is not None else None
    for one in body.statements if body is not None else ():
        if isinstance(one, NdlAssignment) and one.name is not None:
            yield one.name.text


def _shapes(edited: Edited, path: str) -> dict[str, str]:
    """Return the kinds and shapes of the nodes below a name."""
    found = {}
    for _, built in edited.last_evaluated.networks():
        for node in built.network.nodes.values() if built.network is not None else ():
            above, _, name = node.name.lower().rpartition(".")
            if above == path.lower():
                found[name] = _shape(node)
    return found


def _special(edited: Edited, writing: Writing) -> Iterator[Completion]:
    """Yield the groups of nodes that CNTK looks for."""
    if edited.language == "mel" or _macro_at(edited, writing.start) is not None:
        return
    for name in _GROUPS:
        plain = name if writing.assigned else f"{name} = "
        insert = "" if writing.assigned else f"{name} = ($0)"
        description = SPECIAL[name.lower()]
        yield writing.proposal(name, "attribute", 2, insert, plain=plain, detail=description)


def _declared(edited: Edited, writing: Writing, macros: bool = True) -> Iterator[Completion]:
    """Yield nodes, macros, and the names inside the macro that is being written."""
    nodes = _nodes(edited)
    macro = _macro_at(edited, writing.start)
    seen = {writing.word.lower()} if writing.assigned else set()
    for one in edited.declarations:
        own = one.key[0] in ("ndl", "mel") and one.kind != "section"
        of_model = edited.language == "mel" and one.kind == "member"
        if not (own or of_model) or one.name.lower() in seen:
            continue
        local = one.kind in ("local", "parameter")
        inside = macro is not None and macro[0] <= one.start < macro[1]
        if local and not (inside and one.file == edited.name):
            continue
        if not local and macro is not None and one.kind != "macro":
            continue
        if one.kind == "macro" and not macros:
            continue
        seen.add(one.name.lower())
        is_node = one.key[0] == "ndl" and one.kind == "node" and one.file == edited.name
        node = nodes.get(one.name.lower()) if is_node else None
        yield _proposal(edited, writing, one, "" if node is None else _shape(node))


def _nodes(edited: Edited) -> dict[str, Node]:
    """Return the nodes of NDL networks by name in lower case, as far as they are known."""
    found: dict[str, Node] = {}
    for _, built in edited.last_evaluated.networks():
        if built.language == "ndl" and built.network is not None:
            found = {name.lower(): one for name, one in built.network.nodes.items()} | found
    return found


def _shape(node: Node) -> str:
    return f"{node.operation} [{written_shape(node.shape)}]"


def _proposal(edited: Edited, writing: Writing, one: Occurrence, detail: str) -> Completion:
    if one.kind != "macro":
        is_model = one.kind == "model"
        return writing.proposal(one.name, "node", 1, detail="model" if is_model else detail)
    found = macro_named(edited, one.name)
    if found is None:
        return writing.proposal(one.name, "function", 1)
    words = [word.text for word in found.definition.parameters]
    return writing.proposal(
        one.name, "function", 1, _call(one.name, words), detail=f"({', '.join(words)})"
    )


def _macro_at(edited: Edited, offset: int) -> Range | None:
    """Return the span of the innermost macro around an offset."""
    found: Range | None = None
    for text in edited.main.ndl_texts:
        for one in text.ndl.definitions():
            place = text.ndl.place(one.start, one.end)
            inside = place.start <= offset <= place.end
            if inside and edited.is_here(edited.main, place.source):
                found = place.start, place.end
    return found
