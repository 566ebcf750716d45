"""A model file of CNTK that answers for data: its answer node, and the graphs of any other
nodes.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from netsharp_engine.cntk.answering import answering
from netsharp_engine.cntk.model_evaluation import ModelNetwork, NodeGraph
from netsharp_engine.cntk.samples.given import InputStream
from netsharp_engine.cntk.stored.values import V1
from netsharp_engine.data.errors import nearest
from netsharp_engine.model_file import ModelError
from netsharp_engine.ops.tensors.shaping import COLUMNS, DELAYS
from netsharp_lsp.cntk.networks.node import elements, reached
from netsharp_lsp.cntk.networks.node_types import INPUTS
from netsharp_lsp.cntk.training.networks.left_out import why_not
from netsharp_lsp.cntk.training.networks.lowering import lowered
from netsharp_lsp.cntk.training.portable import exported_nodes
from netsharp_lsp.cntk.training.refusals import Refused
from netsharp_lsp.cntk.training.reporting import final_results
from netsharp_lsp.cntk.training.stored_models import model_and_numbers, stored_network

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from netsharp_engine.cntk.generators import Array
    from netsharp_engine.cntk.stored.values import StoredModel
    from netsharp_engine.model import Model
    from netsharp_lsp.cntk.networks.node import Network, Node

#: Criteria that compare labels with values before a softmax.
_OF_CLASSES = ("CrossEntropyWithSoftmax", "ClassificationError", "ErrorPrediction")
_SQUARED = "SquareError"
#: The kinds of answers: values before a softmax, after it, or one number.
_LOGITS, _CHANCES, _NUMBER = "logits", "chances", "number"
_SPARSE = "SparseInputValue"
#: Graphs of nodes that are asked for together, kept for the next question.
_REMEMBERED = 8
_OTHERWISE = "Use the action write or test of a configuration."


def opened_model(path: str) -> Model | None:
    """Return the model in a file of CNTK's, None where it is not one; raise ModelError if it has no
    answer.
    """
    found = model_and_numbers(path)
    if found is None:
        return None
    stored, numbers = found
    return _model(stored, path, numbers)


def _model(stored: StoredModel, path: str, numbers: Mapping[str, Array]) -> Model:
    """Return the model of a network without numbers, and these by name; ModelError likewise."""
    graphs = _Graphs(stored, path)
    network, answer, labels, kind = graphs.network, graphs.answer, graphs.labels, graphs.kind
    groups = network.groups
    criteria = {node.name: node.operation for node in (*groups["evaluation"], *groups["criterion"])}
    outputs = [*groups["output"], *([] if answer in groups["output"] else [answer])]
    made = ModelNetwork(
        _shapes(node for node in reached([answer]) if node.operation in INPUTS),
        _shapes(outputs),
        answer.name,
        criteria,
        graphs,
        numbers,
        stored.dtype,
        partial(final_results, of=criteria),
        [node.name for node in network.nodes.values() if node.operation in INPUTS],
        stored.aliases,
        # The second format has means over the samples that its loss is of, not over a default axis.
        "" if stored.format == V1 else labels,
        (_model, (stored, path, numbers)),
        [node.name for node in exported_nodes(network, stored.outputs)],
    )
    label = InputStream(labels or answer.name, tuple(reversed(answer.shape or ())))
    return answering(made, label, classes=kind != _NUMBER)


def _shapes(nodes: Iterable[Node]) -> dict[str, tuple[int, ...]]:
    """Return row-major shapes by name, in the order of the names."""
    shapes = {node.name: tuple(reversed(node.shape or ())) for node in nodes}
    return {name: shapes[name] for name in sorted(shapes)}


class _Graphs:
    """The graphs of a network's nodes by name; without names that of its answer."""

    def __init__(self, stored: StoredModel, path: str) -> None:
        """Find the network and its answer; ModelError where there is none."""
        self._stored, self._path = stored, path
        self.network = stored_network(stored, path)
        self.answer, self.labels, self.kind = _answer(self.network, path)
        self._made: dict[tuple[Sequence[str], bool], NodeGraph] = {}

    def __call__(self, names: Sequence[str], with_criteria: bool) -> NodeGraph:
        """Return the graph of some nodes; ModelError for names of no nodes, and for nodes that are
        not computed.
        """
        key = (tuple(names), with_criteria)
        found = self._made.get(key)
        if found is None:
            if len(self._made) >= _REMEMBERED:
                self._made.clear()
            found = self._made[key] = self._graph(*key)
        return found

    def _graph(self, names: Sequence[str], with_criteria: bool) -> NodeGraph:
        nodes = [self._named(name) for name in names] or [self.answer]
        groups = self.network.groups
        for node in () if with_criteria else nodes:
            if node in groups["criterion"] or node in groups["evaluation"]:
                raise ModelError(
                    f"{self._path}: '{node.name}' is a sum over samples, which evaluate reports. "
                    "Name another node."
                )
        try:
            graph = lowered(self.network, nodes, nodes if with_criteria else ())
        except Refused as refusal:
            raise ModelError(f"{self._path}: {refusal}") from None
        if not graph.inputs:
            called = ", ".join(f"'{node.name}'" for node in nodes)
            depends = "depends" if len(nodes) == 1 else "depend"
            raise ModelError(f"{self._path}: {called} {depends} on no input. {_OTHERWISE}")
        if not names:
            made = next(node for node in graph.nodes if node.name == self.answer.name)
            # No node of a file has a blank in its name.
            wanted = (
                graph.apply("Softmax", made, name="the answer") if self.kind == _LOGITS else made
            )
            graph.set_output(wanted)
        known = self.network.nodes
        inputs = [
            InputStream(node.name, node.shape, known[node.name].operation == _SPARSE)
            for node in graph.inputs
        ]
        over_time = any(node.op in (*DELAYS, *COLUMNS) for node in graph.nodes)
        return NodeGraph(graph, inputs, over_time)

    def _named(self, name: str) -> Node:
        node = self.network.nodes.get(self._stored.aliases.get(name, name))
        if node is None:
            known = self.network.nodes
            raise ModelError(f"{self._path}: no node is called '{name}'.{nearest(name, known)}")
        return node


def _answer(network: Network, path: str) -> tuple[Node, str, str]:
    """Return the node that answers, the input that it is compared with, empty if there is none, and
    its kind.
    """
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
    reasons = ((node, why_not(node)) for node in network.nodes.values())
    for node, reason in reasons:
        if reason:
            raise ModelError(f"{path}: '{node.name}' {reason}")
    raise ModelError(f"{path}: no node of the network is one number or classes. {_OTHERWISE}")
