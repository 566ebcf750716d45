"""What is made of a network for training says which node it comes from, and where that is."""

from __future__ import annotations

import re

import pytest

from netsharp_engine.graph import GraphError
from netsharp_engine.program import Job, Unsupported, require_computed
from netsharp_engine.tensor_backend import TensorDraft
from netsharp_lsp.cntk.training.networks.lowering import Declared, lowered
from tests.cntk.brainscript.building import network

TEXT = """{
    x = Input {4}
    y = Input {2}
    h = RecurrentLSTMLayer {3} (x)
    z = LinearLayer {2} (h)
    ce = SquareError (y, z)
    featureNodes = (x) ; labelNodes = (y) ; criterionNodes = (ce)
}"""
#: The expression of each line, by its name.
LINES = dict(re.findall(r"^    (\w+) = (.+)$", TEXT, re.MULTILINE))


def graph():
    built = network(TEXT)
    return lowered(built, [built.nodes["ce"]], [built.nodes["ce"]])


def test_every_node_and_parameter_says_where_it_is():
    made = graph()
    assert {node.op for node in made.nodes} >= {"input", "PastValue", "Times", "SquareError"}
    assert made.parameters
    for each in (*made.nodes, *made.parameters):
        origin = each.origin
        assert isinstance(origin, Declared)
        assert origin.name == each.name
        # The nodes and parameters of a layer have the place of the layer.
        source, start, end = origin.where
        line = LINES[each.name.partition(".")[0]]
        assert line.startswith(TEXT.encode()[start:end].decode())
        assert str(origin) == f"'{each.name}' in {source}"


def test_a_back_end_that_cannot_do_a_node_names_the_place():
    class Narrow(TensorDraft):
        def unsupported(self):
            nodes = [node for node in self.job.graph.nodes if node.op == "SquareError"]
            return [Unsupported(node, "There are no squares here.") for node in nodes]

    with pytest.raises(GraphError, match=r"no squares here\. See 'ce' in ") as caught:
        require_computed(Narrow(Job(graph(), 1)))
    assert caught.value.origin.name == "ce"
