"""Completion in BrainScript: names in scope, members after a point, named arguments."""

from __future__ import annotations

import re

from netsharp_lsp.cntk.brainscript.analysis.scopes import GIVEN, INDEX, PARAMETER
from netsharp_lsp.cntk.brainscript.reading.syntax import Lambda, Name, Select
from netsharp_lsp.cntk.ide.completion import arguments, templates
from netsharp_lsp.cntk.ide.completion.place import since
from netsharp_lsp.cntk.ide.meanings.words import MEMBERS
from netsharp_lsp.cntk.ide.meanings.words import SPECIAL as SPECIAL_NODES
from netsharp_lsp.cntk.ide.places.calls import name_of, parameters_of
from netsharp_lsp.cntk.ide.places.nodes import named_nodes, written_shape
from netsharp_lsp.cntk.ide.places.text import expressions_at, expressions_in
from netsharp_lsp.cntk.library.documentation import of
from netsharp_lsp.cntk.library.versions import of_function
from netsharp_lsp.cntk.networks.faults import Place
from netsharp_lsp.cntk.networks.node import GROUPS
from netsharp_lsp.cntk.vocabulary import KEYWORDS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from netsharp_lsp.cntk.brainscript.analysis.scopes import Declaration, Scope
    from netsharp_lsp.cntk.brainscript.reading.syntax import Expression
    from netsharp_lsp.cntk.ide.completion.place import Writing
    from netsharp_lsp.cntk.ide.places.edited import Edited
    from netsharp_lsp.cntk.library.documentation import Entry
    from netsharp_lsp.cntk.networks.node import Node
    from netsharp_lsp.cntk.run.programs import ReadProgram
    from netsharp_lsp.ide.answers import Completion, CompletionKind

#: Names with points between them at the end of a text, and how long they may be.
_PATH = re.compile(rb"[\w.]+\Z")
LONGEST = 400
#: Members that CNTK looks for itself, and no other member reads.
SPECIAL = frozenset(f"{group}Nodes" for group in GROUPS)
#: The bytes before the name of a member that is being declared.
_MEMBER = (b"", b"{", b"[", b";", b"}")


def proposals(edited: Edited, writing: Writing) -> Iterator[Completion]:
    """Yield the completions at an offset of a part in BrainScript; none in a string."""
    if writing.string is not None:
        return
    for _, program, source, inner in edited.inside(_kept(edited, writing.start)):
        scope = _scope(program, source, inner)
        if writing.before == b".":
            yield from _members(edited, writing, (program, scope))
        else:
            yield from arguments.names(edited, writing)
            begins = writing.before in _MEMBER and not writing.assigned
            if writing.before in _MEMBER:
                yield from _special(writing, scope)
            yield from _visible(edited, writing, program, scope)
            empty = _is_network(scope) and not (scope.declared or edited.far)
            yield from templates.in_brainscript(edited, writing, begins=begins, empty=empty)
        return


def _kept(edited: Edited, offset: int) -> int:
    """Return the end of the words before an offset: CNTK removes comments and blank lines."""
    while True:
        end = len(edited.data[:offset].rstrip(b" \t\r\n"))
        comment = edited.text.comment_before(end)
        if comment is None:
            return offset if b"\n" not in edited.data[end:offset] else end
        offset = comment[0]


def _members(
    edited: Edited, writing: Writing, at: tuple[ReadProgram, Scope]
) -> Iterator[Completion]:
    """Yield the members of the record whose name is before the point."""
    program, scope = at
    path = _path_before(edited.data, writing.start)
    expression: Expression | None = None
    nowhere = Place("", 0, 0)
    for name in path:
        known = Name(nowhere, name)
        expression = known if expression is None else Select(nowhere, expression, name, nowhere)
    expression = expression or _record_before(edited, writing.start, program)
    if expression is None:
        return
    members = program.program.members_of(expression, scope)
    for declaration in members.values():
        if declaration.library and declaration.name.startswith("_"):
            continue
        if declaration.library and not edited.main.may_have(of_function(declaration.qualified)):
            continue
        yield _proposal(program, writing, declaration, 0)
    if not members and path:
        for name, description in MEMBERS.items():
            yield writing.proposal(name, "attribute", 1, detail=description)


def _record_before(edited: Edited, offset: int, program: ReadProgram) -> Expression | None:
    """Return the record that ends directly before a point at an offset."""
    for _, other, source, inner in edited.inside(offset):
        text = next((one for one in program.texts if one.name == source), None)
        if other is not program or text is None:
            continue
        for one in expressions_in(text.script):
            if isinstance(one, Select) and one.name_place.start <= inner <= one.name_place.end:
                return one.record
    return None


def _scope(program: ReadProgram, source: str, offset: int) -> Scope:
    """Return the innermost scope around an offset, including that of an anonymous function."""
    best = program.program.scope_at(source, offset)
    text = next((one for one in program.texts if one.name == source), None)
    inner: Lambda | None = None
    for one in expressions_at(text.script, offset) if text is not None else ():
        if isinstance(one, Lambda) and one.body.place.start <= offset <= one.place.end:
            inner = one
    if inner is None or not inner.parameters:
        return best
    at = inner.parameters[0].place
    for declaration in program.program.declarations:
        place = declaration.place
        if place.source == at.source and place.start == at.start and place.end == at.end:
            return best if declaration.scope in best.chain() else declaration.scope
    return best


