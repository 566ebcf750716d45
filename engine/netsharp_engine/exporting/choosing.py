"""The steps of a sequence that a condition chooses, where that depends on their position alone.

CNTK's `first`, `last` and `slice` of sequences are built of delays over constants: the chosen steps
are found by computing them for sequences of two lengths and several inputs.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from netsharp_engine.exporting.refusal import refused
from netsharp_engine.exporting.values import Array
from netsharp_engine.graph import Graph, GraphError
from netsharp_engine.nodes import Node
from netsharp_engine.packing import packed
from netsharp_engine.program import Batch, Job, Packed
from netsharp_engine.tensor_backend.walk import GraphWalk

#: Lengths of sequences, and how many inputs are tried of each.
_LENGTHS, _TRIES = (7, 12), 3


class ChosenSteps(NamedTuple):
    """The steps from `start` to before `stop`; counted from the end where negative, and to the end
    where ``stop`` is None.
    """

    start: int
    stop: int | None

    @property
    def is_one(self) -> bool:
        """Return whether it is one step of every sequence."""
        return self.stop == self.start + 1 or (self.start == -1 and self.stop is None)


def part_of(graph: Graph, roots: list[Node], reads: Mapping[Node, tuple[Node, ...]]) -> Graph:
    """Return the graph of what some nodes depend on; ``reads`` replaces what single nodes read."""
    wanted, waiting = set(roots), list(roots)
    while waiting:
        node = waiting.pop()
        fresh = [one for one in reads.get(node, node.inputs) if one not in wanted]
        wanted.update(fresh)
        waiting += fresh
    found = Graph()
    found.nodes = [node for node in graph.nodes if node in wanted]
    found.inputs = [node for node in graph.inputs if node in wanted]
    held = {one.name for node in found.nodes for one in node.parameters}
    found.parameters = [one for one in graph.parameters if one.name in held]
    return found


def chosen_steps(graph: Graph, where: Node, tensors: Mapping[str, Array]) -> ChosenSteps:
    """Return what a node `Where` chooses; ExportError where that depends on the samples. Raises
    GraphError where nodes depend on themselves in one step. ``tensors`` has the array of each
    parameter, in its shape.
    """
    part = part_of(graph, [where], {})
    tried = [_positions(part, where, tensors, length, seed) for length, seed in _cases()]
    starts, stops = set(), set()
    for length, found in tried:
        if not len(found) or (np.diff(found) != 1).any():
            raise _unclear(where)
        first, last = int(found[0]), int(found[-1]) + 1
        starts.add((first, first - length))
        stops.add((last, last - length))
    start, stop = _common(starts), _common(stops)
    if start is None or stop is None:
        raise _unclear(where)
    return ChosenSteps(start, None if stop == 0 else stop)


def _cases() -> list[tuple[int, int]]:
    return [(length, seed) for length in _LENGTHS for seed in range(_TRIES)]


def _common(found: set[tuple[int, int]]) -> int | None:
    """Return the position that all lengths have, from the beginning or else from the end."""
    for number in (0, 1):
        places = {pair[number] for pair in found}
        if len(places) == 1:
            return places.pop()
    return None


def _positions(
    part: Graph, where: Node, tensors: Mapping[str, Array], length: int, seed: int
) -> tuple[int, Array]:
    random = np.random.default_rng(seed)
    values = {one.name: np.asarray(tensors[one.name], np.float32) for one in part.parameters}
    walk = GraphWalk(Job(part, length), values)
    packing = packed(np.array([length]))
    inputs = {
        node.name: Packed(random.normal(0, 3, (length, node.size)).astype(np.float32), packing)
        for node in part.inputs
    }
    try:
        walk.feed(Batch(inputs))
        walk.forward()
    except GraphError as error:
        raise refused(where, f"{error}.") from None
    return length, walk.read(where).reshape(-1).astype(np.intp)


def _unclear(where: Node) -> Exception:
    return refused(
        where, "which steps it chooses depends on the samples, which tensors of steps cannot hold."
    )
