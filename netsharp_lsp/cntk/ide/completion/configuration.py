"""Completion in a configuration: keys of the block, values of the option, variables."""

from __future__ import annotations

from netsharp_lsp.cntk.configuration.options import ACTIONS, READERS, TOP, command_block, within
from netsharp_lsp.cntk.ide.completion import templates
from netsharp_lsp.cntk.ide.completion.place import since
from netsharp_lsp.cntk.ide.meanings.words import SPECIAL, option_word
from netsharp_lsp.cntk.ide.places.blocks import around, assignment_at, option_at
from netsharp_lsp.cntk.ide.places.nodes import written_shape
from netsharp_lsp.cntk.ide.places.text import nodes_at
from netsharp_lsp.cntk.networks.node import elements as elements_of
from netsharp_lsp.cntk.networks.node_types import INPUTS
from netsharp_lsp.cntk.reading.syntax import Assignment, Block
from netsharp_lsp.cntk.versions import ALWAYS
from netsharp_lsp.cntk.vocabulary import PLAIN_TRUTHS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from netsharp_lsp.cntk.configuration.options import Option
    from netsharp_lsp.cntk.ide.completion.place import Writing
    from netsharp_lsp.cntk.ide.places.edited import Edited
    from netsharp_lsp.ide.answers import Completion

#: The bytes before a value.
_VALUE = (b"=", b":", b"*", b'"')


def variables(edited: Edited, writing: Writing) -> list[Completion] | None:
    """Return names of variables after a dollar sign; None elsewhere."""
    start = edited.text.lines.span(edited.text.lines.line_at(writing.offset))[0]
    signs = edited.data[start : writing.start].count(b"$")
    if writing.before != b"$" or edited.data[writing.start - 1 : writing.start] != b"$":
        return None
    if signs % 2 == 0:
        return None
    closed = edited.data[writing.end : writing.end + 1] == b"$"
    found = []
    for entry in edited.main.configuration.root:
        if entry.kind in ("text", "string"):
            name = entry.key.decode("utf-8", "replace")
            plain = name if closed else f"{name}$"
            detail = entry.text.raw().decode("utf-8", "replace")[:40]
            insert = plain.replace("$", "\\$")
            found.append(writing.proposal(name, "constant", 0, insert, plain=plain, detail=detail))
    return found


def proposals(edited: Edited, writing: Writing) -> Iterator[Completion]:
    """Yield values after `=`, keys elsewhere."""
    record = assignment_at(edited, writing.start)
    if (
        record is not None
        and isinstance(record.value, Block)
        and (record.value.start < writing.start)
    ):
        record = None
    in_value = record is not None and writing.start > record.name.end
    if record is not None and in_value and writing.before in _VALUE:
        known = option_at(edited, record)
        yield from _values(edited, writing, record.name.text, known[0] if known else None)
        return
    if writing.before in _VALUE and writing.before != b'"':
        line = edited.text.lines.span(edited.text.lines.line_at(writing.start))[0]
        key = edited.data[line : writing.start].partition(b"=")[0].strip()
        option = _known(edited, writing.start, key.decode("utf-8", "replace"))
        yield from _values(edited, writing, key.decode("utf-8", "replace"), option)
        return
    if writing.before in (b"", b"{", b"[", b";", b","):
        yield from _keys(edited, writing)
        yield from templates.in_configuration(edited, writing)


def _known(edited: Edited, offset: int, key: str) -> Option | None:
    here = around(edited, offset)
    return here.table.find(key) if here.table is not None else None


def _keys(edited: Edited, writing: Writing) -> Iterator[Completion]:
    here = around(edited, writing.start)
    present = {entry.key.lower().decode("utf-8", "replace") for entry in here.scope or ()}
    table = here.table
    if table is None:
        begun = _begun(edited, writing.start)
        if begun is None:
            return
        table = command_block(())
        present = {one.name.text.lower() for one in begun.records if isinstance(one, Assignment)}
    present.discard(writing.word.lower())
    own = {option.name for option in table}
    for option in within(table) if table is not TOP else [*table, *_everywhere()]:
        if option.name.lower() in present or option.instead:
            continue
        if not edited.main.may_have(option.known):
            continue
        present.add(option.name.lower())
        rank = 0 if option.required else 1 if option.name in own else 2
        is_block = option.kind in ("block", "blocks")
        insert = f"{option.name} = {{\n    $0\n}}" if is_block else f"{option.name} = $0"
        yield writing.proposal(
            option.name,
            "section" if is_block else "attribute",
            rank,
            "" if writing.assigned else insert,
            plain=option.name if writing.assigned else f"{option.name} = ",
            detail=since(option.description, option.known),
            topic=f"option:{table.name}:{option.name}",
        )
    if table.any_name:
        yield from _streams(edited, writing, present)
    if table is TOP:
        for name in _blockless(edited, present):
            insert = f'{name} = {{\n    action = "${{1:train}}"\n    $0\n}}'
            yield writing.proposal(name, "section", 0, insert, plain=f"{name} = ")


