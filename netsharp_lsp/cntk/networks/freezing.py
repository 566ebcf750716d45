"""Which nodes hold what training changes, and how it is kept; knows nobody who asks for it."""

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
    """Keep a parameter or a normalization as it is."""
    if node.operation == PARAMETER:
        learn(node, 0.0)
    else:
        node.attributes["normalizationTimeConstant"] = math.inf
        node.attributes["blendTimeConstant"] = math.inf


def normalizations(network: Network, named: Sequence[Node]) -> list[Node]:
    """Return the normalizations below named nodes; without names, below what is evaluated."""
    groups = network.groups
    roots = named or [*groups.get("evaluation", ()), *groups.get("criterion", ())]
    return [node for node in reached(roots) if node.operation == _NORMALIZATION]


def with_statistics(network: Network, names: Iterable[Sequence[str]]) -> Network:
    """Return an equal network as the action bnstat leaves it, done for each list of names: the
    normalizations below these nodes, without names below what is evaluated, keep their statistics
    from then on [CNTK: SGDLib/PostComputingActions.cpp].
    """
    own = copied(network, lambda place: place)
    for each in names:
        for node in normalizations(own, [own.nodes[name] for name in each if name in own.nodes]):
            freeze(node)
    return own


def learn(node: Node, rate: float) -> None:
    """Set how fast a parameter learns."""
    if node.operation == PARAMETER:
        node.attributes["learningRateMultiplier"] = rate
