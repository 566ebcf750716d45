"""The training criterion and the evaluation criterion of a simple network.  Knows no kind of
network.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from netsharp_lsp.cntk.networks.node import Node
    from netsharp_lsp.cntk.simple.construction import Construction

#: Criteria of the product of the last weights and the last layer; those that take weights and
#: layer separately are not among them.
_OF_PRODUCTS = frozenset(
    ("CrossEntropyWithSoftmax", "SquareError", "Logistic", "ClassificationError")
)
_NAMES = {
    "ClassBasedCrossEntropyWithSoftmax": "ClassCrossEntropyWithSoftmax",
    "NoiseContrastiveEstimation": "NoiseContrastiveEstimationNode",
}
_EVALUATED = {"ClassificationError": "EvalClassificationError"}


class Scored(NamedTuple):
    """The inputs of criteria: the last layer, the label, weights and another node."""

    last: Node
    label: Node
    weights: Node | None = None
    other: Node | None = None


def add_criteria(net: Construction, scored: Scored, names: tuple[str, str] = ("", "")) -> Node:
    """Add both criteria, one node if they are the same; return the one for evaluation."""
    settings = net.settings
    net.tag("label", scored.label)
    product, node = _criterion(net, (settings.training, names[0]), scored, scored.last)
    net.tag("criterion", node)
    if settings.evaluation != settings.training:
        default = _EVALUATED.get(settings.evaluation, "")
        _, node = _criterion(net, (settings.evaluation, names[1] or default), scored, product)
    net.tag("evaluation", node)
    return node


def _criterion(
    net: Construction, wanted: tuple[str, str], scored: Scored, product: Node
) -> tuple[Node, Node]:
    """Return one criterion by its operation and name, and the product that it was made from."""
    operation, name = wanted
    name = name or _NAMES.get(operation, operation)
    if operation not in _OF_PRODUCTS:
        inputs = (scored.label, scored.last, scored.weights, scored.other)
        return product, net.node(operation, *inputs, name=name)
    if scored.weights is not None and product is scored.last:
        product = net.node("Times", scored.weights, scored.last)
    return product, net.node(operation, scored.label, product, name=name)
