"""Operations that sum over samples: criteria, figures reported beside them, and norms.

Their value is one number for all samples; where sequences are in columns, gaps are left out.
Source: CNTK, ComputationNetworkLib/TrainingNodes.h and EvaluationNodes.h.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from netsharp_engine.ops.definition import Operation, expect_inputs, free
from netsharp_engine.ops.tensors.shaping import one_element

if TYPE_CHECKING:
    from netsharp_engine.nodes import Node


def _compared(node: Node) -> tuple[int, ...]:
    """Return the shape for two sources with equally many elements."""
    expect_inputs(node, 2)
    return _alike(node)


def _compared_with(node: Node) -> tuple[int, ...]:
    """Return the same, with a third source of one element or as many."""
    expect_inputs(node, min(max(len(node.inputs), 2), 3))
    if len(node.inputs) == 3 and node.inputs[2].size not in (1, node.inputs[0].size):
        raise ValueError(f"{list(node.inputs[2].shape)} does not fit the first two sources")
    return _alike(node)


def _alike(node: Node) -> tuple[int, ...]:
    first, second = node.inputs[:2]
    if first.size != second.size:
        raise ValueError(f"{list(first.shape)} is compared with {list(second.shape)}")
    return (1,)


def _given(node: Node) -> tuple[int, ...]:
    """Return the shape of a sum with a given gradient: sources are the sum, its gradient, and the
    source that gets it.
    """
    expect_inputs(node, 3)
    _, gradient, source = node.inputs
    if gradient.size != source.size:
        raise ValueError(f"{list(gradient.shape)} is not a gradient by {list(source.shape)}")
    return (1,)


def _by_classes(node: Node) -> tuple[int, ...]:
    """Return the shape for labels of four numbers, vectors, a column of weights for each word, and
    values of classes.
    """
    expect_inputs(node, 4)
    labels, hidden, weights, _ = node.inputs
    if labels.size != 4:
        raise ValueError(f"a label has four numbers, and {list(labels.shape)} has {labels.size}")
    if hidden.size != weights.shape[-1]:
        raise ValueError(f"{list(weights.shape)} has no column for {list(hidden.shape)}")
    return (1,)


def _by_noise(node: Node) -> tuple[int, ...]:
    """Return the shape for labels of a word with its noise, or of a word alone; vectors, and
    weights and a bias for each word.
    """
    expect_inputs(node, 4)
    labels, hidden, weights, biases = node.inputs
    if labels.size != 1 and labels.size % 2:
        raise ValueError(f"a label has pairs of numbers, and {list(labels.shape)} is odd")
    if hidden.size != weights.shape[-1]:
        raise ValueError(f"{list(weights.shape)} has no column for {list(hidden.shape)}")
    if biases.size * hidden.size != weights.size:
        raise ValueError(
            f"{list(biases.shape)} has no number for each word of {list(weights.shape)}"
        )
    return (1,)


def _sorted(node: Node) -> tuple[int, ...]:
    """Return the shape for the worth of an answer, its score, and the number of its query."""
    expect_inputs(node, 3)
    for one in node.inputs:
        if one.size != 1:
            raise ValueError(f"{list(one.shape)} is not one number for each answer")
    return (1,)


_RULES = {
    "CrossEntropyWithSoftmax": _compared,
    "CrossEntropy": _compared,
    "ClassificationError": _compared_with,
    "SquareError": _compared,
    "Logistic": _compared_with,
    "ClassBasedCrossEntropyWithSoftmax": _by_classes,
    "NoiseContrastiveEstimation": _by_noise,
    "DummyCriterion": _given,
    "LambdaRank": _sorted,
    "NDCG1Eval": _sorted,
    "SumElements": one_element,
    "MatrixL1Reg": one_element,
    "MatrixL2Reg": one_element,
}
CRITERIA = tuple(Operation(name, rule, free) for name, rule in _RULES.items())
#: The names of all of them.
SUMS = tuple(_RULES)
