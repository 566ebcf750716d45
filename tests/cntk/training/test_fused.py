"""A cell of long short-term memory computed as one against the same loop node by node."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from netsharp_engine.graph import Graph
from netsharp_engine.packing import Packing, packed
from netsharp_engine.program import Batch, Job, Packed, UpdateRule
from netsharp_engine.tensor_backend import TensorDraft, TensorProgram, scan
from netsharp_engine.tensor_backend.loops import Loop, scheduled
from netsharp_engine.tensor_backend.lstm import recognised
from netsharp_engine.tensor_backend.walk import read_outside
from netsharp_lsp.cntk.training.networks.lowering import lowered
from tests.cntk.brainscript.building import network
from tests.cntk.training.test_random_networks import packings
from tests.cntk.training.test_sequences import gradients_of
from tests.conftest import SEED

Array = Any
#: Layers over `e`, each of whose loops is a cell.
CELLS = {
    "plain": "RecurrentLSTMLayer {5} (e)",
    "backwards": "RecurrentLSTMLayer {5, goBackwards=true} (e)",
    "peepholes": "RecurrentLSTMLayer {5, usePeepholes=true} (e)",
    "projection": "RecurrentLSTMLayer {3, cellShape=5} (e)",
    "learned beginnings": "RecurrentLSTMLayer {5, trainInitialState=true} (e)",
    "all": "RecurrentLSTMLayer {3, cellShape=5, usePeepholes=true, goBackwards=true,"
    " trainInitialState=true} (e)",
    "on top of one another": "RecurrentLSTMLayerStack {(4:5)} (e)",
    "both ways": "Splice (RecurrentLSTMLayer {5} (e)"
    " : RecurrentLSTMLayer {4, goBackwards=true} (e))",
    "its state is read": "{ b = BS.RNNs.LSTMBlock {5}"
    " s = b (e, BS.RNNs.PreviousHC (s)) ; r = s.h + 2 * s.c }.r",
}
#: Layers whose loops are something else.
OTHERS = {
    "stabilised": "RecurrentLSTMLayer {5, enableSelfStabilization=true} (e)",
    "gates with matrices of their own": "BS.RNNs.RecurrentLSTMP (5, e).h",
    "one delay": "{ r = Tanh (ParameterTensor {(5:4)} * e"
    " + ParameterTensor {(5:5)} * PastValue (5, r)) }.r",
    "a gate is read": "{ b = BS.RNNs.LSTMBlock {5}"
    " s = b (e, BS.RNNs.PreviousHC (s)) ; r = s.h + s._.it }.r",
    "two steps": "{ b = BS.RNNs.LSTMBlock {5}"
    " s = b (e, { h = PastValue (5, s.h, timeStep=2) ; c = PastValue (5, s.c, timeStep=2) })"
    " }.s.h",
}


def graph_of(layer: str) -> Graph:
    text = f"""{{
        e = Input {{4}}
        h = {layer}
        z = LinearLayer {{2}} (h)
        y = Input {{2}}
        ce = SquareError (y, z)
        featureNodes = (e)
        labelNodes = (y)
        criterionNodes = (ce)
    }}"""
    built = network(text)
    return lowered(built, [built.nodes["ce"]], [built.nodes["ce"]])


def program_of(graph: Graph, dtype: str) -> TensorProgram:
    program = TensorDraft(Job(graph, 64, dtype, UpdateRule("sgd", 1.0))).program()
    random = np.random.default_rng(SEED)
    program.load({one.name: random.normal(size=one.shape) / 2 for one in graph.parameters})
    return program


def batch_of(lengths: Array, order: Array, packing: Packing) -> Batch:
    random = np.random.default_rng(SEED + 1)
    inputs = {}
    for name, size in (("e", 4), ("y", 2)):
        whole = [random.normal(size=(one, size)) for one in lengths]
        full = np.full((packing.columns, size), np.nan)
        full[packing.places] = np.concatenate([whole[place] for place in order])
        inputs[name] = Packed(full, packing)
    return Batch(inputs, expected=1.0)


def loops_of(graph: Graph) -> list[Loop]:
    return [part for part in scheduled(graph) if isinstance(part, Loop)]


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("name", CELLS)
def test_as_one_is_node_by_node(name: str, dtype: str, monkeypatch: pytest.MonkeyPatch) -> None:
    graph = graph_of(CELLS[name])
    loops = loops_of(graph)
    assert all(recognised(loop, read_outside(graph, loop)) for loop in loops)
    fused = program_of(graph, dtype)
    with monkeypatch.context() as patch:
        patch.setattr(scan, "recognised", lambda loop, shown: None)
        plain = program_of(graph, dtype)
    close = {"rtol": 1e-10, "atol": 1e-12} if dtype == "float64" else {"rtol": 2e-4, "atol": 2e-5}
    random = np.random.default_rng(SEED)
    for lengths in ((5, 1, 3, 7, 2, 2), (1,), (4, 4, 4), (30, 2, 9, 0, 8)):
        sizes = np.array(lengths)
        for reported, order, packing in packings(sizes, random):
            batch = batch_of(sizes, order, packing)
            found, expected = (gradients_of(one, batch) for one in (fused, plain))
            for parameter, gradient in expected.items():
                np.testing.assert_allclose(
                    found[parameter], gradient, err_msg=f"{reported}, {parameter}", **close
                )
            for node in [*loops[-1].nodes[::-1], *graph.criteria]:
                np.testing.assert_allclose(
                    fused.read(node), plain.read(node), err_msg=node.name, **close
                )


@pytest.mark.parametrize("name", OTHERS)
def test_other_loops_are_left_as_they_are(name: str) -> None:
    graph = graph_of(OTHERS[name])
    assert not any(recognised(loop, read_outside(graph, loop)) for loop in loops_of(graph))


@pytest.mark.parametrize("name", CELLS)
def test_a_cell_with_a_node_more_is_something_else(name: str) -> None:
    """Each node of a loop but its delays, doubled where one reader of it looks, breaks the cell."""
    for number in range(len(loops_of(graph_of(CELLS[name]))[0].nodes)):
        graph = graph_of(CELLS[name])
        loop = loops_of(graph)[0]
        node = loop.nodes[number]
        reader = next(one for one in loop.nodes if node in one.inputs)
        twice = graph.apply("Plus", node, node, name="twice")
        reader.inputs = tuple(twice if one is node else one for one in reader.inputs)
        graph.nodes.remove(twice)
        graph.nodes.insert(graph.nodes.index(node) + 1, twice)
        changed = next(one for one in loops_of(graph) if node in one.nodes)
        assert recognised(changed, read_outside(graph, changed)) is None, node.name


def test_minibatches_of_changing_size_do_not_disturb_each_other() -> None:
    """What a smaller one leaves of a larger one's room is never read."""
    graph = graph_of(CELLS["all"])
    once = program_of(graph, "float64")
    for lengths in ((9, 9, 3), (2,), (7, 1, 1, 1), (1,), (12, 3)):
        sizes = np.array(lengths)
        batch = batch_of(sizes, np.arange(len(sizes)), packed(sizes))
        again = gradients_of(once, batch)
        for name, gradient in gradients_of(program_of(graph, "float64"), batch).items():
            np.testing.assert_array_equal(again[name], gradient)