def _path_before(data: bytes, offset: int) -> list[str]:
    """Return the names with points between them that end directly before an offset."""
    start = offset
    while start > 0 and (
        data[start - 1 : start].isalnum() or data[start - 1 : start] in (b"_", b".")
    ):
        start -= 1
    words = data[start:offset].decode("utf-8", "replace").strip(".")
    return [word for word in words.split(".") if word]


def _special(writing: Writing, scope: Scope) -> Iterator[Completion]:
    """Yield the members that CNTK looks for in a network and that do not exist yet."""
    if not _is_network(scope):
        return
    for group in GROUPS:
        name = f"{group}Nodes"
        if name not in scope.declared:
            insert = "" if writing.assigned else f"{name} = ($0)"
            plain = name if writing.assigned else f"{name} = "
            description = SPECIAL_NODES[name.lower()]
            yield writing.proposal(name, "attribute", 1, insert, plain=plain, detail=description)


def _is_network(scope: Scope) -> bool:
    """Return whether members of a scope are those of the network itself."""
    return scope.parent is not None and scope.parent.parent is None


def _visible(
    edited: Edited, writing: Writing, program: ReadProgram, scope: Scope
) -> Iterator[Completion]:
    """Yield every name in scope; a declaration that is being written is in its own value only in
    loops.
    """
    nodes = {one.node.name: one.node for one in named_nodes(edited.last_evaluated).values()}
    seen = scope.visible()
    far = {one.name: one for one in edited.far or () if one.name not in SPECIAL}
    for name, declaration in seen.items():
        if declaration.library and name in far:
            continue
        if declaration.kind == GIVEN or (declaration.library and name.startswith("_")):
            continue
        if declaration.library and not edited.main.may_have(of_function(declaration.qualified)):
            continue
        if not declaration.library and name in SPECIAL:
            continue
        own = not declaration.library and _is_own(declaration, program, writing)
        if own and writing.before == b"=":
            continue
        rank = 4 if declaration.library else 1 if declaration.kind in (PARAMETER, INDEX) else 2
        yield _proposal(program, writing, declaration, rank, _shown(nodes.get(name)))
    for name in far:
        if name not in seen or seen[name].library:
            yield writing.proposal(name, "node", 2, detail=_shown(nodes.get(name)))
    for word in KEYWORDS:
        if word == "with":
            continue  # CNTK reads it and cannot evaluate it
        yield writing.proposal(word, "keyword", 5)


def _shown(node: Node | None) -> str:
    return "" if node is None else f"{node.operation} [{written_shape(node.shape)}]"


def _is_own(declaration: Declaration, program: ReadProgram, writing: Writing) -> bool:
    """Return whether a name is declared by the text being written: its value would need itself."""
    if declaration.parameters is not None or declaration.index:
        return False
    whole = program.outside(declaration.whole)
    here = whole.start <= writing.start <= whole.end
    return here and declaration.kind not in (PARAMETER, INDEX)


def _proposal(
    program: ReadProgram,
    writing: Writing,
    declaration: Declaration,
    rank: int,
    detail: str = "",
) -> Completion:
    name = declaration.name
    topic = f"library:{declaration.qualified}" if declaration.library else ""
    entry = of(declaration.qualified) if declaration.library else None
    if declaration.parameters is None:
        if entry is not None and entry.signature:
            return _alias(writing, name, rank, entry)
        kind: CompletionKind = "value" if declaration.library else "node"
        return writing.proposal(name, kind, rank, detail=detail, topic=topic)
    if writing.in_argument:
        return writing.proposal(name, "function", rank, topic=topic)
    words = [name_of(one) for one in parameters_of(program, declaration) if "=" not in one]
    slots = ", ".join(f"${{{number}:{word}}}" for number, word in enumerate(words, 1))
    opening, closing = "{}" if declaration.braced else "()"
    insert = f"{name} {opening}{slots}{closing}$0"
    detail = f"{opening}{', '.join(words)}{closing}"
    if declaration.library:
        detail = since(detail, of_function(declaration.qualified))
    return writing.proposal(name, "function", rank, insert, detail=detail, topic=topic)


def _alias(writing: Writing, name: str, rank: int, entry: Entry) -> Completion:
    """Return a proposal for an alias of a function of the library."""
    words = (word for word in entry.parameters if f"{word}=" not in entry.signature)
    needed = ["x" if word == "_" else word for word in words]
    slots = ", ".join(f"${{{number}:{word}}}" for number, word in enumerate(needed, 1))
    detail = since(f"({', '.join(needed)})", of_function(name))
    topic = f"library:{name}"
    insert = "" if writing.in_argument else f"{name} ({slots})$0"
    return writing.proposal(name, "function", rank, insert, detail=detail, topic=topic)
