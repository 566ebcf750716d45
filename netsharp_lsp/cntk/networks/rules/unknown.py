"""The axis and shape of a node with unknown inputs, as far as they do not depend on these.  Checks
nothing.
"""

from __future__ import annotations

from netsharp_lsp.cntk.networks.node import Axis
from netsharp_lsp.cntk.networks.rules.common import inherit_axis
from netsharp_lsp.cntk.networks.rules.sequences import CHOSEN_AXIS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from netsharp_lsp.cntk.networks.node import Node

#: Types with one number for all samples.
_ONE_OF_ALL = frozenset(
    (
        *("SumElements", "MatrixL1Reg", "MatrixL2Reg", "SquareError", "CrossEntropy"),
        *("CrossEntropyWithSoftmax", "ClassificationError", "Logistic", "NDCG1Eval", "LambdaRank"),
        *("SequenceWithSoftmax", "LatticeSequenceWithSoftmax", "EditDistanceError"),
        *("ForwardBackward", "DummyCriterion", "ClassBasedCrossEntropyWithSoftmax"),
        "NoiseContrastiveEstimation",
    )
)
#: Types with one number for each time step.
_ONE_A_STEP = frozenset(("SumColumnElements", "CosDistance", "Where"))
#: Types whose value has no dynamic axis.
_ALL_DATA = _ONE_OF_ALL | frozenset(
    (
        *("Mean", "InvStdDev", "EpochAccumulator", "Diagonal"),
        *("RandomSample", "RandomSampleInclusionFrequency"),
    )
)
#: The input whose axis a value has.
_ALONG = {
    "PackedIndex": 1,
    "GatherPacked": 0,
    "ScatterPacked": 0,
    "ReconcileDynamicAxis": 1,
    "CosDistance": 1,
}


def leave_open(node: Node) -> None:
    """Set the axis and shape of a node with unknown inputs; an unknown shape is None."""
    place_axis(node)
    numbers = node.operation in _ONE_OF_ALL or node.operation in _ONE_A_STEP
    node.shape = (1,) if numbers else _summed(node)


def place_axis(node: Node) -> None:
    """Set the axis of a node, whatever its shape is."""
    along = _ALONG.get(node.operation, -1)
    if node.operation in _ALL_DATA:
        node.axis = None
    elif node.operation == "Where":
        node.axis = node.axis or Axis(CHOSEN_AXIS)
    elif 0 <= along < len(node.inputs):
        node.axis = node.inputs[along].axis
    else:
        inherit_axis(node)


def _summed(node: Node) -> tuple[int, ...] | None:
    """Return the shape of a product that sums over all of its other factor, however large
    that is.
    """
    if node.operation != "Times" or len(node.inputs) < 2:
        return None
    left, rank = node.inputs[0].shape or (), node.integer("outputRank", 1)
    summed = node.integer("inferInputRankToMap", -1) == 0 and left[rank:] == (0,)
    return left[:rank] if summed and 0 not in left[:rank] else None
