"""Shapes of criteria and of what is sampled for them."""

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
    """One number of everything."""
    node.axis = None
    node.shape = (1,)


def compared(node: Node, final: bool) -> None:
    """One number of two inputs of the same shape along a dynamic axis."""
    node.axis = None
    fill_each_other(node, 2)
    if final:
        if not compatible(shape_of(node, 0), shape_of(node, 1)):
            raise differ(node, 0, 1)
        need_axis(node, 0, 1)
    node.shape = (1,)


def classified(node: Node, final: bool) -> None:
    """As compared; the third input says how many guesses count, and is one number."""
    compared(node, final)
    if final and len(node.inputs) == 3 and elements(shape_of(node, 2)) != 1:
        raise Misfit("how many of the best count has to be one number.")


def logistic(node: Node, final: bool) -> None:
    """As compared; the third input weighs every sample."""
    compared(node, final)
    if len(node.inputs) == 3:
        fill(node.inputs[2], shape_of(node, 1))
        if final and elements(shape_of(node, 0)) != elements(shape_of(node, 2)):
            raise differ(node, 0, 2)


def in_sequence(node: Node, final: bool) -> None:
    """A sequence criterion over labels, predictions and scores of one size."""
    node.axis = None
    if final:
        need_axis(node, 0, 1, 2)
        for number in (1, 2):
            if elements(shape_of(node, 0)) != elements(shape_of(node, number)):
                raise differ(node, 0, number)
    node.shape = (1,)


def given(node: Node, final: bool) -> None:
    """A criterion computed elsewhere: objectives and derivatives come in as inputs."""
    node.axis = None
    if node.inputs[0].operation != "InputValue" or node.inputs[1].operation != "InputValue":
        raise Misfit("objectives and derivatives have to be inputs.")
    if final and elements(shape_of(node, 1)) != elements(shape_of(node, 2)):
        raise differ(node, 1, 2)
    node.shape = (1,)


def class_based(node: Node, final: bool) -> None:
    """Cross entropy by classes of words; a label is four numbers."""
    node.axis = None
    if final:
        need_axis(node, 0, 1)
        if elements(shape_of(node, 0)) != 4:
            raise Misfit("a label of class-based cross entropy has four elements.")
        if elements(shape_of(node, 1)) != rows(shape_of(node, 2)):
            raise differ(node, 1, 2)
    node.shape = (1,)


def noise_contrastive(node: Node, final: bool) -> None:
    """Noise-contrastive estimation: labels, hidden values, weights and biases."""
    node.axis = None
    if final:
        need_axis(node, 0, 1, 3)
        if elements(shape_of(node, 1)) != rows(shape_of(node, 2)):
            raise differ(node, 1, 2)
    node.shape = (1,)


def cosine(node: Node, final: bool) -> None:
    """How much two vectors point the same way, per time step."""
    inherit_axis(node)
    fill_each_other(node, 2)
    node.axis = node.inputs[1].axis
    node.shape = (1,)


def cosine_with_negatives(node: Node, final: bool) -> None:
    """As the cosine, and once more for each negative sample."""
    inherit_axis(node)
    fill_each_other(node, 2)
    if final and elements(shape_of(node, 0)) != elements(shape_of(node, 1)):
        raise differ(node, 0, 1)
    count = node.inputs[3]
    known = count.operation == PARAMETER and "initValue" in count.attributes
    node.shape = (count.integer("initValue") + 1,) if known else None


def sampled(node: Node, final: bool) -> None:
    """Classes drawn at random, each as a one-hot column."""
    _drawable(node, final)
    node.shape = (rows(shape_of(node, 0)), node.integer("sizeOfSampledSet"))


def sampled_frequency(node: Node, final: bool) -> None:
    """How often each class is drawn."""
    _drawable(node, final)
    node.shape = (rows(shape_of(node, 0)), 1)


def _drawable(node: Node, final: bool) -> None:
    node.axis = None
    size, classes = node.integer("sizeOfSampledSet"), rows(shape_of(node, 0))
    if size <= 0:
        raise Misfit("a sample has at least one element.")
    if final and not node.truth("allowDuplicates") and classes <= size:
        raise Misfit(f"{size} different classes cannot be drawn from {classes}.")
