"""Nodes by names in a text that do not declare them: in options, and with dots."""

from __future__ import annotations

import re

from netsharp_lsp.cntk.ide.places.blocks import assignment_at, option_at
from netsharp_lsp.cntk.ide.places.nodes import NamedNode
from netsharp_lsp.cntk.ide.places.text import word_at
from netsharp_lsp.cntk.networks.faults import Place

TYPE_CHECKING = False
if TYPE_CHECKING:
    from netsharp_lsp.cntk.ide.places.edited import Edited

_NAME = re.compile(rb"[^\s:\"=;{}\[\]()$#]+")


def listed_node(edited: Edited, offset: int) -> NamedNode | None:
    """Return the node whose name is at an offset in an option that lists nodes."""
    if edited.language != "cntk" or edited.text.island_at(offset) is not None:
        return None
    record = assignment_at(edited, offset)
    if record is None or record.value is None or offset < record.value.start:
        return None
    known = option_at(edited, record)
    if known is None or known[0].kind != "nodes":
        return None
    for match in _NAME.finditer(edited.data, record.value.start, record.value.end):
        if match.start() <= offset <= match.end():
            return _node(edited, match.group().decode("utf-8", "replace"), match.span())
    return None


def dotted_node(edited: Edited, offset: int) -> NamedNode | None:
    """Return the node whose whole name, including dots, ends with the word at an offset."""
    word = word_at(edited.data, offset)
    if word is None or edited.text.island_at(offset) is not None:
        return None
    start = word[1]
    while start > 0 and (_in_path(edited.data[start - 1 : start])):
        start -= 1
    name = edited.data[start : word[2]].decode("utf-8", "replace")
    return _node(edited, name, (word[1], word[2])) if "." in name else None


def _in_path(byte: bytes) -> bool:
    return byte.isalnum() or byte in (b"_", b".")


def _node(edited: Edited, name: str, span: tuple[int, int]) -> NamedNode | None:
    for _, built in edited.networks():
        nodes = built.network.nodes if built.network is not None else {}
        found = next((node for one, node in nodes.items() if one.lower() == name.lower()), None)
        if found is not None:
            return NamedNode(found, Place(edited.name, *span), built)
    return None
