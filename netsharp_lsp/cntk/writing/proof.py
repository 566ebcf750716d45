"""The proof of a network's text: it is evaluated and compared with the network, as migrations are
proven.  Writes nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from netsharp_lsp.cntk.brainscript.evaluation.program import Surroundings, evaluate_file
from netsharp_lsp.cntk.library import own_library
from netsharp_lsp.cntk.networks.copying import copied
from netsharp_lsp.cntk.networks.same import compare
from netsharp_lsp.cntk.writing.attributes import written_attributes

if TYPE_CHECKING:
    from collections.abc import Mapping

    from netsharp_lsp.cntk.networks.node import Network
    from netsharp_lsp.cntk.networks.starting import Measure


def no_file(path: str) -> bytes | None:
    """Return None: no other file exists."""
    return None


def objection(
    text: bytes, network: Network, renamed: Mapping[str, str], measure: Measure
) -> str | None:
    """Return the first difference between a text's network and another, None if they are the same:
    groups, nodes and their names, inputs, shapes, axes and attributes.

    ``measure`` returns the size of files of numbers that parameters start from.
    """
    around = Surroundings(no_file, own_library(), measure=measure)
    outcome = evaluate_file(text, "", around)
    if outcome.faults:
        return outcome.faults[0].message
    if outcome.network is None:
        return "it is not a network."
    for trouble in outcome.network.troubles:
        return f"'{trouble.node.name}': {trouble.message}"
    found = compare(_in_words(network, renamed), _in_words(outcome.network, {}))
    if found.differences:
        return found.differences[0].message
    for name, other in found.names.items():
        if name != other:
            return f"'{name}' would be named '{other}'."
    return None


def _in_words(network: Network, renamed: Mapping[str, str]) -> Network:
    """Return the same network with the effective attributes that a text can express, and with the
    names that its nodes have there.
    """
    own = copied(network, lambda place: place)
    for node in own.nodes.values():
        node.attributes = dict(written_attributes(node))
        node.name = renamed.get(node.name, node.name)
    return own._replace(nodes={node.name: node for node in own.nodes.values()})
