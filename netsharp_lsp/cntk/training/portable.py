"""The exported network of a model file: its outputs, without criteria and labels."""

from __future__ import annotations

from typing import TYPE_CHECKING

from netsharp_engine.cntk.samples.by_length import samples_by_length
from netsharp_engine.data.errors import nearest
from netsharp_engine.exporting.portable import OF_CNTK, Portable
from netsharp_engine.model_file import ModelError
from netsharp_engine.ops.tensors import SUMS
from netsharp_lsp.cntk.networks.node_types import INPUTS
from netsharp_lsp.cntk.training.networks.lowering import lowered
from netsharp_lsp.cntk.training.refusals import Refused
from netsharp_lsp.cntk.training.stored_models import model_and_numbers, stored_network

if TYPE_CHECKING:
    from collections.abc import Sequence

    from netsharp_lsp.cntk.networks.node import Network, Node


def portable_model(path: str, outputs: Sequence[str]) -> Portable | None:
    """Return the exported part of a model of CNTK's: the nodes that are named, else its outputs.

    None where the file is not a model; ModelError where it is damaged, or a node is not computed.
    """
    opened = model_and_numbers(path)
    if opened is None:
        return None
    stored, values = opened
    network = stored_network(stored, path)
    roots = [_named(network, stored.aliases.get(name, name), path) for name in outputs]
    roots = list(dict.fromkeys(roots)) or exported_nodes(network, stored.outputs)
    if not roots:
        raise ModelError(f"{path} names no output. Name the nodes that you need: --output NODE.")
    try:
        graph = lowered(network, roots)
    except Refused as refusal:
        raise ModelError(f"{path}: {refusal}") from None
    if not graph.inputs:
        raise ModelError(f"{path}: its outputs depend on no input. Name others: --output NODE.")
    inputs = {node.name: node.shape for node in graph.inputs}
    found = {node.name: node for node in graph.nodes}
    return Portable(
        graph,
        {one.name: values[one.name].reshape(one.shape) for one in graph.parameters},
        stored.dtype,
        tuple(found[node.name] for node in roots),
        OF_CNTK,
        lambda files, reading: samples_by_length(inputs, stored.dtype, files, reading),
    )


def _named(network: Network, name: str, path: str) -> Node:
    node = network.nodes.get(name)
    if node is None:
        raise ModelError(f"{path}: no node is called '{name}'.{nearest(name, network.nodes)}")
    return node


def exported_nodes(network: Network, worth: Sequence[str]) -> list[Node]:
    """Return the nodes that an export has as outputs by default: those of the file (``worth`` where
    its groups have none) that are not sums, else those that its criteria compare with labels; none
    where the file has neither.
    """
    groups = network.groups
    named = (network.nodes[name] for name in worth if name in network.nodes)
    found = [node for node in (groups["output"] or named) if node.operation not in SUMS]
    if found:
        return list(dict.fromkeys(found))
    criteria = (*groups["criterion"], *groups["evaluation"])
    compared = (one for node in criteria for one in node.inputs if one.operation not in INPUTS)
    return list(dict.fromkeys(compared))[:1]
