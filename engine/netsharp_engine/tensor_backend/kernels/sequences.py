"""Operations that know where sequences stand: delays, and what chooses, moves and puts back steps.

Gaps never choose and are never chosen. Source: CNTK, ComputationNetworkLib/RecurrentNodes.h and
ReshapingNodes.h.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from netsharp_engine.graph import GraphError, SamplesError
from netsharp_engine.nodes import Node
from netsharp_engine.ops.tensors.shaping import DELAYS
from netsharp_engine.packing import Packing, packed
from netsharp_engine.tensor_backend.kernels.rows import Array


class Moved(NamedTuple):
    """A value with where its sequences stand."""

    value: Array
    packing: Packing


def without_gaps(values: Array, packing: Packing | None) -> Array:
    """Return the same values [columns, *shape] with 0 in the gaps, where they may have been
    anything.
    """
    if packing is not None and len(packing.gaps) and len(values) == packing.columns:
        if not values.flags.writeable:
            values = values.copy()
        values[packing.gaps] = 0
    return values


def offset(delay: Node) -> int:
    """Return the number of steps before its own that a delay reads; negative for later ones."""
    steps = int(delay.attributes.get("timeStep", 1))
    return steps if delay.op == DELAYS[0] else -steps


def border(delay: Node, initial: Array | None, kind: type) -> Array:
    """Return the value of a delay where there is no such step, [1, ...]."""
    if initial is None:
        number = delay.attributes.get("initial", 0.0)
        return np.full((1, *(1,) * len(delay.shape)), number, kind)
    lacking = len(delay.shape) + 1 - initial.ndim
    return initial.reshape(1, *(1,) * lacking, *initial.shape[1:])


def carry_in(
    delay: Node, values: Array, step: int, packing: Packing, carried: Mapping[Node, Array]
) -> None:
    """Put the values carried over from the previous packing into the values [rows, ...] of a step.
    SamplesError where the beginning of a sequence is not known.
    """
    rows = packing.carried(step, offset(delay))
    if not len(rows):
        return
    known = carried.get(delay)
    if known is None or known.shape[1] != packing.rows:
        raise SamplesError(f"'{delay.name}' continues sequences whose beginning is not known")
    values[rows] = known[step][rows]


def carried_on(delay: Node, source: Array, packing: Packing) -> Array:
    """Return the last steps of a delay's source for the next packing, [steps, rows, ...]. Raises
    SamplesError where a delay reads further back than a piece is long, and GraphError for a delay
    that cannot continue.
    """
    reach = carried_steps(delay, packing)
    steps = source.reshape(packing.steps, packing.rows, *source.shape[1:])
    return steps[packing.steps - reach :].copy()


def carried_steps(delay: Node, packing: Packing) -> int:
    """Return the number of last steps of a delay's source that the next packing may need.

    GraphError for a delay that reads ahead, SamplesError for pieces that are shorter.
    """
    reach = offset(delay)
    if reach < 0:
        why = "reads steps that follow, and sequences are cut into pieces"
        raise GraphError(f"'{delay.name}' {why}", delay.origin)
    if reach > packing.steps:
        raise SamplesError(
            f"'{delay.name}' reads {reach} steps before, and pieces of sequences have "
            f"{packing.steps}"
        )
    return reach


def delayed(
    delay: Node,
    source: Array,
    initial: Array | None,
    packing: Packing,
    carried: Mapping[Node, Array],
) -> Array:
    """Return all steps at once, [columns, *shape]. Raises SamplesError where sequences continue
    whose beginning is unknown.
    """
    places = packing.earlier(offset(delay))
    found = np.empty((packing.columns, *delay.shape), source.dtype)
    inside = places >= 0
    found[inside] = source[places[inside]]
    found[~inside] = border(delay, initial, source.dtype.type)
    for step in range(min(offset(delay), packing.steps)):
        here = slice(step * packing.rows, (step + 1) * packing.rows)
        carry_in(delay, found[here], step, packing, carried)
    return found


def delayed_back(delay: Node, gradient: Array, packing: Packing) -> Array:
    """Return the gradient by the source, [columns, *shape]."""
    places = packing.earlier(offset(delay))
    inside = places >= 0
    found = np.zeros_like(gradient)
    found[places[inside]] = gradient[inside]
    return found


def border_back(delay: Node, gradient: Array, packing: Packing) -> Array:
    """Return the gradient by the initial state, [columns that read it, *shape]."""
    outside = packing.earlier(offset(delay)) < 0
    outside[packing.gaps] = False
    for step in range(min(offset(delay), packing.steps)):
        outside[step * packing.rows + packing.carried(step, offset(delay))] = False
    found: Array = gradient[outside]
    return found


def moved(node: Node, sources: list[Array], packings: list[Packing | None]) -> Moved:
    """Return the value of an operation of ``ops.shaping.COLUMNS``. GraphError where a source lacks
    a dynamic axis, or sequences are cut into pieces. Sources are [columns, *shape].
    """
    given = [one for one in packings if one is not None]
    if node.op == "ReconcileDynamicAxis" and packings[0] is None and len(given) == 1:
        return Moved(np.repeat(sources[0], given[0].columns, axis=0), given[0])
    if len(given) != len(node.inputs):
        raise GraphError(f"'{node.name}' reads a source without a dynamic axis", node.origin)
    if node.op != "ReconcileDynamicAxis" and any(one.before is not None for one in given):
        why = "asks for whole sequences, and they are cut into pieces"
        raise GraphError(f"'{node.name}' {why}", node.origin)
    return _MOVES[node.op](node, sources, given)


def moved_back(
    node: Node, number: int, sources: list[Array], packings: list[Packing], gradient: Array
) -> Array | None:
    """Return the gradient by a source, in its shape; None where there is none."""
    if node.op == "ReconcileDynamicAxis" and number == 0:
        whole = len(sources[0]) == len(gradient)
        return gradient if whole else gradient.sum(0, keepdims=True)
    if node.op == "GatherPacked" and number == 1:
        to, where = sources[0].reshape(-1), packings[0].places
    elif node.op == "ScatterPacked" and number == 2:
        found = np.zeros_like(sources[2])
        found[packings[2].places] = gradient[_columns(sources[1], packings[1])]
        return found
    else:
        return None
    found = np.zeros_like(sources[1])
    chosen = to[where].astype(np.intp)
    kept = chosen >= 0
    np.add.at(found, chosen[kept], gradient[where[kept]])
    return found


def _columns(index: Array, packing: Packing) -> Array:
    return index.reshape(-1)[packing.places].astype(np.intp)


def _where(node: Node, sources: list[Array], packings: list[Packing]) -> Moved:
    whole = packings[0]
    chosen = sources[0].reshape(-1)[whole.places] != 0
    sequence = np.repeat(np.arange(len(whole.length)), whole.length)
    packing = packed(np.bincount(sequence[chosen], minlength=len(whole.length)).astype(np.intp))
    found = np.zeros((packing.columns, 1), sources[0].dtype)
    found[packing.places, 0] = whole.position[chosen]
    return Moved(found, packing)


def _packed_index(node: Node, sources: list[Array], packings: list[Packing]) -> Moved:
    """Return the columns of given steps; they are whole numbers in any type. SamplesError for a
    step that a sequence does not have.
    """
    source, packing = packings
    _same_count(node, source, packing)
    at = _columns(sources[1], packing)
    sequence = np.repeat(np.arange(len(packing.length)), packing.length)
    if ((at < 0) | (at >= source.length[sequence])).any():
        raise SamplesError(f"'{node.name}' asks for a step that a sequence does not have")
    found = np.full((packing.columns, 1), -1, np.int64)
    column = (source.begin[sequence] + at) * source.rows + source.row[sequence]
    found[packing.places, 0] = column
    return Moved(found, packing)


def _gathered(node: Node, sources: list[Array], packings: list[Packing]) -> Moved:
    index, source = sources
    packing = packings[0]
    at = index.reshape(-1)[packing.places].astype(np.intp)
    found = np.zeros((packing.columns, *source.shape[1:]), source.dtype)
    kept = at >= 0
    found[packing.places[kept]] = source[at[kept]]
    return Moved(found, packing)


def _scattered(node: Node, sources: list[Array], packings: list[Packing]) -> Moved:
    condition, index, source = packings
    _same_count(node, index, source)
    if index.samples != source.samples:
        raise SamplesError(
            f"'{node.name}' has {source.samples:,} steps to put at {index.samples:,} places"
        )
    found = np.zeros((condition.columns, *sources[2].shape[1:]), sources[2].dtype)
    found[_columns(sources[1], index)] = sources[2][source.places]
    return Moved(found, condition)


def _reconciled(node: Node, sources: list[Array], packings: list[Packing]) -> Moved:
    if not packings[0].same(packings[1]):
        raise SamplesError(
            f"'{node.name}' takes '{node.inputs[0].name}' for what runs along the axis of "
            f"'{node.inputs[1].name}', and their sequences have other lengths"
        )
    return Moved(sources[0], packings[1])


def _same_count(node: Node, first: Packing, second: Packing) -> None:
    if len(first.length) != len(second.length):
        raise SamplesError(
            f"'{node.name}' joins {len(first.length):,} sequences with {len(second.length):,}"
        )


_MOVES = {
    "Where": _where,
    "PackedIndex": _packed_index,
    "GatherPacked": _gathered,
    "ScatterPacked": _scattered,
    "ReconcileDynamicAxis": _reconciled,
}
