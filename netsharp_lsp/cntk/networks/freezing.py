"""Which nodes hold what training changes, and how it is kept; knows nobody who asks for it."""

from __future__ import annotations

import math

from netsharp_lsp.cntk.networks.node import PARAMETER

TYPE_CHECKING = False
if TYPE_CHECKING:
    from netsharp_lsp.cntk.networks.node import Node

#: Operations whose nodes can be frozen.
FREEZABLE = frozenset((PARAMETER, "BatchNormalization"))


def freeze(node: Node) -> None:
    """Keep a parameter or a normalization as it is."""
    if node.operation == PARAMETER:
        learn(node, 0.0)
    else:
        node.attributes["normalizationTimeConstant"] = math.inf
        node.attributes["blendTimeConstant"] = math.inf


def learn(node: Node, rate: float) -> None:
    """Set how fast a parameter learns."""
    if node.operation == PARAMETER:
        node.attributes["learningRateMultiplier"] = rate
