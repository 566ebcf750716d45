"""Training with transfer tables in the loop: the layers that have one, and when it is rebuilt.

The caller provides the function that makes a table from a range; it must not know back ends.
Source: European patent application 19290051.2, transfer functions generated while training.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from netsharp_engine.excerpt import excerpt
from netsharp_engine.graph import Graph, Node
from netsharp_engine.train.failures import TrainingError
from netsharp_engine.train.settings.values import codes_of
from netsharp_engine.train.steps.rewriting import has_weights, is_layer, rewritten

if TYPE_CHECKING:
    from netsharp_engine.program import Program
    from netsharp_engine.train.state import Tensors

#: (function, kind and bits of the codes, least and largest source value) -> the ``table`` of an
#: operation ``transfer``, in float64.
TableMaker = Callable[[str, str, tuple[float, float]], npt.NDArray[np.float64]]


def quantized_graph(graph: Graph, operands: str | None) -> Graph:
    """Return the graph in which each hidden layer with weights of its own is looked up in a table.

    ``operands`` is what its codes are ("uint8"), None for the graph itself; one that has tables
    stays as it is.  Raises TrainingError where no layer could have one.
    """
    if operands is None or transfers(graph):
        return graph
    codes = codes_of(operands)

    def looked_up(made: Graph, node: Node, source: Node) -> Node:
        parameters = [
            made.parameter(
                f"{node.name}/{name}",
                (size,),
                [0.0] * size,
                "biases",
                trained=False,
                origin=node.origin,
            )
            for name, size in (("range", 2), ("table", 2 + codes))
        ]
        function = node.attributes["function"]
        return made.apply(
            "transfer",
            source,
            parameters=parameters,
            name=node.name,
            origin=node.origin,
            function=function,
            codes=codes,
        )

    def has_table(node: Node) -> bool:
        hidden = node.op == "activation" and is_layer(node) and node is not graph.output
        return hidden and has_weights(node) and node.attributes["function"] != "softmax"

    if not any(map(has_table, graph.nodes)):
        raise TrainingError(
            f"quantize = {excerpt(operands)} makes a table for each hidden layer with weights of "
            "its own, and the network has none. Leave it out."
        )
    return rewritten(graph, replace=has_table, by=looked_up)


def transfers(graph: Graph) -> list[Node]:
    """Return the nodes that are looked up in tables."""
    return [node for node in graph.nodes if node.op == "transfer"]


class KeptTables:
    """The tables of a graph in training; ``make`` is asked for them, None where it has none."""

    def __init__(self, graph: Graph, operands: str | None, make: TableMaker | None) -> None:
        self._nodes, self._operands, self._make = transfers(graph), operands, make

    def remake(self, program: Program) -> None:
        """Rebuild the tables of a program's graph from the ranges that it tracked.

        Raises TrainingError where no table can be made of a range.
        """
        if not self._nodes:
            return
        tensors = program.store()
        program.load({**tensors, **self.made(tensors)})

    def made(self, tensors: Tensors) -> Tensors:
        """Return the table of each node by parameter; all zeros where nothing was tracked yet.
        TrainingError where no table can be made of a range.
        """
        assert self._operands is not None
        assert self._make is not None
        found: Tensors = {}
        for node in self._nodes:
            seen, table = node.parameters
            low, high = tensors[seen.name].tolist()
            values = np.zeros(table.size)
            if low or high:
                try:
                    values = self._make(node.attributes["function"], self._operands, (low, high))
                except ValueError as error:
                    raise TrainingError(f"Layer '{excerpt(node.name)}': {error}") from None
            found[table.name] = values.astype(tensors[table.name].dtype)
        return found
