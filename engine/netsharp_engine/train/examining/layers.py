"""Figures about the answers of layers to some rows: nodes that learn nothing, and differences
between rows. It must not know files or languages.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from netsharp_engine.activations import ACTIVATIONS
from netsharp_engine.graph import Graph, Node
from netsharp_engine.train.preparation import Part
from netsharp_engine.train.steps.dropping import hidden_layers

#: The number of rows that are examined.
ROWS = 512
#: Activations without a gradient where they answer one of these.
FLAT = {"rlinear": (0.0,), "sqrt": (0.0,), "brlinear": (0.0, 1.0)}
#: Activations with next to none near the ends of their range, and how near: a part of it.
SMOOTH = ("sigmoid", "tanh")
NEAR = 0.01


class LayerFigures(NamedTuple):
    """A hidden layer over some rows.

    ``dead`` nodes have no gradient in any row, ``saturated`` ones are within 1 % of an end of their
    range in all rows.  ``spread`` is the root mean square, over nodes, of the deviation over rows.
    """

    name: str
    function: str
    nodes: int
    dead: int
    saturated: int
    spread: float


def some_rows(part: Part) -> npt.NDArray[np.intp]:
    """Return at most ROWS rows of a part, [rows], evenly spread, as indexes into its matrix."""
    step = max(part.rows // ROWS, 1)
    return np.asarray(part.index[::step][:ROWS], dtype=np.intp)


def layer_figures(
    graph: Graph, values: Callable[[Node], npt.NDArray[np.floating]]
) -> list[LayerFigures]:
    """Return the figures of all hidden layers; ``values`` gives those of a node [rows, nodes]."""
    found = []
    for node in hidden_layers(graph):
        answers = values(node).astype(np.float64)
        function = str(node.attributes["function"])
        found.append(
            LayerFigures(
                node.name,
                function,
                node.size,
                _constant(answers, FLAT.get(function, ())),
                _saturated(answers, function),
                _spread(answers),
            )
        )
    return found


def _spread(answers: npt.NDArray[np.float64]) -> float:
    with np.errstate(all="ignore"):
        return float(np.sqrt(np.mean(np.var(answers, axis=0))))


def _constant(answers: npt.NDArray[np.float64], flat: tuple[float, ...]) -> int:
    """Return the number of nodes that answer one of these values to every row."""
    if not flat:
        return 0
    return int(np.isin(answers, flat).all(axis=0).sum())


def _saturated(answers: npt.NDArray[np.float64], function: str) -> int:
    if function not in SMOOTH:
        return 0
    least, most = ACTIVATIONS[function].range
    near = NEAR * (most - least)
    return int(((answers < least + near) | (answers > most - near)).all(axis=0).sum())
