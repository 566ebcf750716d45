"""What a node says of itself beside its inputs, in one form for models and texts.

A file has all attributes of a type in the words of its version, a text those that somebody wrote:
here both have the same keys, lists as long as the kernel, and numbers as single precision has them.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

from netsharp_lsp.cntk.networks.node import PARAMETER
from netsharp_lsp.cntk.networks.node_types import DELAYS, INPUTS, NODE_TYPES

if TYPE_CHECKING:
    from collections.abc import Mapping

    from netsharp_lsp.cntk.networks.node import Attribute, Node

RATE = "learningRateMultiplier"
#: What a file or a text does not mention where it is as usual.
USUAL: Mapping[str, Attribute] = {
    "alongAxis": 1,
    "ceilOut": False,
    "dimDilation": (1,),
    "dimOutputShape": (0,),
    "dimPadLower": (0,),
    "dimPadUpper": (0,),
    "dimPadding": (False,),
    "dimSharing": (True,),
    "disableRegularization": False,
    "featureScale": 0.0625,
    "imageLayout": "CHW",
    "inferInputRankToMap": -1,
    "mapCount": (0,),
    "maxTempMemSizeInSamples": 0,
    "outputRank": 1,
    "pool": "max",
    "poolIncludePad": False,
    "strideShape": (1,),
    "transpose": False,
}
#: Lists with an element for each dimension of the kernel; the last one stands for all behind it.
LISTS = ("dimDilation", "dimPadLower", "dimPadUpper", "dimPadding", "dimSharing", "strideShape")
#: What files hold of a type without any effect on it.
_IDLE: Mapping[str, frozenset[str]] = {
    "Pooling": frozenset(("mapCount", "dimSharing", "maxTempMemSizeInSamples", "dimDilation")),
    "MaxUnpooling": frozenset(("mapCount", "dimSharing", "maxTempMemSizeInSamples", "dimDilation")),
    "Where": frozenset(("dynamicAxis",)),
    "TransposeTimes": frozenset(("inferInputRankToMap",)),
    **dict.fromkeys(DELAYS, frozenset(("shape",))),
    **dict.fromkeys(INPUTS, frozenset(("shape", "dynamicAxis"))),
    PARAMETER: frozenset(("shape", "initValue")),
}
#: What a file says of a type beside the attributes that texts know, as long as it is this.
_QUIET: Mapping[tuple[str, str], Attribute] = {
    ("Convolution", "pool"): "none",
    ("Convolution", "ceilOut"): False,
    ("Convolution", "poolIncludePad"): False,
    ("LegacyReshape", "imageLayout"): "HWC",
    ("MaxUnpooling", "pool"): "max",
    ("MaxUnpooling", "transpose"): True,
    ("MaxUnpooling", "ceilOut"): False,
    ("MaxUnpooling", "poolIncludePad"): False,
    ("Pooling", "transpose"): False,
    ("ReduceElements", "keepDimensions"): True,
    ("TransposeTimes", "outputRank"): 1,
}


def said(node: Node) -> dict[str, Attribute]:
    """Return the attributes of a node that a text can say, each as it is in force."""
    if node.operation == PARAMETER:
        return {RATE: _in_full(node, RATE, node.attributes.get(RATE, 1.0))}
    row = NODE_TYPES.get(node.operation)
    known = () if row is None or node.operation in INPUTS else row.attributes
    found: dict[str, Attribute] = {}
    for key in known:
        value = node.attributes.get(key, USUAL.get(key))
        if value is not None and key not in _IDLE.get(node.operation, ()):
            found[key] = _in_full(node, key, value)
    return found


def unsaid(node: Node) -> str | None:
    """Return why a text cannot say all of what a file says of a node, None where it can."""
    row = NODE_TYPES.get(node.operation)
    if row is None:
        return "no text of BrainScript makes a node of this type"
    known = (RATE,) if node.operation == PARAMETER else row.attributes
    for key, value in node.attributes.items():
        if key in known or key in _IDLE.get(node.operation, ()):
            continue
        usual = _QUIET.get((node.operation, key), USUAL.get(key))
        if usual is None or _in_full(node, key, value) != _in_full(node, key, usual):
            return f"its attribute {key} = {value} has no word in BrainScript"
    return None


def _in_full(node: Node, key: str, value: Attribute) -> Attribute:
    if key in LISTS and isinstance(value, tuple) and value:
        rank = len(node.dimensions("kernelShape"))
        return value + value[-1:] * (rank - len(value))
    if key == "dimOutputShape" and not (isinstance(value, tuple) and any(value)):
        return USUAL[key]
    return single_of(value) if isinstance(value, float) else value


def single_of(value: float) -> float:
    """Return the number in single precision that is nearest to one, or itself where none is."""
    try:
        return float(struct.unpack("f", struct.pack("f", value))[0])
    except OverflowError:
        return value
