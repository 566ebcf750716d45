"""Nodes whose state training changes, and how they are frozen; knows none of its callers."""

from __future__ import annotations

import math

from netsharp_lsp.cntk.networks.copying import copied
from netsharp_lsp.cntk.networks.node import PARAMETER, reached

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from netsharp_lsp.cntk.networks.node import Network, Node

_NORMALIZATION = "BatchNormalization"

#: Operations whose nodes can be frozen.
FREEZABLE = frozenset((PARAMETER, _NORMALIZATION))


def freeze(node: Node) -> None:
    """Freeze a parameter or a batch normalization."""
    if node.operation == PARAMETER:
        learn(node, 0.0)
    else:
        node.attributes["normalizationTimeConstant"] = math.inf
        node.attributes["blendTimeConstant"] = math.inf


def normalizations(network: Network, named: Sequence[Node]) -> list[Node]:
    """Return the normalizations that named nodes depend on; without names, that criteria and
    evaluations depend on.
    """
    groups = network.groups
    roots = named or [*groups.get("evaluation", ()), *groups.get("criterion", ())]
    return [node for node in reached(roots) if node.operation == _NORMALIZATION]


def with_statistics(network: Network, names: Iterable[Sequence[str]]) -> Network:
    """Return an equal network after the action bnstat, run for each list of names: the
    normalizations that these nodes (without names: criteria and evaluations) depend on keep their
    statistics from then on [CNTK: SGDLib/PostComputingActions.cpp].
    """
    own = copied(network, lambda place: place)
    for each in names:
        for node in normalizations(own, [own.nodes[name] for name in each if name in own.nodes]):
            freeze(node)
    return own


def learn(node: Node, rate: float) -> None:
    """Set the learning rate multiplier of a parameter."""
    if node.operation == PARAMETER:
        node.attributes["learningRateMultiplier"] = rate
