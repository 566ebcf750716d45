"""Where the sequences of a batch stand, and those of nodes: checked before anything is computed.

It knows graphs and packings, and no array library beyond sizes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from netsharp_engine.graph import Graph, GraphError, Node, SamplesError
from netsharp_engine.ops.tensors import ACROSS, JOINING
from netsharp_engine.packing import Packing, single
from netsharp_engine.program import Batch, Packed, Sparse

if TYPE_CHECKING:
    from netsharp_engine.packing import Indices


class FedSequences(NamedTuple):
    """What a batch says of sequences.

    ``packings`` are those of inputs and targets, ``samples`` is the number of samples along the
    axis of the network, and the gradient of their sum is multiplied by ``factor``.
    """

    packings: dict[Node, Packing | None]
    samples: int
    factor: float


def fed(graph: Graph, batch: Batch) -> FedSequences:
    """Return the places of sequences; GraphError, SamplesError for a batch that does not fit."""
    if batch.weights is not None:
        raise GraphError("samples with weights of their own are not taken")
    packings: dict[Node, Packing | None] = {}
    first: dict[str, Node] = {}
    for node in (*graph.inputs, *graph.targets):
        packings[node] = packing = _packing(node, batch)
        axis = node.attributes.get("axis", "")
        other = first.setdefault(axis, node)
        known = packings[other]
        if known is not packing and known is not None and not known.same(packing):
            raise SamplesError(
                f"'{other.name}' and '{node.name}' run along the same dynamic axis "
                f"'{axis or '*'}', and their sequences have other lengths. Give one of them a "
                "DynamicAxis of its own."
            )
    default = first.get("") or next(iter(first.values()), None)
    taken = None if default is None else packings[default]
    samples = 1 if taken is None else taken.samples
    return FedSequences(
        packings, samples, 1.0 / (samples if batch.expected is None else batch.expected)
    )


def _packing(node: Node, batch: Batch) -> Packing:
    given = batch.inputs[node.name]
    if isinstance(given, Packed):
        return given.packing
    if isinstance(given, Sparse):
        return single(len(given.starts) - 1)
    return single(np.size(given) // node.size)


def joined_columns(node: Node, packing: Packing | None) -> Indices | None:
    """Return the columns [samples] where a node joins samples and some are gaps; else None."""
    if packing is None or not len(packing.gaps) or node.op not in (*JOINING, *ACROSS):
        return None
    return packing.places if node.op in JOINING else np.sort(packing.places)


def common_packing(node: Node, packings: list[Packing | None]) -> Packing | None:
    """Return the packing that the sources of a node share; SamplesError where they differ."""
    found: Packing | None = None
    for packing in packings:
        if packing is not None and found is not None and not found.same(packing):
            names = " and ".join(f"'{one.name}'" for one in node.inputs)
            raise SamplesError(f"'{node.name}' joins {names}, whose sequences have other lengths")
        found = found or packing
    return found
