"""The values that parameters begin with, drawn on the host: the same for every back end."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from netsharp_engine.graph import Graph, Node
from netsharp_engine.nodes import Parameter

#: The numbers that are drawn at a time: the generator yields them twice as wide as most are kept.
_DRAWN = 2**20
#: How much wider weights start in front of a function than in front of none.  A sigmoid's slope is
#: at most a quarter, so that gradients vanish in deep networks; with 4 in its place small tables
#: were overfitted in measurements.
GAINS = {"sigmoid": 2.0}


def initial_values(
    parameters: Iterable[Parameter],
    seed: int,
    diameter: float | Mapping[str, float],
    dtype: str,
) -> dict[str, npt.NDArray[np.floating[Any]]]:
    """Return uniform numbers from [-diameter / 2, diameter / 2] by parameter, in canonical order;
    given ones win.

    ``diameter``: that of all, or each parameter's by its name (see `diameters`), where the biases
    of kernels are then 0. Parameters are drawn one after the other as they were created, those that
    are given, too.
    """
    random = np.random.default_rng(seed)
    found = {}
    for parameter in parameters:
        wide = diameter[parameter.name] if isinstance(diameter, Mapping) else diameter
        values = np.empty(parameter.size, dtype)
        for start in range(0, parameter.size, _DRAWN):
            piece = values[start : start + _DRAWN]
            piece[:] = random.uniform(-wide / 2, wide / 2, piece.size)
        if parameter.bias_column and isinstance(diameter, Mapping):
            values.reshape(parameter.shape)[:, -1] = 0
        if parameter.initial is not None:
            values[:] = np.asarray(parameter.initial).ravel()
        found[parameter.name] = values.reshape(parameter.shape)
    return found


def diameters(graph: Graph, rule: str, diameter: float) -> float | dict[str, float]:
    """Return the diameter in which all parameters of a graph start, or that of each by its name.

    ``rule``: "uniform" takes ``diameter`` for all.  "glorot" spreads weights by the edges into a
    node and out of one, sqrt(6 / (in + out)) to either side, ``GAINS`` times as far in front of
    some functions (Glorot and Bengio 2010); "he" by those into a node, sqrt(6 / in) (He et al.
    2015); biases are 0.  Bundles that meet in a layer count together; a parameter that is shared
    has the diameter of its first use.
    """
    if rule == "uniform":
        return diameter
    found = {parameter.name: 0.0 for parameter in graph.parameters}
    functions = _functions(graph)
    # A layer may be the sum of very many bundles: their edges are counted once for all of them.
    together = {}
    for node in graph.nodes:
        if node.op == "add":
            count = sum(_edges(source)[0] for source in node.inputs if source.parameters)
            together.update(dict.fromkeys(node.inputs, count))
    for node in graph.nodes:
        for parameter in node.parameters:
            if parameter.kind == "biases" or found[parameter.name]:
                continue
            own, out = _edges(node)
            into = together.get(node, own)
            reach = math.sqrt(6 / into)
            if rule == "glorot":
                reach = math.sqrt(6 / (into + out)) * GAINS.get(functions.get(node, ""), 1.0)
            found[parameter.name] = 2 * reach
    return found


def _edges(node: Node) -> tuple[float, float]:
    """Return the mean number of edges with weights into a node of a bundle, and out of one, biases
    left out.
    """
    parameter = node.parameters[0]
    if node.op == "full":
        return node.inputs[0].size, node.size
    if parameter.bias_column:
        into = parameter.shape[1] - 1
        return into, into * node.size / node.inputs[0].size
    return max(parameter.size / node.size, 1), parameter.size / node.inputs[0].size


def _functions(graph: Graph) -> dict[Node, str]:
    """Return the activation that each node's values go into, through sums and biases."""
    found: dict[Node, str] = {}
    for node in reversed(graph.nodes):
        function = found.get(node, "")
        if node.op in ("activation", "transfer"):
            function = str(node.attributes["function"])
        elif node.op not in ("add", "bias"):
            continue
        for source in node.inputs:
            found[source] = function
    return found
