"""What may be written in NDL and MEL: functions, names that are declared, options of a call."""

from __future__ import annotations

from netsharp_lsp.cntk.configuration.tree import network_sections
from netsharp_lsp.cntk.ide.calls import call_at
from netsharp_lsp.cntk.ide.nodes import named_nodes, written_shape
from netsharp_lsp.cntk.ide.text import nodes_at
from netsharp_lsp.cntk.mel.functions import FUNCTIONS as EDITS
from netsharp_lsp.cntk.ndl.functions import FUNCTIONS
from netsharp_lsp.cntk.reading.syntax import Assignment, Macro

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from netsharp_lsp.cntk.ide.completion.place import Writing
    from netsharp_lsp.cntk.ide.edited import Edited
    from netsharp_lsp.ide.answers import Completion


def is_network(edited: Edited, offset: int) -> bool:
    """Whether an offset of a configuration stands in a section that NDL reads."""
    sections = network_sections(edited.main.configuration.root)
    document = edited.text.document
    for node in nodes_at(document.records if document is not None else (), offset):
        if isinstance(node, Assignment) and node.name.text.lower().encode() in sections:
            return offset > node.name.end
    return False


def proposals(edited: Edited, writing: Writing) -> Iterator[Completion]:
    """What may be written at an offset of NDL or MEL."""
    call = call_at(edited, writing.start)
    if call is not None and writing.before in (b"(", b","):
        for parameter in call.parameters:
            name, equals, default = parameter.partition("=")
            if equals:
                detail = f"without it {default}"
                insert = f"{name}=$0"
                yield writing.proposal(
                    f"{name}=", "attribute", 0, insert, plain=f"{name}=", detail=detail
                )
    yield from _declared(edited, writing)
    if writing.before in (b"=", b"(", b",", b"", b"{", b"[", b";"):
        macros = {one.name.lower() for one in edited.occurrences if one.kind == "macro"}
        for function in FUNCTIONS.values():
            if function.name.lower() in macros:
                continue
            slots = ", ".join(
                f"${{{number}:{word}}}" for number, word in enumerate(function.signature, 1)
            )
            detail = f"({', '.join(function.signature)})"
            insert = f"{function.name}({slots})$0"
            topic = f"ndl:{function.name}"
            yield writing.proposal(function.name, "function", 3, insert, detail=detail, topic=topic)
    if edited.language == "mel" and writing.before in (b"", b"=", b";"):
        for edit in EDITS:
            insert, topic = f"{edit.name}($0)", f"mel:{edit.name}"
            yield writing.proposal(edit.name, "function", 2, insert, detail=edit.form, topic=topic)


def _declared(edited: Edited, writing: Writing) -> Iterator[Completion]:
    """Nodes, macros, and the names inside the macro that is written."""
    shapes = {
        one.name.start: f"{one.node.operation} [{written_shape(one.node.shape)}]"
        for one in named_nodes(edited).values()
    }
    macro = _macro_at(edited, writing.start)
    seen = {writing.begun.lower()}
    for one in edited.occurrences:
        if not one.declares or one.key[0] != "ndl" or one.name.lower() in seen:
            continue
        local = one.kind in ("local", "parameter")
        inside = macro is not None and macro.start <= one.start < macro.end
        if local and not (inside and one.file == edited.name):
            continue
        seen.add(one.name.lower())
        kind = "function" if one.kind == "macro" else "node"
        yield writing.proposal(
            one.name,
            "function" if kind == "function" else "node",
            1,
            detail=shapes.get(one.start, ""),
        )


def _macro_at(edited: Edited, offset: int) -> Macro | None:
    document = edited.text.document
    for node in nodes_at(document.records if document is not None else (), offset):
        if isinstance(node, Macro):
            return node
    return None
