"""A network's text evaluated again and compared with the network, as migrations are proven."""

from __future__ import annotations

from typing import TYPE_CHECKING

from netsharp_lsp.cntk.brainscript.evaluation.program import Surroundings, evaluate_file
from netsharp_lsp.cntk.library import own_library
from netsharp_lsp.cntk.networks.copying import copied
from netsharp_lsp.cntk.networks.same import compare
from netsharp_lsp.cntk.writing.attributes import said

if TYPE_CHECKING:
    from collections.abc import Mapping

    from netsharp_lsp.cntk.networks.node import Network
    from netsharp_lsp.cntk.networks.starting import Measure


def no_file(path: str) -> bytes | None:
    """Return that no text is read beside the one that is evaluated."""
    return None


def objection(
    text: bytes, network: Network, renamed: Mapping[str, str], measure: Measure
) -> str | None:
    """Return the first thing in which a text's network differs from another, None where it is the
    same: groups, nodes and their names, inputs, shapes, axes and attributes.

    ``measure`` says what the files of numbers hold that parameters begin with.
    """
    around = Surroundings(no_file, own_library(), measure=measure)
    outcome = evaluate_file(text, "", around)
    if outcome.faults:
        return outcome.faults[0].message
    if outcome.network is None:
        return "it is no network."
    for trouble in outcome.network.troubles:
        return f"'{trouble.node.name}': {trouble.message}"
    found = compare(_in_words(network, renamed), _in_words(outcome.network, {}))
    if found.differences:
        return found.differences[0].message
    for name, other in found.names.items():
        if name != other:
            return f"'{name}' would be called '{other}'."
    return None


def _in_words(network: Network, renamed: Mapping[str, str]) -> Network:
    """The same network with the attributes that a text can say, each as it is in force, and with
    the names that its nodes have there.
    """
    own = copied(network, lambda place: place)
    for node in own.nodes.values():
        node.attributes = dict(said(node))
        node.name = renamed.get(node.name, node.name)
    return own._replace(nodes={node.name: node for node in own.nodes.values()})