def _begun(edited: Edited, offset: int) -> Block | None:
    """Return the block around an offset if it is at the top level: it is not read yet, as it has no
    option that shows what it is, and a new command begins so.
    """
    document = edited.text.document_at(offset)
    around_it = nodes_at(document.records if document is not None else (), offset)
    blocks = [one for one in around_it if isinstance(one, Block) and one.start < offset < one.end]
    return blocks[0] if len(blocks) == 1 else None


def _streams(edited: Edited, writing: Writing, present: set[str]) -> Iterator[Completion]:
    """Yield streams for the inputs of the networks that have none in the block."""
    seen = set(present)
    for _, built in edited.networks():
        for node in built.network.nodes.values() if built.network is not None else ():
            if node.operation not in INPUTS or node.name.lower() in seen:
                continue
            seen.add(node.name.lower())
            size = elements_of(node.shape) if node.shape else 0
            form = "sparse" if node.operation.startswith("Sparse") else "dense"
            insert = f'{node.name} = {{ dim = {size} ; format = "{form}" }}'
            plain = node.name if writing.assigned else insert
            detail = f"{node.operation} [{written_shape(node.shape)}]"
            yield writing.proposal(node.name, "node", 0, plain=plain, detail=detail)


def _everywhere() -> list[Option]:
    """Return the options that commands inherit from the top level."""
    return [option for option in within(ACTIONS["train"]) if not option.required]


def _blockless(edited: Edited, present: Iterable[str]) -> list[str]:
    """Return commands that are listed and have no block yet."""
    there = set(present)
    listed = (command.name for command in edited.main.commands if command.scope is None)
    return [name for name in listed if name.lower() not in there]


def _values(
    edited: Edited, writing: Writing, key: str, option: Option | None
) -> Iterator[Completion]:
    lowered = key.lower()
    words: list[str] = []
    if lowered == "command":
        root = edited.main.configuration.root
        words = [entry.key.decode("utf-8", "replace") for entry in root if entry.kind == "block"]
    elif lowered in ("run", "load"):
        words = _sections(edited)
    elif lowered == "action":
        words = list(ACTIONS)
    elif lowered == "readertype":
        words = sorted({table.name for table in READERS.values()})
    elif option is not None and option.kind == "truth":
        words = list(PLAIN_TRUTHS)
    elif option is not None and option.kind == "nodes":
        words = _nodes(edited)
    elif option is not None:
        words = [value for value in option.values if value]
    quoted = writing.before == b'"'
    for word in dict.fromkeys(words):
        is_plain = (
            quoted
            or lowered in ("command", "run", "load")
            or word in PLAIN_TRUTHS
            or word.isalnum()
        )
        known = option.word(word) if option is not None else ALWAYS
        if not edited.main.may_have(known):
            continue
        description = since(option_word(key, word), known)
        yield writing.proposal(word if is_plain else f'"{word}"', "value", 0, detail=description)


def _sections(edited: Edited) -> list[str]:
    """Return the blocks at the top level that are not commands: sections of NDL."""
    commands = {command.name.lower() for command in edited.main.commands}
    names = (
        entry.key.decode("utf-8", "replace")
        for entry in edited.main.configuration.root
        if entry.kind == "block"
    )
    return [name for name in names if name.lower() not in commands]


def _nodes(edited: Edited) -> list[str]:
    """Return the computed nodes; where networks cannot be built, the names in their texts."""
    found = [
        name
        for _, built in edited.networks()
        if built.network is not None
        for name, node in built.network.nodes.items()
        if node.inputs and "." not in name
    ]
    return found or [
        one.name
        for one in edited.declarations
        if one.kind in ("member", "node") and one.name.lower() not in SPECIAL
    ]
