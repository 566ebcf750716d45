"""Rules about statements: separators, node groups, numbers."""

from __future__ import annotations

import re

from netsharp_lsp.cntk.migration.networks.functions import GROUPS
from netsharp_lsp.cntk.migration.rules import AUTOMATIC, rule
from netsharp_lsp.cntk.ndl.syntax import Array, Definition, NdlAssignment

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from netsharp_lsp.cntk.migration.editing.edits import Edit
    from netsharp_lsp.cntk.migration.editing.texts import Text
    from netsharp_lsp.cntk.migration.networks.network import MigratedNetwork
    from netsharp_lsp.cntk.ndl.syntax import Statement

_SEPARATOR = re.compile(rb"[ \t]*[,;]")


def _groups(network: MigratedNetwork) -> Iterator[tuple[Text, NdlAssignment]]:
    """Yield the node groups of a network."""
    for text in network.names.texts:
        for one in text.script.statements:
            if isinstance(one, NdlAssignment) and one.name and one.name.text.lower() in GROUPS:
                yield text, one


@rule("MG21", AUTOMATIC)
def names_of_groups(network: MigratedNetwork) -> Iterator[Edit]:
    """Rename a node group."""
    for text, statement in _groups(network):
        assert statement.name is not None
        name = GROUPS[statement.name.text.lower()]
        if name != statement.name.text:
            yield text.edit("MG21", statement.name.start, statement.name.end, name)


@rule("MG22", AUTOMATIC)
def lists_of_groups(network: MigratedNetwork) -> Iterator[Edit]:
    """Rewrite the list of a node group."""
    for text, statement in _groups(network):
        value = statement.value
        if not isinstance(value, Array):
            continue
        if text.data[value.start : value.start + 1] != b"(":
            yield text.edit("MG22", value.start, value.start + 1, "(")
            yield text.edit("MG22", value.end - 1, value.end, ")")
        for one, other in zip(value.items, value.items[1:], strict=False):
            between = text.data[one.end : other.start]
            at = between.find(b",")
            if at >= 0:
                end = one.end + at + 1
                while text.data[end : end + 1] in (b" ", b"\t"):
                    end += 1
                yield text.edit("MG22", one.end, end, ":")


@rule("MG38", AUTOMATIC)
def numbers(network: MigratedNetwork) -> Iterator[Edit]:
    """Keep variables that are numbers."""
    yield from ()


@rule("MG41", AUTOMATIC)
def separators(network: MigratedNetwork) -> Iterator[Edit]:
    """Replace commas between statements, and several separators by one."""
    for text in network.names.texts:
        yield from _separators(text, text.script.statements, len(text.data))
    for macro in network.names.macros.values():
        body = macro.definition.body
        if body is not None and macro.is_record:
            yield from _separators(macro.text, macro.statements, body.end - 1)


def _separators(text: Text, statements: Sequence[Statement], end: int) -> Iterator[Edit]:
    for number, one in enumerate(statements):
        last = number + 1 == len(statements)
        limit = end if last else _start(text, statements[number + 1])
        marks = list(_SEPARATOR.finditer(text.data, one.end, limit))
        for place, mark in enumerate(marks):
            at = mark.end() - 1
            ends_line = last or b"\n" in text.data[one.end : limit]
            if place == 0 and not ends_line:
                if text.data[at] == 0x2C:
                    yield text.edit("MG41", mark.start(), at + 1, " ;")
            elif place > 0 or text.data[at] == 0x2C:
                yield text.edit("MG41", mark.start(), at + 1, "")


def _start(text: Text, statement: Statement) -> int:
    if isinstance(statement, Definition) or statement.name is None:
        return statement.start
    return statement.name.start
