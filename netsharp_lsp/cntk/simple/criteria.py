"""The criterion that a simple network is trained by, and the one that it is judged by."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from netsharp_lsp.cntk.networks.node import Node
    from netsharp_lsp.cntk.simple.construction import Construction

#: Criteria of the product of the last weights and the last layer, by their nodes' names without
#: one that is given; those that take weights and layer apart are not among them.
_OF_PRODUCTS = frozenset(
    ("CrossEntropyWithSoftmax", "SquareError", "Logistic", "ClassificationError")
)
_NAMES = {
    "ClassBasedCrossEntropyWithSoftmax": "ClassCrossEntropyWithSoftmax",
    "NoiseContrastiveEstimation": "NoiseContrastiveEstimationNode",
}
_EVALUATED = {"ClassificationError": "EvalClassificationError"}


class Judged(NamedTuple):
    """What criteria are made of: the last layer, the label, weights and another node."""

    last: Node
    label: Node
    weights: Node | None = None
    other: Node | None = None


def add_criteria(net: Construction, judged: Judged, names: tuple[str, str] = ("", "")) -> Node:
    """Add both criteria, one node where they are the same; return the one that judges."""
    settings = net.settings
    net.tag("label", judged.label)
    product, node = _criterion(net, (settings.training, names[0]), judged, judged.last)
    net.tag("criterion", node)
    if settings.evaluation != settings.training:
        default = _EVALUATED.get(settings.evaluation, "")
        _, node = _criterion(net, (settings.evaluation, names[1] or default), judged, product)
    net.tag("evaluation", node)
    return node


def _criterion(
    net: Construction, wanted: tuple[str, str], judged: Judged, product: Node
) -> tuple[Node, Node]:
    """One criterion by its operation and name, and the product that it was made of."""
    operation, name = wanted
    name = name or _NAMES.get(operation, operation)
    if operation not in _OF_PRODUCTS:
        inputs = (judged.label, judged.last, judged.weights, judged.other)
        return product, net.node(operation, *inputs, name=name)
    if judged.weights is not None and product is judged.last:
        product = net.node("Times", judged.weights, judged.last)
    return product, net.node(operation, judged.label, product, name=name)
