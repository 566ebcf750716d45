"""The attributes of a node besides its inputs, in one form for models and texts.  Writes nothing.

A file has all attributes of a type as of its version, a text those that were written: here both
have the same keys, lists as long as the kernel, and numbers in single precision.
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
#: The defaults of attributes, which a file or a text may omit.
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
#: Lists with an element for each dimension of the kernel; the last one applies to all after it.
LISTS = ("dimDilation", "dimPadLower", "dimPadUpper", "dimPadding", "dimSharing", "strideShape")
#: Attributes in files that have no effect on a type.
_IDLE: Mapping[str, frozenset[str]] = {
    "Pooling": frozenset(("mapCount", "dimSharing", "maxTempMemSizeInSamples", "dimDilation")),
    "MaxUnpooling": frozenset(("mapCount", "dimSharing", "maxTempMemSizeInSamples", "dimDilation")),
    "Where": frozenset(("dynamicAxis",)),
    "TransposeTimes": frozenset(("inferInputRankToMap",)),
    **dict.fromkeys(DELAYS, frozenset(("shape",))),
    **dict.fromkeys(INPUTS, frozenset(("shape", "dynamicAxis"))),
    PARAMETER: frozenset(("shape", "initValue")),
}
#: Attributes in files that texts lack, with the value that needs no text.
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


def written_attributes(node: Node) -> dict[str, Attribute]:
    """Return the effective attributes of a node that a text can express."""
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


def why_not_writable(node: Node) -> str | None:
    """Return why a text cannot express all attributes of a node in a file, None if it can."""
    row = NODE_TYPES.get(node.operation)
    if row is None:
        return "no text of BrainScript creates a node of this type"
    known = (RATE,) if node.operation == PARAMETER else row.attributes
    for key, value in node.attributes.items():
        if key in known or key in _IDLE.get(node.operation, ()):
            continue
        usual = _QUIET.get((node.operation, key), USUAL.get(key))
        if usual is None or _in_full(node, key, value) != _in_full(node, key, usual):
            return f"its attribute {key} = {value} cannot be expressed in BrainScript"
    return None


def _in_full(node: Node, key: str, value: Attribute) -> Attribute:
    if key in LISTS and isinstance(value, tuple) and value:
        rank = len(node.dimensions("kernelShape"))
        return value + value[-1:] * (rank - len(value))
    if key == "dimOutputShape" and not (isinstance(value, tuple) and any(value)):
        return USUAL[key]
    return single_of(value) if isinstance(value, float) else value


def single_of(value: float) -> float:
    """Return the nearest number in single precision, or the number itself if it is out of range."""
    try:
        return float(struct.unpack("f", struct.pack("f", value))[0])
    except OverflowError:
        return value
