"""Dropout of Net#: which layers drop, the graph that is trained in place of theirs, and the draws.

A draw follows from the seed, the epoch and the place of a batch alone, so that a resumed run has
the same masks.  No back end is known here.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

import numpy as np

from netsharp_engine.data.errors import nearest
from netsharp_engine.dropping import Draw
from netsharp_engine.excerpt import excerpt
from netsharp_engine.graph import Graph, Node
from netsharp_engine.phases import reaching
from netsharp_engine.train.failures import TrainingError
from netsharp_engine.train.steps.rewriting import has_weights, is_layer, rewritten

#: Separates the numbers of masks from those of other random choices with the same seed.
MASK_STREAM = 0xD809


def layer_shares(graph: Graph, setting: float | Mapping[str, float] | None) -> dict[str, float]:
    """Return the share (0 < p < 1) of each layer that drops, in the order of the graph.

    One number holds for every hidden layer with weights of its own: layers that only pool or
    normalise are left out, for what they read is dropped already.  Raises TrainingError for a layer
    of a table that the network has not, or that is its output.
    """
    if not setting:
        return {}
    if not isinstance(setting, Mapping):
        return {node.name: setting for node in hidden_layers(graph) if has_weights(node)}
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
    graph itself where no layer drops.  A node's ``number`` is the place of its layer among them.
    """
    if not shares:
        return graph
    numbers = {name: number for number, name in enumerate(shares)}

    def dropped(made: Graph, node: Node, fresh: Node) -> Node:
        if not is_layer(node) or node.name not in shares:
            return fresh
        return made.apply(
            "Dropout",
            fresh,
            origin=node.origin,
            layer=node.name,
            number=numbers[node.name],
            rate=shares[node.name],
        )

    return rewritten(graph, read=dropped)


def draw_of(seed: int, epoch: int, position: int) -> Draw:
    """Return the generator's state for the masks of batch number ``position`` of an epoch."""
    return Draw(_key(seed, epoch), position)


@lru_cache(maxsize=1)
def _key(seed: int, epoch: int) -> tuple[int, int]:
    first, second = np.random.SeedSequence((MASK_STREAM, seed, epoch)).generate_state(2)
    return int(first), int(second)


def _layers(graph: Graph) -> list[Node]:
    """Return the layers that others read, in the order of the graph."""
    return [node for node in graph.nodes if is_layer(node) and node is not graph.output]


def hidden_layers(graph: Graph) -> list[Node]:
    """Return the hidden layers on which the output depends, in the order of the graph."""
    assert graph.output is not None
    reached = reaching(graph.output)
    return [node for node in _layers(graph) if node.op != "input" and node in reached]
