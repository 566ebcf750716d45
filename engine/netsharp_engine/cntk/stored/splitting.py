"""Splits parameters of a stored model into products of two smaller ones, by singular values.

Source: CNTK, ActionsLib/OtherActions.cpp, DoParameterSVD.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from netsharp_engine.cntk.generators import Array
from netsharp_engine.cntk.stored.values import StoredNode

_PARAMETER = "LearnableParameter"


class KeptShare(NamedTuple):
    """Which parameters are split, and the share of the sum of singular values that is kept."""

    pattern: re.Pattern[str]
    kept: float


class Split(NamedTuple):
    """A parameter that was split: rows, columns, and the singular values that were kept."""

    name: str
    rows: int
    columns: int
    rank: int


def split_nodes(
    nodes: Sequence[StoredNode], shares: Sequence[KeptShare], aligned: int
) -> tuple[list[StoredNode], list[Split]]:
    """Return nodes with every matching matrix W as W_U times W_V, and the splits, in order of
    names.

    The number of singular values is rounded up to a multiple of ``aligned``, to all at most.
    """
    found = {node.name: node for node in nodes}
    splits: list[Split] = []
    for name, share in _matching(nodes, shares):
        parts, split = _split(found[name], share.kept, aligned)
        found.update((one.name, one) for one in parts)
        splits.append(split)
    return list(found.values()), splits


def split_shapes(nodes: Sequence[StoredNode], shares: Sequence[KeptShare]) -> list[StoredNode]:
    """Return nodes as ``split_nodes`` does, without numbers and with as many singular values as
    there can be.
    """
    found = {node.name: node for node in nodes}
    for name, _ in _matching(nodes, shares):
        rows, columns = _sides(found[name])
        rank = min(rows, columns)
        shapes = (rows, rank), (rank, columns)
        found.update((one.name, one) for one in _parts(found[name], shapes, (None, None)))
    return list(found.values())


def _matching(
    nodes: Sequence[StoredNode], shares: Sequence[KeptShare]
) -> Iterator[tuple[str, KeptShare]]:
    """Yield the parameters that are split, in order of names by share: each once, and none of the
    parts.

    Source: ComputationNetworkLib/ComputationNetwork.cpp, PerformSVDecomposition.
    """
    left = {one.name for one in nodes if one.operation == _PARAMETER and 1 not in _sides(one)}
    for share in shares:
        taken = sorted(name for name in left if share.pattern.fullmatch(name))
        left.difference_update(taken)
        yield from ((name, share) for name in taken)


def _sides(node: StoredNode) -> tuple[int, int]:
    """Return the rows and columns of a parameter as a matrix."""
    shape = node.shape or (1,)
    return shape[0], math.prod(shape[1:])


def _split(node: StoredNode, kept: float, aligned: int) -> tuple[list[StoredNode], Split]:
    assert node.values is not None
    rows, columns = _sides(node)
    matrix = np.asarray(node.values).reshape(columns, rows).T
    left, values, right = np.linalg.svd(matrix.astype(np.float64), full_matrices=False)
    beyond = np.flatnonzero(np.cumsum(values) > values.sum() * kept)
    rank = int(beyond[0]) + 1 if len(beyond) else len(values)
    rank = min(-(-rank // aligned) * aligned, len(values))
    roots = np.sqrt(values[:rank])
    halves = left[:, :rank] * roots, roots[:, None] * right[:rank]
    numbers = [half.astype(node.values.dtype).T.reshape(-1) for half in halves]
    shapes = (rows, rank), (rank, columns)
    return _parts(node, shapes, numbers), Split(node.name, rows, columns, rank)


def _parts(
    node: StoredNode,
    shapes: Sequence[tuple[int, int]],
    numbers: Sequence[Array | None],
) -> list[StoredNode]:
    """Return two parameters, and their product in the place of one."""
    names = f"{node.name}_U", f"{node.name}_V"
    given = zip(names, shapes, numbers, strict=True)
    parts = [node._replace(name=name, shape=shape, values=one) for name, shape, one in given]
    attributes = {"outputRank": 1, "inferInputRankToMap": -1}
    product = StoredNode("Times", node.name, node.shape, names, attributes, dtype=node.dtype)
    return [*parts, product]
