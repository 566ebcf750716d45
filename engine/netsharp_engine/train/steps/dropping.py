"""Dropout of Net#: which layers drop, the graph that is trained in place of theirs, and the masks.

A mask follows from the seed, the epoch and the place of a batch alone, so that a resumed run has
the same ones.  No back end is known here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from netsharp_engine.data.errors import nearest
from netsharp_engine.excerpt import excerpt
from netsharp_engine.graph import Graph, Node
from netsharp_engine.phases import reaching
from netsharp_engine.train.failures import TrainingError
from netsharp_engine.train.steps.rewriting import is_layer, rewritten, weighs

#: What tells the numbers of masks from those of other random choices with the same seed.
MASK_STREAM = 0xD809
Masks = dict[str, npt.NDArray[np.floating]]


def layer_shares(graph: Graph, setting: float | Mapping[str, float] | None) -> dict[str, float]:
    """Return the share (0 < p < 1) of each layer that drops, in the order of the graph.

    One number holds for every hidden layer with weights of its own: layers that only pool or
    normalise are left out, for what they read is dropped already.  Raises TrainingError for a layer
    of a table that the network has not, or that is its output.
    """
    if not setting:
        return {}
    if not isinstance(setting, Mapping):
        return {node.name: setting for node in hidden_layers(graph) if weighs(node)}
    known = [node.name for node in _layers(graph)]
    for name in setting:
        if graph.output is not None and name == graph.output.name:
            raise TrainingError(
                f"dropout names '{excerpt(name)}', the output layer: what it answers is compared "
                "with the labels as it is. Name the layer before it."
            )
        if name not in known:
            raise TrainingError(
                f"dropout names a layer '{excerpt(name)}' that the network has not."
                f"{nearest(name, known)}"
            )
    return {name: setting[name] for name in known if setting.get(name)}


def dropping_graph(graph: Graph, shares: Mapping[str, float]) -> Graph:
    """Return the graph in which readers of these layers read them through a ``Dropout`` node.

    Parameters keep their names and order, so that weights of one graph are those of the other; the
    graph itself where no layer drops.
    """
    if not shares:
        return graph

    def dropped(made: Graph, node: Node, fresh: Node) -> Node:
        if not is_layer(node) or node.name not in shares:
            return fresh
        return made.apply(
            "Dropout", fresh, origin=node.origin, layer=node.name, rate=shares[node.name]
        )

    return rewritten(graph, read=dropped)


class MaskSource:
    """The masks of the batches of a run: of each layer that drops what its values are multiplied
    with, 0 or 1 / (1 - p), float arrays [batch, nodes] by the layer's name.

    What is kept is made as much larger while training, so that the expectation of a value is its
    own, and a prediction multiplies with nothing (inverted dropout: Srivastava et al. 2014, section
    10).  The arrays are the same ones for every batch.
    """

    def __init__(self, graph: Graph, batch: int, seed: int, dtype: str) -> None:
        nodes = [node for node in graph.nodes if node.op == "Dropout"]
        self._seed = seed
        self._numbers = np.empty(batch * sum(node.size for node in nodes))
        self._next: tuple[int, int] | None = None
        self._random = np.random.Generator(np.random.PCG64(0))
        self.masks: Masks = {}
        self._rows: list[tuple[npt.NDArray[np.float64], npt.NDArray[np.floating], float]] = []
        start = 0
        for node in nodes:
            end = start + batch * node.size
            mask = np.empty((batch, node.size), dtype)
            self.masks[node.attributes["layer"]] = mask
            drawn = self._numbers[start:end].reshape(mask.shape)
            self._rows.append((drawn, mask, node.attributes["rate"]))
            start = end

    def draw(self, epoch: int, position: int) -> None:
        """Fill the masks for batch number ``position`` of an epoch."""
        if not self.masks:
            return
        if self._next != (epoch, position):
            source = np.random.PCG64(np.random.SeedSequence((MASK_STREAM, self._seed, epoch)))
            # A number of float64 takes one step of the generator.
            source.advance(position * len(self._numbers))
            self._random = np.random.Generator(source)
        self._next = epoch, position + 1
        self._random.random(out=self._numbers)
        for drawn, mask, rate in self._rows:
            np.greater_equal(drawn, rate, out=mask)
            np.multiply(mask, 1 / (1 - rate), out=mask)


def mask_bytes(graph: Graph, batch: int, width: int) -> Counter[str]:
    """Return what a `MaskSource` keeps, by layer."""
    return Counter(
        {
            f"layer '{node.attributes['layer']}'": node.size * batch * (8 + width)
            for node in graph.nodes
            if node.op == "Dropout"
        }
    )


def _layers(graph: Graph) -> list[Node]:
    """The layers that others read, in the order of the graph."""
    return [node for node in graph.nodes if is_layer(node) and node is not graph.output]


def hidden_layers(graph: Graph) -> list[Node]:
    """Return the hidden layers on which the output depends, in the order of the graph."""
    assert graph.output is not None
    reached = reaching(graph.output)
    return [node for node in _layers(graph) if node.op != "input" and node in reached]
