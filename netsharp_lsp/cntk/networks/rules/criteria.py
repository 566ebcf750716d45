"""Shapes of criteria and of the samples drawn for them.  Knows no language."""

from __future__ import annotations

from netsharp_lsp.cntk.networks.node import PARAMETER, elements
from netsharp_lsp.cntk.networks.rules.common import (
    Misfit,
    compatible,
    differ,
    fill,
    fill_each_other,
    inherit_axis,
    need_axis,
    rows,
    shape_of,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from netsharp_lsp.cntk.networks.node import Node


def total(node: Node, final: bool) -> None:
    """Set the shape of one number for everything: [1] without an axis."""
    node.axis = None
    node.shape = (1,)


def compared(node: Node, final: bool) -> None:
    """Compare two inputs of the same shape along a dynamic axis: [1]."""
    node.axis = None
    fill_each_other(node, 2)
    if final:
        if not compatible(shape_of(node, 0), shape_of(node, 1)):
            raise differ(node, 0, 1)
        need_axis(node, 0, 1)
    node.shape = (1,)


def classified(node: Node, final: bool) -> None:
    """Compare as `compared`; the third input is one number, how many of the best predictions are
    used.
    """
    compared(node, final)
    if final and len(node.inputs) == 3 and elements(shape_of(node, 2)) != 1:
        raise Misfit("the number of best predictions has to be one number.")


def logistic(node: Node, final: bool) -> None:
    """Compare as `compared`; the third input is a weight for each sample."""
    compared(node, final)
    if len(node.inputs) == 3:
        fill(node.inputs[2], shape_of(node, 1))
        if final and elements(shape_of(node, 0)) != elements(shape_of(node, 2)):
            raise differ(node, 0, 2)


def in_sequence(node: Node, final: bool) -> None:
    """Compare labels, predictions and scores of one size along sequences: [1]."""
    node.axis = None
    if final:
        need_axis(node, 0, 1, 2)
        for number in (1, 2):
            if elements(shape_of(node, 0)) != elements(shape_of(node, number)):
                raise differ(node, 0, number)
    node.shape = (1,)


def given(node: Node, final: bool) -> None:
    """Use a criterion computed elsewhere, whose objectives and derivatives are inputs: [1]."""
    node.axis = None
    if node.inputs[0].operation != "InputValue" or node.inputs[1].operation != "InputValue":
        raise Misfit("objectives and derivatives have to be inputs.")
    if final and elements(shape_of(node, 1)) != elements(shape_of(node, 2)):
        raise differ(node, 1, 2)
    node.shape = (1,)


def class_based(node: Node, final: bool) -> None:
    """Set the shape of the cross entropy by classes of words, whose label has four numbers: [1]."""
    node.axis = None
    if final:
        need_axis(node, 0, 1)
        if elements(shape_of(node, 0)) != 4:
            raise Misfit("a label of class-based cross entropy has four elements.")
        if elements(shape_of(node, 1)) != rows(shape_of(node, 2)):
            raise differ(node, 1, 2)
    node.shape = (1,)


def noise_contrastive(node: Node, final: bool) -> None:
    """Set the shape of noise-contrastive estimation of labels, hidden values, weights and biases:
    [1].
    """
    node.axis = None
    if final:
        need_axis(node, 0, 1, 3)
        if elements(shape_of(node, 1)) != rows(shape_of(node, 2)):
            raise differ(node, 1, 2)
    node.shape = (1,)


def cosine(node: Node, final: bool) -> None:
    """Set the shape of the cosine of two vectors, per time step: [1]."""
    inherit_axis(node)
    fill_each_other(node, 2)
    node.axis = node.inputs[1].axis
    node.shape = (1,)


def cosine_with_negatives(node: Node, final: bool) -> None:
    """Set the shape of the cosine with one more value for each negative sample."""
    inherit_axis(node)
    fill_each_other(node, 2)
    if final and elements(shape_of(node, 0)) != elements(shape_of(node, 1)):
        raise differ(node, 0, 1)
    count = node.inputs[3]
    known = count.operation == PARAMETER and "initValue" in count.attributes
    node.shape = (count.integer("initValue") + 1,) if known else None


def sampled(node: Node, final: bool) -> None:
    """Set the shape of classes drawn at random, each as a one-hot column."""
    _drawable(node, final)
    node.shape = (rows(shape_of(node, 0)), node.integer("sizeOfSampledSet"))


def sampled_frequency(node: Node, final: bool) -> None:
    """Set the shape of the frequency of each class in such a sample."""
    _drawable(node, final)
    node.shape = (rows(shape_of(node, 0)), 1)


def _drawable(node: Node, final: bool) -> None:
    node.axis = None
    size, classes = node.integer("sizeOfSampledSet"), rows(shape_of(node, 0))
    if size <= 0:
        raise Misfit("a sample has at least one element.")
    if final and not node.truth("allowDuplicates") and classes <= size:
        raise Misfit(f"{size} different classes cannot be drawn from {classes}.")
