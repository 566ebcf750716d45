"""Nodes that are computed together against the same nodes one by one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from netsharp_engine.graph import Graph, SamplesError
from netsharp_engine.packing import Packing, packed
from netsharp_engine.program import Batch, Job, Packed, Sparse, UpdateRule
from netsharp_engine.tensor_backend import TensorDraft, TensorProgram, walk
from netsharp_lsp.cntk.training.networks.lowering import lowered
from tests.cntk.brainscript.building import network
from tests.cntk.training.test_random_networks import packings
from tests.cntk.training.test_sequences import gradients_of
from tests.conftest import SEED

Array = Any
WORDS, KINDS = 9, 3
#: What is classified of words `e`; `first` and `last` have a value for each sentence.
LAYERS = {
    "last": "BS.Sequences.Last (RecurrentLSTMLayer {5} (e))",
    "first": "BS.Sequences.First (RecurrentLSTMLayer {5, goBackwards=true} (e))",
    "both": "Splice (BS.Sequences.Last (RecurrentLSTMLayer {5} (e))"
    " : BS.Sequences.First (RecurrentLSTMLayer {4, goBackwards=true} (e)))",
    "of sums": "BS.Sequences.Last (LinearLayer {5} (e))",
    "sums twice": "{ s = LinearLayer {5} (e) ; r = BS.Sequences.Last (Tanh (s) + s) }.r",
}


def graph_of(layer: str) -> Graph:
    built = network(f"""{{
        sentences = DynamicAxis ()
        word = Input {{{WORDS}, sparse=true}}
        kind = Input {{{KINDS}, sparse=true, dynamicAxis=sentences}}
        e = EmbeddingLayer {{4}} (word)
        z = LinearLayer {{{KINDS}}} (ReconcileDynamicAxis ({layer}, kind))
        ce = CrossEntropyWithSoftmax (kind, z)
        featureNodes = (word) ; labelNodes = (kind) ; criterionNodes = (ce)
    }}""")
    return lowered(built, [built.nodes["ce"]], [built.nodes["ce"]])


def program_of(graph: Graph, dtype: str) -> TensorProgram:
    return TensorDraft(Job(graph, 64, dtype, UpdateRule("sgd", 1.0))).program()


def sparse_of(samples: Sequence[Sequence[tuple[int, float]]]) -> Sparse:
    flat = [entry for entries in samples for entry in entries]
    places, values = (np.array([entry[i] for entry in flat]) for i in (0, 1))
    starts = np.cumsum([0, *map(len, samples)])
    return Sparse(values, places.astype(np.intp), starts)


def batch_of(length: Array, order: Array, packing: Packing, most: int) -> Batch:
    """Sentences in their columns, of up to `most` words at a place."""
    random = np.random.default_rng(SEED + most)
    columns: list[list[tuple[int, float]]] = [[] for _ in range(packing.columns)]
    at = np.split(packing.places, np.cumsum(packing.length)[:-1])
    steps = [
        [random.permutation(WORDS)[: random.integers(most + 1)] for _ in range(n)] for n in length
    ]
    for places, sentence in zip(at, order, strict=True):
        for place, words in zip(places, steps[sentence], strict=True):
            columns[place] = [(int(word), 1.0 if most == 1 else 0.5 + word) for word in words]
    kinds = sparse_of([[(int(one) % KINDS, 1.0)] for one in order])
    return Batch(
        {
            "word": Packed(sparse_of(columns), packing),
            "kind": Packed(kinds, packed(np.ones(len(length), np.intp))),
        },
        expected=1.0,
    )


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("name", LAYERS)
def test_together_is_one_by_one(name: str, dtype: str, monkeypatch: pytest.MonkeyPatch) -> None:
    graph = graph_of(LAYERS[name])
    fast = program_of(graph, dtype)
    with monkeypatch.context() as patch:
        patch.setattr(walk, "together", lambda *given: [])
        slow = program_of(graph, dtype)
    assert len(fast._walk._parts) < len(slow._walk._parts)
    random = np.random.default_rng(SEED)
    values = {one.name: random.normal(size=one.shape) / 2 for one in graph.parameters}
    values |= {one.name: np.zeros(one.shape) for one in graph.parameters if not one.trained}
    close = {"rtol": 1e-10, "atol": 1e-12} if dtype == "float64" else {"rtol": 2e-5, "atol": 2e-6}
    # More than one word at a place is computed one by one.
    for lengths in ((5, 1, 3, 7, 2, 2), (3,) * 4, (1,)):
        for reported, order, packing in packings(np.array(lengths), random):
            for most in (1, 2):
                for one in (fast, slow):
                    one.load(values)
                batch = batch_of(np.array(lengths), order, packing, most)
                found, expected = (gradients_of(one, batch) for one in (fast, slow))
                for parameter, gradient in expected.items():
                    np.testing.assert_allclose(
                        found[parameter], gradient, **close, err_msg=f"{reported}, {parameter}"
                    )
                for one in (fast, slow):
                    one.feed(batch)
                    one.forward()
                for node in graph.nodes:
                    if node.op != "input":
                        np.testing.assert_allclose(
                            fast.read(node), slow.read(node), **close, err_msg=node.name
                        )
                        assert np.array_equal(
                            np.ravel(fast.lengths(node)), np.ravel(slow.lengths(node))
                        )


def test_a_sentence_of_nothing_has_no_end() -> None:
    """It is reported as one by one: a kind is given for each sentence, an end only for some."""
    program = program_of(graph_of(LAYERS["last"]), "float32")
    random, length = np.random.default_rng(SEED), np.array([4, 0, 2])
    program.load({one.name: random.normal(size=one.shape) for one in program._graph.parameters})
    program.feed(batch_of(length, np.arange(3), packed(length), 1))
    with pytest.raises(SamplesError, match="their sequences have other lengths"):
        program.forward()
