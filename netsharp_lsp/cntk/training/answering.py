"""A model file of CNTK as what answers rows: which node is the answer, and what it is worth."""

from __future__ import annotations

from typing import TYPE_CHECKING

from netsharp_engine.cntk.answering import answering
from netsharp_engine.model_file import ModelError
from netsharp_engine.ops.tensors.shaping import COLUMNS, DELAYS
from netsharp_lsp.cntk.networks.node import elements
from netsharp_lsp.cntk.networks.node_types import INPUTS
from netsharp_lsp.cntk.training.networks.lowering import lowered
from netsharp_lsp.cntk.training.refusals import Refused
from netsharp_lsp.cntk.training.stored_models import stored_model, stored_network

if TYPE_CHECKING:
    from netsharp_engine.model import Model
    from netsharp_lsp.cntk.networks.node import Network, Node

#: Criteria that compare labels with values before a softmax.
_OF_CLASSES = ("CrossEntropyWithSoftmax", "ClassificationError", "ErrorPrediction")
_SQUARED = "SquareError"
#: What a node is that answers: values before a softmax, behind it, or one number.
_LOGITS, _CHANCES, _NUMBER = "logits", "chances", "number"
_OTHERWISE = "Use the action write or test of a configuration."


def opened_model(path: str) -> Model | None:
    """The model in a file of CNTK's, None where it is none; ModelError where it cannot answer."""
    stored = stored_model(path)
    if stored is None:
        return None
    network = stored_network(stored, path)
    values = {one.name: one.values for one in stored.nodes if one.values is not None}
    answer, labels, kind = _answer(network, path)
    try:
        graph = lowered(network, [answer])
    except Refused as refusal:
        raise ModelError(f"{path}: {refusal}") from None
    if any(node.op in (*DELAYS, *COLUMNS) for node in graph.nodes):
        raise ModelError(f"{path}: the network goes through sequences. {_OTHERWISE}")
    if not graph.inputs:
        raise ModelError(f"{path}: '{answer.name}' depends on no input. {_OTHERWISE}")
    made = next(node for node in graph.nodes if node.name == answer.name)
    graph.set_output(graph.apply("Softmax", made, name="chances") if kind == _LOGITS else made)
    size = elements(answer.shape or ())
    return answering(
        graph, values, stored.dtype, (labels or answer.name, size), classes=kind != _NUMBER
    )


def _answer(network: Network, path: str) -> tuple[Node, str, str]:
    """The node that answers, the input that it is compared with, empty for none, and its kind."""
    groups = network.groups
    for node in (*groups["criterion"], *groups["evaluation"]):
        if node.operation in (*_OF_CLASSES, _SQUARED) and len(node.inputs) >= 2:
            labels, found = node.inputs[:2]
            name = labels.name if labels.operation in INPUTS else ""
            several = elements(found.shape or ()) > 1
            if several == (node.operation in _OF_CLASSES):
                return found, name, _LOGITS if several else _NUMBER
    for node in groups["output"]:
        size = elements(node.shape or ())
        if size == 1:
            return node, "", _NUMBER
        if size:
            return node, "", _CHANCES if node.operation == "Softmax" else _LOGITS
    raise ModelError(f"{path}: no node of the network is one number or classes. {_OTHERWISE}")
